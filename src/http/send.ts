/** Sends HTTP requests over undici, and says for each failure whether the request may have arrived. */
import { version } from "node:process";
import type { Dispatcher, Pool } from "undici";
import { isReadableUrl, parseWebAddress, withoutPassword } from "../domain/addresses.ts";
import { hint, PaylinkError } from "../domain/errors.ts";
import { systemReason } from "../domain/system-reason.ts";
import { ACCEPTED_CODINGS, decoded } from "./content-coding.ts";
import { ProxyFailure, type Send, SendError, type SendOptions, SendTimeout } from "./exchange.ts";
import { fieldLines, headerLines, type HeaderLine, type HttpReply, type HttpRequest } from "./message.ts";

const TIMEOUT = 30_000;
const CONNECT_TIMEOUT = 10_000;
const MAX_REPLY = 5 * 1024 * 1024;

interface Sender {
  readonly send: Send;
  /** Closes every connection, also one that is still being made. */
  close(): Promise<void>;
}

export interface SenderParts {
  /** Sent with each request that has no `User-Agent` of its own. */
  readonly userAgent: string;
  readonly httpsProxy: string | undefined;
  readonly noProxy: string | undefined;
}

/** The agents of undici hold the connections: one for each way to connect. */
export function createSender(parts: SenderParts): Sender {
  const agents = new Map<string, Promise<Dispatcher>>();
  const agentFor = (route: Route): Promise<Dispatcher> => {
    const key = `${route.kind} ${route.proxy ?? ""} ${route.connectTimeout}`;
    const agent = agents.get(key) ?? createAgent(route, parts.noProxy);
    agents.set(key, agent);
    return agent;
  };
  return {
    send: async (request, options = {}) => {
      const agent = await agentFor(routeOf(request, options, parts));
      return exchange(agent, withDefaults(request, parts.userAgent), options);
    },
    close: async () =>
      void (await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))),
  };
}

const originOf = ({ scheme, authority }: HttpRequest): string => `${scheme}://${authority}`;

/** A forwarded webhook keeps the fields of its sender. */
function withDefaults(request: HttpRequest, userAgent: string): HttpRequest {
  const defaults: readonly HeaderLine[] = [
    ["User-Agent", userAgent],
    // Without the field, a server may use any coding (RFC 9110 12.5.3).
    ["Accept-Encoding", ACCEPTED_CODINGS],
  ];
  const missing = defaults.filter(([name]) => fieldLines(request.headers, name).length === 0);
  return { ...request, headers: [...request.headers, ...missing] };
}

const NO_BODY = new Uint8Array();

function exchange(
  agent: Dispatcher,
  request: HttpRequest,
  { timeout = TIMEOUT, maxReply = MAX_REPLY, keep = maxReply, signal, finish = false }: SendOptions,
): Promise<HttpReply> {
  const origin = originOf(request);
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let given: Error | undefined;
    let status = 0;
    let headers: readonly HeaderLine[] = [];
    let length = 0;
    const chunks: Uint8Array[] = [];
    const end = (error: Error): void => {
      given = error;
      settle();
      controller?.abort(error);
      reject(error);
    };
    const tooLarge = (): SendError =>
      new SendError(`${origin} sent more than ${maxReply} bytes of reply`, true);
    const succeed = (): void => {
      const body = Buffer.concat(chunks, Math.min(length, keep));
      const reading = decoded({ status, headers, body }, keep);
      resolve(
        reading.then(({ reply, isWhole }) => {
          if (isWhole || keep < maxReply) return reply;
          throw tooLarge();
        }),
      );
    };
    const giveUp = (Failure: typeof SendError, reason: string): void =>
      end(new Failure(`${origin} ${reason}`, controller !== undefined));
    const interrupt = (): void => {
      if (!finish || controller === undefined) end(signal?.reason);
    };
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", interrupt);
    };
    const timer = setTimeout(
      () => giveUp(SendTimeout, `did not answer within ${lengthOf(timeout)}`),
      timeout,
    );
    if (signal?.aborted === true) return interrupt();
    signal?.addEventListener("abort", interrupt, { once: true });
    agent.dispatch(
      {
        origin,
        path: request.target,
        method: request.method,
        headers: request.headers.flat(),
        body: request.body.length > 0 ? request.body : null,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        // Called exactly when undici takes a connection for the request: before that, nothing can have left.
        onRequestStart: (started) => {
          if (given !== undefined) started.abort(given);
          else controller = started;
        },
        onResponseStart: (started, statusCode) => {
          status = statusCode;
          // In latin1, each octet is a character.
          const raw: unknown[] = Array.isArray(started.rawHeaders) ? started.rawHeaders : [];
          headers = headerLines(
            raw.map((part) => (part instanceof Buffer ? part.toString("latin1") : String(part))),
          );
        },
        onResponseData: (_, chunk) => {
          if (length < keep) chunks.push(chunk);
          length += chunk.length;
          if (length <= maxReply) return;
          // Where only the beginning matters, the reply counts, and the rest is not worth reading.
          if (keep < maxReply) succeed();
          end(tooLarge());
        },
        onResponseEnd: () => {
          settle();
          succeed();
        },
        onResponseError: (_, error) => {
          settle();
          // It ends with its head, whatever that promises (RFC 9112 6.3). undici misses the body, and closes the connection.
          if (status === 204 && given === undefined) return resolve({ status, headers, body: NO_BODY });
          reject(
            given ?? new SendError(`${origin}: ${systemReason(error)}`, controller !== undefined, error),
          );
        },
      },
    );
  });
}

