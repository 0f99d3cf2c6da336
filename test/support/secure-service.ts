/** A payment service over https with a private authority, and a proxy that tunnels to it: both really encrypt and connect. */
import { readFileSync } from "node:fs";
import { createServer as createProxy } from "node:http";
import { createServer } from "node:https";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { privatelyIssued } from "./certificate.ts";
import { ANSWER } from "./link-request.ts";
import { listenOnFreePort } from "./ports.ts";

/** A name that no resolver knows: only a proxy reaches it. */
export const UNRESOLVABLE = "service.invalid";

export interface SecureService {
  readonly port: number;
  /** The authority's certificate, for NODE_EXTRA_CA_CERTS. */
  readonly ca: string;
  /** The Authorization header of each request. */
  readonly tokens: readonly (string | undefined)[];
  /** How many connections were tried. */
  readonly connections: () => number;
}

export async function startSecureService(folder: string): Promise<SecureService> {
  const { ca, cert, key } = privatelyIssued(folder, ["localhost", UNRESOLVABLE]);
  const tokens: (string | undefined)[] = [];
  const tls = { cert: readFileSync(cert), key: readFileSync(key) };
  const server = createServer(tls, (request, response) => {
    tokens.push(request.headers.authorization);
    request
      .resume()
      .on("end", () => response.writeHead(200, { "Content-Type": "application/json" }).end(ANSWER));
  });
  let connections = 0;
  server.on("connection", () => (connections += 1));
  return { port: await listenOnFreePort(server), ca, tokens, connections: () => connections };
}

export interface Proxy {
  readonly url: string;
  /** What each CONNECT asked for. */
  readonly targets: readonly (string | undefined)[];
  /** The Proxy-Authorization of each CONNECT. */
  readonly credentials: readonly (string | undefined)[];
  /** Everything that went through the tunnels towards the service. */
  readonly tunnelled: () => string;
}

/** Tunnels every request to the port, or refuses with the status. */
export async function startProxy({ to, refuse }: { to: number; refuse?: number }): Promise<Proxy> {
  const targets: (string | undefined)[] = [];
  const credentials: (string | undefined)[] = [];
  let tunnelled = "";
  const proxy = createProxy((_, response) => response.writeHead(400).end());
  proxy.on("connect", (request, socket: Socket) => {
    targets.push(request.url);
    credentials.push(request.headers["proxy-authorization"]);
    socket.on("error", () => undefined);
    if (refuse !== undefined)
      return void socket.end(`HTTP/1.1 ${refuse} Refused\r\nContent-Length: 0\r\n\r\n`);
    const service = connect(to, "127.0.0.1").on("error", () => socket.destroy());
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    socket.on("data", (chunk: Buffer) => (tunnelled += chunk.toString("latin1")));
    socket.pipe(service).pipe(socket);
    onTestFinished(() => void socket.destroy());
  });
  return {
    url: `http://127.0.0.1:${await listenOnFreePort(proxy)}`,
    targets,
    credentials,
    tunnelled: () => tunnelled,
  };
}
