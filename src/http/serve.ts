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
  // Node would answer by itself, and nobody would hear of it.
  requireHostHeader: false,
} as const;
const HANDSHAKE_TIMEOUT = 10_000;
/** Milliseconds that a half-sent request may still take once the server closes. */
const LAST_CALL = 1_000;

/** What every exchange of one server shares. */
interface Shop extends ServeOptions {
  readonly handler: Handler;
  readonly connections: Connections;
  readonly scheme: "http" | "https";
  /** Connections whose body is being read. */
  readonly reading: WeakSet<Socket>;
  closing: boolean;
}

export const serve: Serve = async (handler, options) => {
  const scheme = options.tls === undefined ? "http" : "https";
  const shop: Shop = {
    ...options,
    handler,
    connections: trackConnections(),
    reading: new WeakSet(),
    scheme,
    closing: false,
  };
  const [server, renewTls] = createNodeServer(options.tls, shop.connections);
  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.on("close", () => shop.connections.answered(incoming.socket));
    exchange(incoming, outgoing, shop).catch((error: unknown) => {
      options.faulted?.(error);
      answer(outgoing, { status: 500, headers: [], body: NOTHING }, shop);
    });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) =>
    refuseSocket(error, socket, shop),
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
    close: () => close(server, shop),
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

function close(server: NodeServer | TlsServer, shop: Shop): Promise<void> {
  return new Promise((resolve) => {
    shop.closing = true;
    const lastCall = setTimeout(shop.connections.dropWaiting, LAST_CALL);
    server.close(() => {
      clearTimeout(lastCall);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const NOTHING = new Uint8Array();

async function exchange(incoming: IncomingMessage, outgoing: ServerResponse, shop: Shop): Promise<void> {
  const { socket } = incoming;
  shop.reading.add(socket);
  const head = headOf(incoming, shop);
  const refusal = withoutHost(incoming) ?? shop.admit?.(head) ?? tooLarge(incoming, shop.maxBody);
  if (refusal !== undefined) return refuse(refusal, head, incoming, outgoing, shop);
  const body = await readBody(incoming, shop.maxBody, (bytes) => shop.connections.received(socket, bytes));
  shop.reading.delete(socket);
  if (!(body instanceof Uint8Array)) return refuse(body, head, incoming, outgoing, shop);
  shop.connections.whole(socket);
  answer(outgoing, await shop.handler(withBody(head, body, pairs(incoming.rawTrailers))), shop);
}

function headOf(incoming: IncomingMessage, { scheme }: Shop): RequestHead {
  return {
    method: incoming.method ?? "",
    scheme,
    authority: incoming.headers.host ?? "",
    target: incoming.url ?? "",
    headers: pairs(incoming.rawHeaders),
  };
}

/** Node gives names and values in one flat list: the only view of a header section that hides no line. */
function pairs(raw: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2)
    lines.push([raw[index] ?? "", raw[index + 1] ?? ""]);
  return lines;
}

/** RFC 9112 3.2: HTTP/1.1 without a Host is malformed. */
function withoutHost({ httpVersion, headers }: IncomingMessage): Refusal | undefined {
  return httpVersion === "1.0" || headers.host !== undefined
    ? undefined
    : { code: "http_parse_error", status: 400, detail: "not an HTTP/1.1 request: it has no Host" };
}

/** The connection ends with a refusal: whoever sends what is refused does not get to send more of it. */
async function refuse(
  refusal: Refusal,
  head: RequestHead,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  shop: Shop,
): Promise<void> {
  shop.refused?.(refusal, head);
  const headers: HeaderLine[] = refusal.status === 405 ? [["Allow", "POST"]] : [];
  await discardRest(incoming);
  const reply = {
    status: refusal.status,
    headers: [...headers, ["Connection", "close"] as const],
    body: NOTHING,
  };
  answer(outgoing, reply, shop);
}

function answer(outgoing: ServerResponse, reply: HttpReply | StreamedReply, { closing }: Shop): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const { status, body } = reply;
  const headers = closing ? [...reply.headers, ["Connection", "close"] as const] : reply.headers;
  if (!(body instanceof Uint8Array)) {
    outgoing.writeHead(status, headers.flat());
    void stream(outgoing, body);
    return;
  }
  outgoing.writeHead(status, [...headers.flat(), "Content-Length", String(body.length)]);
  // Without a body the head goes out in one write.
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
