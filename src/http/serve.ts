/** Serves HTTP over node:http: sockets in, message values out, with limits on everything a sender controls. */
import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { PaylinkError } from "../domain/errors.ts";
import { systemReason } from "../values/system-reason.ts";
import { discardRest, readBody, declaresTooMuch } from "./body.ts";
import { type TrackedConnections, trackConnections, trackHandshakes } from "./connections.ts";
import {
  type Handler,
  CloseConnection,
  type Serve,
  type ServeOptions,
  type HttpServer,
  type TlsFiles,
} from "./exchange.ts";
import { type ClientError, handshakeFailure, otherProtocol } from "./other-protocols.ts";
import { refusal, type Refusal } from "./refusal.ts";
import {
  headerLines,
  type HeaderLine,
  type HttpReply,
  type RequestHead,
  withBody,
  NO_BODY,
} from "./message.ts";

const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** Longer than the 60 s of common balancers: the side that closes first must be the one that sends requests. */
  keepAliveTimeout: 75_000,
  /** How often Node looks for connections that have taken longer than that. */
  connectionsCheckingInterval: 1_000,
  noDelay: true,
  // With it, Node would answer by itself and the request would not be reported.
  requireHostHeader: false,
} as const;
const HANDSHAKE_TIMEOUT = 10_000;
/** Connections that the system accepts while the event loop is busy; beyond them it also refuses honest senders. */
const BACKLOG = 4096;
/** Milliseconds for a refused sender to read the answer and close its side. */
const LINGER = 2_000;
/** Milliseconds for unfinished requests once the server closes. */
const CLOSE_GRACE = 1_000;

/** The state that every exchange of one server shares. */
interface ServerState extends ServeOptions {
  readonly handler: Handler;
  readonly connections: TrackedConnections;
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
    connections: trackConnections(options.maxHeld),
    reading: new WeakSet(),
    scheme,
    closing: false,
  };
  const [server, renewTls] = createNodeServer(options.tls, state.connections);
  const { begin, ended, isAnswering } = takeTurns();
  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    outgoing.on("close", () => {
      state.connections.answered(socket);
      ended(socket);
    });
    begin(socket, () => {
      serveRequest(incoming, outgoing, state).catch((error: unknown) => {
        if (error instanceof CloseConnection) return void socket.destroy();
        options.faulted?.(error);
        answer(outgoing, { status: 500, headers: [], body: NO_BODY }, state.closing);
      });
    });
  });
  server.on("clientError", (error: ClientError, socket: Socket) =>
    refuseSocket(error, socket, state, isAnswering(socket)),
  );
  await new Promise<void>((resolve, reject) => {
    // The listener stays: without one, a connection that cannot be accepted later would end the process.
    server.on("error", (error: NodeJS.ErrnoException) => reject(listenFailure(error, options)));
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, resolve);
  });
  const { port, address } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `${scheme}://${host}:${port}/`,
    port,
    hosts: [options.host, address, ...(isWildcard(address) ? ownAddresses() : [])],
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    renewTls,
    close: () => close(server, state),
  };
};

/**
 * Requests on one connection are read and answered one after the other, as they are answered anyway (RFC 9112 9.3.2): a sender
 * that pipelines thousands does not keep others waiting, and a refusal that closes its connection ends them all.
 */
function takeTurns() {
  /** The requests that wait on each connection whose request is being answered. */
  const waiting = new Map<Socket, (() => void)[]>();
  return {
    isAnswering: (socket: Socket): boolean => waiting.has(socket),
    begin: (socket: Socket, start: () => void): void => {
      // The answer before was the last one.
      if (!socket.writable) return;
      const queue = waiting.get(socket);
      if (queue === undefined) {
        waiting.set(socket, []);
        return start();
      }
      queue.push(start);
      socket.pause();
    },
    ended: (socket: Socket): void => {
      const next = waiting.get(socket)?.shift();
      if (next === undefined || !socket.writable) return void waiting.delete(socket);
      socket.resume();
      setImmediate(next);
    },
  };
}

