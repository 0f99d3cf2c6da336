/** Answers on the bare socket what Node's parser refused, which never became a request (RFC 9112 2.2, RFC 6585 5). */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Refusal, ServeOptions } from "./exchange.ts";

interface Listening extends Pick<ServeOptions, "refused"> {
  /** Connections whose body is being read. */
  readonly reading: WeakSet<Socket>;
}

export function refuseSocket(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { reading, refused }: Listening,
): void {
  // Who never said a word has made no request that anybody would want to hear of; and of a connection that ends
  // inside a body, the exchange that was reading it tells.
  const heard = socket.bytesRead === 0 || (error.code === "HPE_INVALID_EOF_STATE" && reading.has(socket));
  if (error.code === "ECONNRESET" || heard || !socket.writable) return void socket.destroy();
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
