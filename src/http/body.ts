/** Reads a request's body within its limit, and discards the rest of a refused one, so that its sender gets the answer. */
import type { IncomingMessage } from "node:http";
import type { Refusal } from "./exchange.ts";

/** Limits on what is still read from a refused sender: bytes, and milliseconds. */
const LINGER_BYTES = 4 * 1024 * 1024;
const LINGER_TIME = 1_000;

export function tooLarge(incoming: IncomingMessage, maxBody: number): Refusal | undefined {
  return Number(incoming.headers["content-length"] ?? 0) > maxBody ? bodyTooLarge(maxBody) : undefined;
}

const bodyTooLarge = (maxBody: number): Refusal => ({
  code: "body_too_large",
  status: 413,
  detail: `the body is larger than ${maxBody} bytes`,
});

/** Calls `received` with the size of each chunk. */
export function readBody(
  incoming: IncomingMessage,
  maxBody: number,
  received: (bytes: number) => void,
): Promise<Uint8Array | Refusal> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBody) {
        chunks.length = 0;
        incoming.pause();
        resolve(bodyTooLarge(maxBody));
      } else {
        received(chunk.length);
        chunks.push(chunk);
      }
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

/** Closing a connection with unread bytes resets it and loses the answer, so they are read, within limits. */
export function discardRest(incoming: IncomingMessage): Promise<void> {
  if (incoming.complete || incoming.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let length = 0;
    const enough = setTimeout(done, LINGER_TIME);
    function done(): void {
      clearTimeout(enough);
      incoming.pause();
      resolve();
    }
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > LINGER_BYTES) done();
    });
    incoming.once("end", done).once("close", done).resume();
  });
}