function createNodeServer(
  tls: TlsFiles | undefined,
  connections: TrackedConnections,
): [server: NodeServer | TlsServer, renewTls: HttpServer["renewTls"]] {
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

async function serveRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  state: ServerState,
): Promise<void> {
  const { socket } = incoming;
  state.reading.add(socket);
  const head = requestHead(incoming, state);
  const refused =
    refuseMissingHost(incoming) ?? state.admit?.(head) ?? declaresTooMuch(incoming, state.maxBody);
  if (refused !== undefined) return refuse(refused, head, incoming, outgoing, state);
  const { maxBody, connections, handler } = state;
  const body = await readBody(incoming, maxBody, (bytes) => connections.hold(socket, bytes));
  state.reading.delete(socket);
  if ("status" in body) return refuse(body, head, incoming, outgoing, state);
  connections.complete(socket);
  const reply = await handler(withBody(head, body));
  answer(outgoing, reply, state.closing);
  // A stream has no end of its own: its connection may be closed to make room, and when the server closes.
  if (!(reply.body instanceof Uint8Array)) connections.answered(socket);
}

function requestHead(incoming: IncomingMessage, { scheme }: ServerState): RequestHead {
  return {
    method: incoming.method ?? "",
    scheme,
    authority: incoming.headers.host ?? "",
    target: incoming.url ?? "",
    headers: headerLines(incoming.rawHeaders),
  };
}

/** RFC 9112 3.2: HTTP/1.1 without a Host is malformed. */
export function refuseMissingHost({ httpVersion, headers }: IncomingMessage): Refusal | undefined {
  return httpVersion === "1.0" || headers.host !== undefined
    ? undefined
    : refusal("http_parse_error", "not an HTTP/1.1 request: Host is missing");
}

/** A refusal ends the connection, so that the sender cannot send more of the same. */
async function refuse(
  refused: Refusal,
  head: RequestHead,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  state: ServerState,
): Promise<void> {
  state.refused?.(refused, head);
  const headers: HeaderLine[] = [...(HEADERS_OF[refused.status] ?? []), ["Connection", "close"]];
  await discardRest(incoming);
  answer(outgoing, { status: refused.status, headers, body: NO_BODY }, state.closing);
}

/** Headers that belong to a status (RFC 9110 15.5.6). */
const HEADERS_OF: Readonly<Record<number, readonly HeaderLine[]>> = { 405: [["Allow", "POST"]] };

function listenFailure(error: NodeJS.ErrnoException, { host, port }: ServeOptions): PaylinkError {
  if (error.code === "EADDRINUSE")
    return new PaylinkError("port_in_use", `Port ${port} on ${host} is already in use.`, { cause: error });
  const reason = error.code === "EADDRNOTAVAIL" ? "this machine has no such address" : systemReason(error);
  return new PaylinkError("usage", `Cannot listen on ${host} port ${port}: ${reason}.`, {
    cause: error,
  });
}

function refuseSocket(
  error: ClientError,
  socket: Socket,
  { reading, refused }: ServerState,
  isAnswering: boolean,
): void {
  const failure = handshakeFailure(error);
  if (failure !== undefined) refused?.(refusal("tls_failed", failure), undefined);
  // A socket that sent nothing made no request to report. If a connection ends inside a body, readBody reports it.
  const silent = socket.bytesRead === 0 || (error.code === "HPE_INVALID_EOF_STATE" && reading.has(socket));
  if (error.code === "ECONNRESET" || silent || !socket.writable) return void socket.destroy();
  const why = socketRefusal(error);
  refused?.(why, undefined);
  // The answer to the request before is the last one on this connection, which it closes (RFC 9112 9.6).
  if (isAnswering && error.code === "HPE_CLOSED_CONNECTION") return;
  socket.end(
    `HTTP/1.1 ${why.status} ${STATUS_CODES[why.status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
  // A sender that does not close its side would keep the connection half open.
  const linger = setTimeout(() => socket.destroy(), LINGER);
  socket.once("close", () => clearTimeout(linger));
}

export function socketRefusal(error: ClientError): Refusal {
  const { code = "no code", message } = error;
  if (code === "HPE_HEADER_OVERFLOW")
    return refusal("headers_too_large", "the header section is larger than 16 KiB");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return refusal("request_timeout", "the request did not arrive in time");
  const unread = `not an HTTP/1.1 request: ${message.replace("Parse Error: ", "")} (${code})`;
  return refusal("http_parse_error", otherProtocol(error) ?? unread);
}

/** `closing` ends the connection after the reply. */
export function answer(outgoing: ServerResponse, reply: HttpReply, closing: boolean): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const { status, body } = reply;
  const headers = closing ? [...reply.headers, ["Connection", "close"] as const] : reply.headers;
  outgoing.writeHead(status, [...headers.flat(), "Content-Length", String(body.length)]);
  // Ending without a body sends the head in one write.
  if (body.length > 0) outgoing.end(body);
  else outgoing.end();
}
