/** Reads a request's body within its limit, and discards the rest of a refused one, so that its sender gets the answer. */
import type { IncomingMessage } from "node:http";
import { refusal, type Refusal } from "./refusal.ts";

/** Limits on what is still read from a refused sender: bytes, chunks, and milliseconds. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_CHUNKS = 1024;
const LINGER_TIME = 1_000;
/**
 * Each chunk takes about the time of this many bytes however small it is. What smaller ones lack has the limit of the body: of
 * one-byte chunks, some 4,370 are read at 64 KiB.
 */
const SMALLEST_CHUNK = 16;
/** Bytes of a body's first buffer, and the factor by which each next one is larger. */
const FIRST_BUFFER = 4096;
const GROWTH = 4;

export function declaresTooMuch(incoming: IncomingMessage, maxBody: number): Refusal | undefined {
  return (declaredLength(incoming) ?? 0) > maxBody ? bodyTooLarge(maxBody) : undefined;
}

function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

const bodyTooLarge = (maxBody: number): Refusal =>
  refusal("body_too_large", `the body is larger than ${maxBody} bytes`);

/**
 * Most bodies arrive in one chunk. Others are copied into one buffer, so that a body costs its length whatever the size of its
 * chunks. `hold` is called with the bytes that it takes more.
 */
export function readBody(
  incoming: IncomingMessage,
  maxBody: number,
  hold: (bytes: number) => void,
): Promise<Uint8Array | Refusal> {
  return new Promise((resolve) => {
    const declared = declaredLength(incoming);
    let buffer: Buffer = Buffer.alloc(0);
    let length = 0;
    let padding = 0;
    const refuse = (why: Refusal): void => {
      incoming.off("data", take).pause();
      resolve(why);
    };
    const makeRoom = (needed: number): void => {
      if (needed <= buffer.length) return;
      const size = Math.max(needed, Math.min(declared ?? maxBody, Math.max(GROWTH * length, FIRST_BUFFER)));
      const larger = Buffer.allocUnsafe(size);
      buffer.copy(larger, 0, 0, length);
      hold(size - buffer.length);
      buffer = larger;
    };
    const take = (chunk: Buffer): void => {
      const total = length + chunk.length;
      padding += Math.max(SMALLEST_CHUNK - chunk.length, 0);
      if (total > maxBody || padding > maxBody) return refuse(bodyTooLarge(maxBody));
      if (total === declared && length === 0) {
        hold(total);
        buffer = chunk;
      } else {
        makeRoom(total);
        chunk.copy(buffer, length);
      }
      length = total;
    };
    incoming.on("data", take);
    incoming.on("end", () => resolve(buffer.subarray(0, length)));
    incoming.on("error", () =>
      refuse(refusal("body_incomplete", `the connection ended after ${length} bytes of body`)),
    );
  });
}

/**
 * Closing a connection with unread bytes resets it and loses the answer, so they are read, within limits. A sender of more waits
 * for its answer, so that it cannot start again at once.
 */
export function discardRest(incoming: IncomingMessage): Promise<void> {
  if (incoming.complete || incoming.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let length = 0;
    let chunks = 0;
    const enough = setTimeout(done, LINGER_TIME);
    function done(): void {
      clearTimeout(enough);
      stopReading(incoming);
      resolve();
    }
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      chunks += 1;
      if (length > LINGER_BYTES || chunks > LINGER_CHUNKS) stopReading(incoming);
    });
    incoming.once("end", done).once("close", done).resume();
  });
}

/** What was read before is still discarded. Without the first step, the stream would resume its socket. */
function stopReading(incoming: IncomingMessage): void {
  incoming._read = () => undefined;
  incoming.socket.pause();
}
