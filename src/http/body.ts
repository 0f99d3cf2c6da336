/** Reads a request's body within limits, and discards the rest of a refused one, so that its sender gets the answer. */
import type { IncomingMessage } from "node:http";
import type { Refusal } from "./exchange.ts";
import type { PausableBody, ReadingTurns } from "./reading-turns.ts";
import type { RequestMemory, RequestShare } from "./request-memory.ts";

/** Limits on what is still read from a refused sender: bytes, and milliseconds. */
const LINGER_BYTES = 4 * 1024 * 1024;
const LINGER_TIME = 1_000;
/**
 * Each chunk takes the same time however small it is: a body of one-byte chunks takes a second for each MB. After this
 * many chunks, they must have this many bytes on average.
 */
const FREE_CHUNKS = 4096;
const AVERAGE_CHUNK = 64;
/** Milliseconds that such a sender waits for its answer, so that it cannot start again at once. */
const HOLD_TIME = 2_000;
const EMPTY = Buffer.alloc(0);
/** Bytes of a body's first buffer, and the factor by which each next one is larger. */
const FIRST_BUFFER = 4096;
const GROWTH = 4;
/** Bytes of a body that are read without a turn: a webhook of the service has a few KiB. */
const SMALL_BODY = 32 * 1024;
/** Bytes that Node reads at once, and also keeps of a paused body. */
const PIECE = 64 * 1024;

export function tooLarge(incoming: IncomingMessage, maxBody: number): Refusal | undefined {
  return (declaredLength(incoming) ?? 0) > maxBody ? bodyTooLarge(maxBody) : undefined;
}

function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

const bodyTooLarge = (maxBody: number): Refusal => ({
  code: "body_too_large",
  status: 413,
  detail: `the body is larger than ${maxBody} bytes`,
});

const CHUNKS_TOO_SMALL: Refusal = {
  code: "chunks_too_small",
  status: 400,
  detail: `the body has more than ${FREE_CHUNKS} chunks of less than ${AVERAGE_CHUNK} bytes on average`,
};

const OVERLOADED: Refusal = {
  code: "overloaded",
  status: 503,
  detail: "the requests that arrived at the same time need more memory than is set aside for them",
};

export interface ReadBody {
  readonly bytes: Uint8Array;
  /** Release it once the request is answered. */
  readonly share: RequestShare;
}

interface BodyLimits {
  readonly maxBody: number;
  readonly memory: RequestMemory;
  readonly turns: ReadingTurns;
  readonly isPreferred: boolean;
}

/** Copies each chunk into one buffer, so that a body costs its length whatever the size of its chunks. */
export function readBody(
  incoming: IncomingMessage,
  { maxBody, memory, turns, isPreferred }: BodyLimits,
): Promise<ReadBody | Refusal> {
  return new Promise((resolve) => {
    const longest = declaredLength(incoming) ?? maxBody;
    let buffer = EMPTY;
    let length = 0;
    let chunks = 0;
    let isLarge = false;
    const body: PausableBody = {
      isPreferred,
      pause: () => void incoming.pause(),
      resume: () => void incoming.resume(),
    };
    const refuse = (refusal: Refusal): void => {
      turns.end(body);
      incoming.off("data", take).pause();
      buffer = EMPTY;
      share.release();
      resolve(refusal);
    };
    const share = memory.share(isPreferred, () => refuse(OVERLOADED));
    const makeRoom = (needed: number): void => {
      if (needed <= buffer.length) return;
      const size = Math.max(needed, Math.min(longest, Math.max(GROWTH * buffer.length, FIRST_BUFFER)));
      const larger = Buffer.allocUnsafe(size);
      buffer.copy(larger, 0, 0, length);
      const added = size - buffer.length;
      buffer = larger;
      share.grow(added);
    };
    const take = (chunk: Buffer): void => {
      const total = length + chunk.length;
      chunks += 1;
      if (total > maxBody) return refuse(bodyTooLarge(maxBody));
      if (chunks > FREE_CHUNKS && total < chunks * AVERAGE_CHUNK) {
        stopReading(incoming);
        return refuse(CHUNKS_TOO_SMALL);
      }
      makeRoom(total);
      // The memory was needed for others.
      if (buffer.length < total) return;
      chunk.copy(buffer, length);
      length = total;
      if (length <= SMALL_BODY || isLarge) return;
      isLarge = true;
      turns.wait(body);
      share.grow(PIECE);
    };
    incoming.on("data", take);
    incoming.on("end", () => {
      turns.end(body);
      share.complete();
      resolve({ bytes: buffer.subarray(0, length), share });
    });
    incoming.on("error", () =>
      refuse({
        code: "body_incomplete",
        status: 400,
        detail: `the connection ended after ${length} bytes of body`,
      }),
    );
    share.open();
  });
}

/** Without the first step, the stream continues to read its socket until its own buffer is full. */
function stopReading(incoming: IncomingMessage): void {
  incoming._read = () => undefined;
  incoming.socket.pause();
}

/**
 * Closing a connection with unread bytes resets it and loses the answer, so they are read, within limits. From a
 * paused socket, only what was already read is discarded.
 */
export function discardRest(incoming: IncomingMessage): Promise<void> {
  if (incoming.complete || incoming.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let length = 0;
    let chunks = 0;
    const isHeld = incoming.socket.isPaused();
    const enough = setTimeout(done, isHeld ? HOLD_TIME : LINGER_TIME);
    function done(): void {
      clearTimeout(enough);
      incoming.pause();
      incoming.socket.pause();
      resolve();
    }
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      chunks += 1;
      if (!isHeld && (length > LINGER_BYTES || chunks > FREE_CHUNKS)) done();
    });
    incoming.once("end", done).once("close", done).resume();
  });
}
