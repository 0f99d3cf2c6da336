/** Serves HTTP over node:http: sockets in, message values out, with limits on everything a sender controls. */
import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { PaylinkError } from "../domain/errors.ts";
import type { Handler, Refusal, Serve, ServeOptions, StreamedReply } from "./exchange.ts";
import type { HeaderLine, HttpReply, RequestHead } from "./message.ts";

const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 30_000;
const KEEP_ALIVE_TIMEOUT = 60_000;

export const serve: Serve = async (handler, options) => {
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    noDelay: true,
  });
  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    exchange(incoming, outgoing, handler, options).catch((error: unknown) => {
      options.faulted?.(error);
      answer(outgoing, { status: 500, headers: [], body: NOTHING });
    });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) =>
    refuseSocket(error, socket, options),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenFailure(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}/`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
};

const NOTHING = new Uint8Array();

/** Connections whose request is being read or answered. */
const exchanging = new WeakSet<object>();

async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handler: Handler,
  options: ServeOptions,
): Promise<void> {
  exchanging.add(incoming.socket);
  outgoing.once("close", () => exchanging.delete(incoming.socket));
  const head = headOf(incoming);
  const refusal = options.admit?.(head) ?? tooLarge(incoming, options.maxBody);
  if (refusal !== undefined) return refuse(refusal, head, outgoing, options);
  const body = await readBody(incoming, options.maxBody);
  if (!(body instanceof Uint8Array)) return refuse(body, head, outgoing, options);
  const trailers = pairs(incoming.rawTrailers);
  answer(outgoing, await handler(trailers.length > 0 ? { ...head, trailers, body } : { ...head, body }));
}

function headOf(incoming: IncomingMessage): RequestHead {
  return {
    method: incoming.method ?? "",
    scheme: "http",
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

function tooLarge(incoming: IncomingMessage, maxBody: number): Refusal | undefined {
  return Number(incoming.headers["content-length"] ?? 0) > maxBody ? bodyTooLarge(maxBody) : undefined;
}

const bodyTooLarge = (maxBody: number): Refusal => ({
  code: "body_too_large",
  status: 413,
  detail: `the body is larger than ${maxBody} bytes`,
});

function readBody(incoming: IncomingMessage, maxBody: number): Promise<Uint8Array | Refusal> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBody) {
        incoming.pause();
        resolve(bodyTooLarge(maxBody));
      } else chunks.push(chunk);
    });
    incoming.on("end", () => {
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length));
    });
    incoming.on("error", () =>
      resolve({
        code: "body_incomplete",
        status: 400,
        detail: `the connection ended after ${length} bytes of body`,
      }),
    );
  });
}

/** The connection ends with a refusal: what is left of the body would be read as the next request. */
function refuse(refusal: Refusal, head: RequestHead, outgoing: ServerResponse, options: ServeOptions): void {
  options.refused?.(refusal, head);
  const headers: HeaderLine[] = refusal.status === 405 ? [["Allow", "POST"]] : [];
  answer(outgoing, { status: refusal.status, headers: [...headers, ["Connection", "close"]], body: NOTHING });
}

function answer(outgoing: ServerResponse, reply: HttpReply | StreamedReply): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  for (const [name, value] of reply.headers) outgoing.appendHeader(name, value);
  outgoing.statusCode = reply.status;
  if (reply.body instanceof Uint8Array) {
    outgoing.setHeader("Content-Length", reply.body.length);
    outgoing.end(reply.body);
  } else void stream(outgoing, reply.body);
}

async function stream(outgoing: ServerResponse, body: AsyncIterable<Uint8Array>): Promise<void> {
  outgoing.flushHeaders();
  for await (const chunk of body) {
    if (outgoing.destroyed) return;
    outgoing.write(chunk);
  }
  outgoing.end();
}

/** What llhttp refuses never becomes a request: it is answered on the bare socket (RFC 9112 2.2, RFC 6585 5). */
function refuseSocket(error: NodeJS.ErrnoException, socket: Socket, options: ServeOptions): void {
  // A connection that ends inside a body is told of by the exchange that was reading it.
  const reading = error.code === "HPE_INVALID_EOF_STATE" && exchanging.has(socket);
  if (error.code === "ECONNRESET" || reading || !socket.writable) return void socket.destroy();
  const refusal: Refusal =
    error.code === "HPE_HEADER_OVERFLOW"
      ? { code: "headers_too_large", status: 431, detail: "the header section is larger than 16 KiB" }
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? { code: "request_timeout", status: 408, detail: "the request did not arrive in time" }
        : {
            code: "http_parse_error",
            status: 400,
            detail: `not an HTTP/1.1 request: ${error.code ?? error.message}`,
          };
  options.refused?.(refusal, undefined);
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

function listenFailure(error: NodeJS.ErrnoException, { host, port }: ServeOptions): PaylinkError {
  if (error.code === "EADDRINUSE")
    return new PaylinkError("port_in_use", `Port ${port} on ${host} is already in use.`, { cause: error });
  return new PaylinkError("usage", `Cannot listen on ${host} port ${port}: ${error.message}`, {
    cause: error,
  });
}