const lengthOf = (milliseconds: number): string =>
  milliseconds < 950 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

/** What decides which connections may carry a request. Each combination has its own agent. */
interface Route {
  readonly kind: "direct" | "insecure";
  /** The proxy of https requests. */
  readonly proxy: string | undefined;
  /** Milliseconds to connect: undici limits them for each agent, and cannot abort an attempt for a single request. */
  readonly connectTimeout: number;
}

function routeOf(
  { scheme }: HttpRequest,
  { insecure = false, timeout = TIMEOUT }: SendOptions,
  { httpsProxy }: SenderParts,
): Route {
  return {
    kind: insecure ? "insecure" : "direct",
    proxy: scheme === "https" && !insecure && httpsProxy ? proxyAddress(httpsProxy) : undefined,
    // Rounded up to a power of two: with an agent for each timeout, a long run would open more and more agents.
    connectTimeout: Math.min(CONNECT_TIMEOUT, 2 ** Math.ceil(Math.log2(Math.max(1, timeout)))),
  };
}

/** The URL of a proxy, which may be written without its scheme. Throws `usage`. */
function proxyAddress(text: string): string {
  const address = text.includes("://") ? text : `http://${text}`;
  const url = isReadableUrl(address) ? parseWebAddress(address) : undefined;
  // What follows the host is the rest of a password that was not escaped.
  if (url !== undefined && url.pathname + url.search + url.hash === "/") return address;
  throw new PaylinkError(
    "usage",
    `HTTPS_PROXY is not the address of an http:// or https:// proxy (got "${withoutPassword(address)}").`,
    {
      hints: [
        hint`Write it as http://<user>:<password>@<host>:<port>. In the password, write %23 for # and %2F for /.`,
      ],
    },
  );
}

/**
 * Takes single modules of undici: its index also loads fetch, WebSocket and mocks, with which `create` takes a quarter longer
 * (startup bench) and the package is a tenth larger (size bench).
 */
async function createAgent({ kind, proxy, connectTimeout }: Route, noProxy = ""): Promise<Dispatcher> {
  // HTTP/1.1 alone: paylink needs no more, and undici handles it better.
  const options = { allowH2: false } as const;
  const connect = { timeout: connectTimeout, rejectUnauthorized: kind !== "insecure", ...options };
  if (proxy !== undefined) {
    const { default: EnvHttpProxyAgent } = await import("undici/lib/dispatcher/env-http-proxy-agent.js");
    const { default: ProxyPool } = await import("undici/lib/dispatcher/pool.js");
    const { default: openTunnel } = await import("undici/lib/api/api-connect.js");
    return new EnvHttpProxyAgent({
      httpsProxy: proxy,
      noProxy,
      connect,
      ...options,
      clientFactory: (address, poolOptions) =>
        proxyClient(new ProxyPool(address, poolOptions), address.origin, openTunnel),
    });
  }
  const { default: Agent } = await import("undici/lib/dispatcher/agent.js");
  if (version.startsWith("v20.")) await keepParserSimple();
  return new Agent({ connect, ...options });
}

/**
 * Node 20 optimizes all of undici's WebAssembly parser as soon as it is compiled: `create` then takes twice as long (startup
 * bench). Set after undici is loaded, because V8 accepts Node's own compiled modules only under the flags they were made with.
 */
async function keepParserSimple(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--liftoff-only");
}

/** The connections to a proxy, whose failures name it: undici does not tell them from those of the service. */
function proxyClient(
  pool: Pool,
  name: string,
  openTunnel: (this: Dispatcher, options: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData>,
): Pool {
  const tunnel = async (options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const answer = await openTunnel.call(pool, options).catch((error: unknown) => {
      throw new ProxyFailure(`the proxy ${name} was not reached: ${systemReason(error)}`, { cause: error });
    });
    if (answer.statusCode === 200) return answer;
    answer.socket.on("error", () => undefined).destroy();
    throw new ProxyFailure(`the proxy ${name} answered ${answer.statusCode}`);
  };
  return Object.assign(pool, { connect: tunnel });
}
