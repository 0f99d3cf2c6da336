/** Connections through a proxy (RFC 9110 9.3.6), whose failures name it: they say nothing about the service. */
import { request as requestOverHttp } from "node:http";
import { Agent, type AgentOptions, request as requestOverHttps, type RequestOptions } from "node:https";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import { systemReason } from "../values/system-reason.ts";
import { CONNECT_OPTIONS, CONNECT_TIMEOUT } from "./connect.ts";
import { ProxyFailure } from "./exchange.ts";

type Opened = (error: Error | null, socket: Duplex) => void;

export class TunnelAgent extends Agent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: RequestOptions, opened: Opened = () => undefined): undefined {
    /** Node's own types ask for a socket beside an error. */
    const fail = (error: ProxyFailure): void => Reflect.apply(opened, undefined, [error]);
    const { protocol, hostname, port, origin, username, password } = this.#proxy;
    const host = String(options.host);
    const target = `${host.includes(":") ? `[${host}]` : host}:${options.port}`;
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const asking = (protocol === "https:" ? requestOverHttps : requestOverHttp)({
      ...CONNECT_OPTIONS,
      method: "CONNECT",
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port,
      path: target,
      headers: {
        Host: target,
        // A proxy may ask for a user alone.
        ...(username === ""
          ? {}
          : { "Proxy-Authorization": `Basic ${Buffer.from(pair).toString("base64")}` }),
      },
      agent: false,
      timeout: CONNECT_TIMEOUT,
    });
    asking.on("connect", ({ statusCode }, socket) => {
      const { servername = host } = options;
      if (statusCode === 200) return opened(null, connect({ ...this.options, socket, host, servername }));
      socket.on("error", () => undefined).destroy();
      fail(new ProxyFailure(`the proxy ${origin} answered ${statusCode}`, { status: statusCode ?? 0 }));
    });
    asking.on("timeout", () => asking.destroy(new Error("timed out")));
    asking.on("error", (cause) =>
      fail(new ProxyFailure(`the proxy ${origin} was not reached: ${systemReason(cause)}`, { cause })),
    );
    asking.end();
  }
}
