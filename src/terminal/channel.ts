/** A standard stream as a channel: each chunk is written whole or reported as lost, and none is left behind at the end. */
import { once } from "node:events";
import { fstatSync, writeSync } from "node:fs";
import { Writable } from "node:stream";

/** Node's stream; a terminal's knows its width and its colours. */
export interface OutputStream extends Writable {
  readonly fd?: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
  getColorDepth?(env: object): number;
}

const DEFAULT_WIDTH = 80;

/** Columns; in a container, a terminal may have no size and report 0. */
export const terminalColumns = (stream: OutputStream): number =>
  (stream.isTTY === true && stream.columns) || DEFAULT_WIDTH;

export interface Channel {
  /** Writes in order. A chunk that cannot be written is reported to `lost`. */
  readonly write: (chunk: string | Uint8Array, lost?: (error: Error) => void) => void;
  /** Bytes that wait for a slow reader. */
  readonly waiting: number;
  /** Resolves when the stream accepts more, or has failed. */
  readonly drained: () => Promise<void>;
  /** Resolves when no chunk waits any more, with the first failure. */
  readonly settled: () => Promise<Error | undefined>;
}

/**
 * Milliseconds after an interruption in which the reader must take something: one that stands still would keep the process alive. What
 * stdout does not take may then go to stderr, and both together take less than 2 s.
 */
const GRACE = 900;

export class ReaderStandsStill extends Error {
  /** As if it had gone. */
  readonly code = "EPIPE";
}

/** After `interruption`, a reader that takes nothing for `GRACE` counts as gone. */
export function openChannel(opened: OutputStream, interruption?: AbortSignal): Channel {
  const stream = isFile(opened) ? wholeWrites(opened.fd) : opened;
  // Each write learns of its own failure, and an error without a listener would end the process.
  stream.on("error", () => undefined);
  let last = Promise.resolve();
  let failure: Error | undefined;
  const gone = new AbortController();
  /** The ends of the writes that wait for the reader. */
  const waiting = new Set<(error?: Error | null) => void>();
  const giveUp = (): void => {
    failure ??= new ReaderStandsStill("its reader stands still");
    gone.abort();
    for (const end of waiting) end(failure);
  };
  let taken = 0;
  const watch = (): void => {
    const before = taken;
    setTimeout(() => (waiting.size > 0 && taken === before ? giveUp() : watch()), GRACE).unref();
  };
  interruption?.addEventListener("abort", watch, { once: true });
  return {
    write: (chunk, lost) => {
      last = new Promise((resolve) => {
        const end = (error?: Error | null): void => {
          if (!waiting.delete(end)) return;
          taken += 1;
          resolve();
          if (!error) return;
          // A stream that has failed refuses what follows with errors of its own.
          failure ??= error;
          lost?.(failure);
        };
        waiting.add(end);
        if (gone.signal.aborted) end(failure);
        else stream.write(chunk, end);
      });
    },
    get waiting() {
      return stream.writableLength;
    },
    drained: async () => {
      if (!stream.writableNeedDrain || failure !== undefined) await nextTurn();
      else await once(stream, "drain", { signal: gone.signal }).catch(() => undefined);
    },
    settled: async () => {
      await last;
      return failure;
    },
  };
}

interface StandardStreams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

export interface StandardChannels extends StandardStreams {
  readonly toStdout: Channel;
  readonly toStderr: Channel;
}

/** The streams of the process, opened once. */
export const standardChannels = (
  { stdout, stderr }: StandardStreams,
  interruption?: AbortSignal,
): StandardChannels => ({
  stdout,
  stderr,
  toStdout: openChannel(stdout, interruption),
  toStderr: openChannel(stderr, interruption),
});

/** The reader has stopped reading, as in `paylink … | head`. */
export const isReaderGone = (error: Error): boolean => "code" in error && error.code === "EPIPE";

/** Gives an interruption a turn of the event loop, even if the stream accepts everything at once, as a file does. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function isFile(stream: OutputStream): stream is OutputStream & { readonly fd: number } {
  if (stream.fd === undefined || stream.isTTY === true) return false;
  // With bigint: on Node 20 the other form overwrites a buffer in which the module loader looks for symbolic links, so that a
  // linked package, such as the optional SQLite, is not found.
  const kind = fstatSync(stream.fd, { bigint: true });
  return kind.isFile() || kind.isCharacterDevice();
}

/** Node's own stream treats a short write as a complete one, so on a full disk the rest would be lost without an error. */
const wholeWrites = (fd: number): Writable =>
  new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      try {
        for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at);
      } catch (error) {
        return done(error instanceof Error ? error : new Error(String(error)));
      }
      done();
    },
  });
