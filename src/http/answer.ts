/** Writes a reply to its connection, whole or as a stream. */
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { StreamedReply } from "./exchange.ts";
import type { HttpReply } from "./message.ts";

/** `closing` ends the connection after the reply. */
export function answer(outgoing: ServerResponse, reply: HttpReply | StreamedReply, closing: boolean): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const { status, body } = reply;
  const headers = closing ? [...reply.headers, ["Connection", "close"] as const] : reply.headers;
  if (!(body instanceof Uint8Array)) {
    outgoing.writeHead(status, headers.flat());
    outgoing.flushHeaders();
    // It fails when the client disconnects, which is how most streams end.
    pipeline(body, outgoing).catch(() => undefined);
    return;
  }
  outgoing.writeHead(status, [...headers.flat(), "Content-Length", String(body.length)]);
  // Ending without a body sends the head in one write.
  if (body.length > 0) outgoing.end(body);
  else outgoing.end();
}
