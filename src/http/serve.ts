/** Serves HTTP over node:http: sockets in, message values out, with limits on everything a sender controls. */
import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { PaylinkError } from "../domain/errors.ts";
import { discardRest, readBody, tooLarge } from "./body.ts";
import { trackConnections, trackHandshakes, type Connections } from "./connections.ts";
import type { Handler, Refusal, Serve, ServeOptions, StreamedReply, TlsFiles } from "./exchange.ts";
import { withBody, type HeaderLine, type HttpReply, type RequestHead } from "./message.ts";
import { refuseSocket } from "./refuse-socket.ts";

const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 60_000,
  /** How often Node looks for connections that have taken longer than that. */
  connectionsCheckingInterval: 1_000,
  noDelay: true,
  // With it, Node would answer by itself and the request would not be reported.
  requireHostHeader: false,
} as const;
const HANDSHAKE_TIMEOUT = 10_000;
/** Milliseconds that an unfinished request may still take once the server closes. */
const CLOSE_GRACE = 1_000;

/** The state that every exchange of one server shares. */
interface ServerState extends ServeOptions {
  readonly handler: Handler;
  readonly connections: Connections;
  readonly scheme: "http" | "https";
  /** Connections whose body is being read. */
  readonly reading: WeakSet<Socket>;
  closing: boolean;
}

export const serve: Serve = async (handler, options) => {
  const scheme = options.tls === undefined ? "http" : "https";
  const state: ServerState = {
    ...options,
    handler,
    connections: trackConnections(),
    reading: new WeakSet(),
    scheme,
    closing: false,
  };
  const [server, renewTls] = createNodeServer(options.tls, state.connections);
  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.on("close", () => state.connections.answered(incoming.socket));
    exchange(incoming, outgoing, state).catch((error: unknown) => {
      options.faulted?.(error);
      answer(outgoing, { status: 500, headers: [], body: EMPTY }, state);
    });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) =>
    refuseSocket(error, socket, state),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenFailure(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  const { port, address } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `${scheme}://${host}:${port}/`,
    port,
    hosts: isWildcard(address) ? ownAddresses() : [options.host, address],
    renewTls,
    close: () => close(server, state),
  };
};

type RenewTls = (tls: TlsFiles) => void;

function createNodeServer(
  tls: TlsFiles | undefined,
  connections: Connections,
): [server: NodeServer | TlsServer, renewTls: RenewTls] {
  if (tls === undefined) return [createServer(LIMITS).on("connection", connections.opened), () => undefined];
  const secure = createTlsServer({ ...LIMITS, ...pem(tls), handshakeTimeout: HANDSHAKE_TIMEOUT });
  trackHandshakes(secure, connections);
  return [secure, (renewed) => secure.setSecureContext(pem(renewed))];
}

const pem = ({ cert, key }: TlsFiles): { cert: Buffer; key: Buffer } => ({
  cert: Buffer.from(cert),
  key: Buffer.from(key),
});

const isWildcard = (address: string): boolean => address === "0.0.0.0" || address === "::";

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));

function close(server: NodeServer | TlsServer, state: ServerState): Promise<void> {
  return new Promise((resolve) => {
    state.closing = true;
    const grace = setTimeout(state.connections.dropWaiting, CLOSE_GRACE);
    server.close(() => {
      clearTimeout(grace);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const EMPTY = new Uint8Array();

async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  state: ServerState,
): Promise<void> {
  const { socket } = incoming;
  state.reading.add(socket);
  const head = headOf(incoming, state);
  const refusal = refuseMissingHost(incoming) ?? state.admit?.(head) ?? tooLarge(incoming, state.maxBody);
  if (refusal !== undefined) return refuse(refusal, head, incoming, outgoing, state);
  const body = await readBody(incoming, state.maxBody, (bytes) => state.connections.received(socket, bytes));
  state.reading.delete(socket);
  if (!(body instanceof Uint8Array)) return refuse(body, head, incoming, outgoing, state);
  state.connections.complete(socket);
  answer(outgoing, await state.handler(withBody(head, body, pairs(incoming.rawTrailers))), state);
}

function headOf(incoming: IncomingMessage, { scheme }: ServerState): RequestHead {
  return {
    method: incoming.method ?? "",
    scheme,
    authority: incoming.headers.host ?? "",
    target: incoming.url ?? "",
    headers: pairs(incoming.rawHeaders),
  };
}

/** Node's flat list of names and values is the only view of the headers that hides no line. */
function pairs(raw: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2)
    lines.push([raw[index] ?? "", raw[index + 1] ?? ""]);
  return lines;
}

/** RFC 9112 3.2: HTTP/1.1 without a Host is malformed. */
function refuseMissingHost({ httpVersion, headers }: IncomingMessage): Refusal | undefined {
  return httpVersion === "1.0" || headers.host !== undefined
    ? undefined
    : { code: "http_parse_error", status: 400, detail: "not an HTTP/1.1 request: Host is missing" };
}

/** A refusal ends the connection, so that the sender cannot send more of the same. */
async function refuse(
  refusal: Refusal,
  head: RequestHead,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  state: ServerState,
): Promise<void> {
  state.refused?.(refusal, head);
  const headers: HeaderLine[] = refusal.status === 405 ? [["Allow", "POST"]] : [];
  await discardRest(incoming);
  const reply = {
    status: refusal.status,
    headers: [...headers, ["Connection", "close"] as const],
    body: EMPTY,
  };
  answer(outgoing, reply, state);
}

function answer(outgoing: ServerResponse, reply: HttpReply | StreamedReply, { closing }: ServerState): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const { status, body } = reply;
  const headers = closing ? [...reply.headers, ["Connection", "close"] as const] : reply.headers;
  if (!(body instanceof Uint8Array)) {
    outgoing.writeHead(status, headers.flat());
    void stream(outgoing, body);
    return;
  }
  outgoing.writeHead(status, [...headers.flat(), "Content-Length", String(body.length)]);
  // Ending without a body sends the head in one write.
  if (body.length > 0) outgoing.end(body);
  else outgoing.end();
}

async function stream(outgoing: ServerResponse, body: AsyncIterable<Uint8Array>): Promise<void> {
  outgoing.flushHeaders();
  for await (const chunk of body) {
    if (outgoing.destroyed) return;
    outgoing.write(chunk);
  }
  outgoing.end();
}

function listenFailure(error: NodeJS.ErrnoException, { host, port }: ServeOptions): PaylinkError {
  if (error.code === "EADDRINUSE")
    return new PaylinkError("port_in_use", `Port ${port} on ${host} is already in use.`, { cause: error });
  return new PaylinkError("usage", `Cannot listen on ${host} port ${port}: ${error.message}`, {
    cause: error,
  });
}
