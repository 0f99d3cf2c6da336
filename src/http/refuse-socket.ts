/** Answers bytes that Node's parser refused, directly on the socket (RFC 9112 2.2, RFC 6585 5). */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Refusal, ServeOptions } from "./exchange.ts";

interface SocketOptions extends Pick<ServeOptions, "refused"> {
  /** Connections whose body is being read. */
  readonly reading: WeakSet<Socket>;
}

export function refuseSocket(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { reading, refused }: SocketOptions,
): void {
  // A socket that sent nothing made no request to report. If a connection ends inside a body, readBody reports it.
  const silent = socket.bytesRead === 0 || (error.code === "HPE_INVALID_EOF_STATE" && reading.has(socket));
  if (error.code === "ECONNRESET" || silent || !socket.writable) return void socket.destroy();
  const refusal = socketRefusal(error);
  refused?.(refusal, undefined);
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

function socketRefusal({ code, message }: NodeJS.ErrnoException): Refusal {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return { code: "headers_too_large", status: 431, detail: "the header section is larger than 16 KiB" };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { code: "request_timeout", status: 408, detail: "the request did not arrive in time" };
    default:
      return {
        code: "http_parse_error",
        status: 400,
        detail: `not an HTTP/1.1 request: ${code ?? message}`,
      };
  }
}
