/** Reads a request's body within limits, and discards the rest of a refused one, so that its sender gets the answer. */
import type { IncomingMessage } from "node:http";
import { refusal, type Refusal } from "./exchange.ts";

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

const headSize = ({ rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((bytes, text) => bytes + HEADER_TEXT + text.length, REQUEST);

const bodyTooLarge = (maxBody: number): Refusal =>
  refusal("body_too_large", `the body is larger than ${maxBody} bytes`);

const CHUNKS_TOO_SMALL = refusal(
  "chunks_too_small",
  `the body has more than ${FREE_CHUNKS} chunks of less than ${AVERAGE_CHUNK} bytes on average`,
);

const OVERLOADED = refusal(
  "overloaded",
  "the requests that arrived at the same time need more memory than is set aside for them",
);

interface ReadBody {
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
    const refuse = (why: Refusal): void => {
      turns.end(body);
      incoming.off("data", take).pause();
      buffer = EMPTY;
      share.release();
      resolve(why);
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
      refuse(refusal("body_incomplete", `the connection ended after ${length} bytes of body`)),
    );
    share.open(headSize(incoming));
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

/** Large bodies that are read at the same time. */
const TURNS = 4;
/** Milliseconds until a body gives its turn to a waiting one: a slow sender must not block others. */
const TURN_TIME = 1_000;

/** A body that can stop and continue. A pause does not extend the time limit of its request. */
interface PausableBody {
  /** Gets its turn before bodies that are not preferred. */
  readonly isPreferred: boolean;
  readonly pause: () => void;
  readonly resume: () => void;
}

export interface ReadingTurns {
  /** Pauses the body until its turn. */
  readonly wait: (body: PausableBody) => void;
  /** The body is complete or was refused. */
  readonly end: (body: PausableBody) => void;
}

export function createReadingTurns(): ReadingTurns {
  const waiting = new Set<PausableBody>();
  const reading = new Map<PausableBody, NodeJS.Timeout>();
  const wait = (body: PausableBody): void => {
    body.pause();
    waiting.add(body);
    giveTurns();
  };
  const end = (body: PausableBody): void => {
    waiting.delete(body);
    clearTimeout(reading.get(body));
    if (reading.delete(body)) giveTurns();
  };
  const giveTurns = (): void => {
    while (reading.size < TURNS) {
      const body = nextOf(waiting);
      if (body === undefined) return;
      waiting.delete(body);
      const passOn = setTimeout(() => {
        reading.delete(body);
        wait(body);
      }, TURN_TIME);
      reading.set(body, passOn);
      body.resume();
    }
  };
  return { wait, end };
}

function nextOf(waiting: ReadonlySet<PausableBody>): PausableBody | undefined {
  for (const body of waiting) if (body.isPreferred) return body;
  const [longest] = waiting;
  return longest;
}

/** Bytes over all requests of one server. */
const MAX_HELD = 24 * 1024 * 1024;
/** Bytes that Node takes for each request, and for each text of its header section besides the characters. */
const REQUEST = 4096;
const HEADER_TEXT = 32;

/** The memory of one request, from its head to its answer. */
export interface RequestShare {
  /** The head was read, and takes this many bytes. */
  readonly open: (bytes: number) => void;
  /** The body takes this many more bytes. */
  readonly grow: (bytes: number) => void;
  /** The body is complete: from now on, it is not refused to make room for another. */
  readonly complete: () => void;
  /** The request was answered or refused. */
  readonly release: () => void;
}

export interface RequestMemory {
  /** `refuse` is called when others need the memory. Preferred requests are refused last. */
  readonly share: (isPreferred: boolean, refuse: () => void) => RequestShare;
}

interface Unfinished {
  readonly isPreferred: boolean;
  readonly refuse: () => void;
  readonly release: () => void;
  bytes: number;
}

export function createRequestMemory(): RequestMemory {
  const unfinished = new Set<Unfinished>();
  let held = 0;
  const makeRoom = (): void => {
    if (held <= MAX_HELD) return;
    let victim: Unfinished | undefined;
    for (const request of unfinished)
      if (victim === undefined || isRefusedBefore(request, victim)) victim = request;
    if (victim === undefined) return;
    victim.release();
    victim.refuse();
    makeRoom();
  };
  return {
    share: (isPreferred, refuse) => {
      const release = (): void => {
        held -= request.bytes;
        request.bytes = 0;
        unfinished.delete(request);
      };
      const request: Unfinished = { isPreferred, refuse, release, bytes: 0 };
      const grow = (bytes: number): void => {
        request.bytes += bytes;
        held += bytes;
        makeRoom();
      };
      return {
        open: (bytes) => {
          unfinished.add(request);
          grow(bytes);
        },
        grow,
        complete: () => void unfinished.delete(request),
        release,
      };
    },
  };
}

const isRefusedBefore = (one: Unfinished, other: Unfinished): boolean =>
  one.isPreferred === other.isPreferred ? one.bytes > other.bytes : other.isPreferred;
