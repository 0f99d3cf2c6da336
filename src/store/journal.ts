/** The journal of a bulk run: a line before each request leaves and one after its answer, on disk before anything else. */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import * as z from "zod/mini";
import { PaylinkError } from "../domain/errors.ts";

/** What a journal says of itself in its first line. */
const heading = z.object({
  paylink: z.literal("bulk journal"),
  service: z.string(),
  /** The list's path; "-" for standard input. */
  input: z.string(),
  /** A digest of what every row asked for when the journal was begun. */
  content: z.string(),
  begun: z.string(),
});
export type Heading = z.infer<typeof heading>;

const row = z.int().check(z.minimum(0), z.maximum(100_000_000));

/** A request is about to leave for this row; `asks` identifies what the row asked for. */
const sending = z.object({ row, asks: z.number() });
/** What became of it. */
const settled = z.object({
  row,
  /** `not_sent` takes back what was about to leave. */
  status: z.enum(["created", "refused", "not_reached", "unknown", "not_sent"]),
  id: z.optional(z.string()),
  url: z.optional(z.string()),
  error: z.optional(z.string()),
});
export type Settled = z.infer<typeof settled>;
const entry = z.union([settled, sending]);
type Entry = z.infer<typeof entry>;

/** Hears each line of a journal that is read back, with where it stands. */
export type Replay = (entry: Entry, offset: number, length: number) => void;

export const isSettled = (entry: Entry): entry is Settled => "status" in entry;

const CHUNK = 1 << 20;
const NEWLINE = 0x0a;

/** Begins a journal where there is none: its heading is on disk before anything refers to it. */
export function beginJournal(path: string, head: Omit<Heading, "paylink">): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const line = `${JSON.stringify({ paylink: "bulk journal", ...head })}\n`;
  writeFileSync(path, line, { flag: "wx", mode: 0o600, flush: true });
  syncFolder(dirname(path));
}

/** A new file survives a power cut only once its folder is on disk; Windows has no such step. */
function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, "r");
    fsyncSync(handle);
    closeSync(handle);
  } catch {
    // Nothing more can be done than to go on.
  }
}

/** The heading of a journal; undefined where there is none. */
export function readHeading(path: string): Heading | undefined {
  for (const { text } of linesOf(path)) return parseLine(path, text, heading);
  return undefined;
}

/** Reads a journal back and gives the length of its sound part: a line that a kill cut short was never relied on. */
export function replayJournal(path: string, replay: Replay): number {
  let end = 0;
  for (const { text, offset, length } of linesOf(path)) {
    if (offset > 0) replay(parseLine(path, text, entry), offset, length);
    end = offset + length;
  }
  return end;
}

function parseLine<T>(path: string, text: string, schema: z.ZodMiniType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new PaylinkError("file_unreadable", `${path} is not what paylink wrote there. Nothing was sent.`, {
      hint: "It tells which links were created. Restore it, or look at the service before sending the list anew.",
      cause: error,
    });
  }
}

interface Line {
  readonly text: string;
  readonly offset: number;
  readonly length: number;
}

/** Every complete line, in chunks, so that a long journal takes no more memory than a short one. */
function* linesOf(path: string): Generator<Line> {
  let handle;
  try {
    handle = openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  try {
    let rest = Buffer.alloc(0);
    let offset = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const read = readSync(handle, chunk, 0, CHUNK, null);
      if (read === 0) return;
      rest = Buffer.concat([rest, chunk.subarray(0, read)]);
      let start = 0;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, start)) {
        yield { text: rest.toString("utf8", start, end), offset: offset + start, length: end + 1 - start };
        start = end + 1;
      }
      offset += start;
      rest = rest.subarray(start);
    }
  } finally {
    closeSync(handle);
  }
}

export interface Appended {
  readonly offset: number;
  readonly length: number;
  /** Resolves once the line, and every line before it, would survive a power cut. */
  readonly durable: Promise<void>;
}

export interface JournalWriter {
  append(entry: Entry): Appended;
  read(offset: number, length: number): Settled;
  /** Resolves when everything is on disk and the file is closed. */
  close(): Promise<void>;
}

/**
 * Opens a journal to be written after its sound part. What comes in while the disk is busy goes there together in one
 * write and one sync. Before anything counts as durable the file must be as long as this writer alone has made it:
 * another run that writes to it too is noticed by both, before either sends what the other may have sent.
 */
export function openJournal(path: string, end: number): JournalWriter {
  const file = openSync(path, constants.O_RDWR | constants.O_APPEND);
  if (fstatSync(file).size > end) ftruncateSync(file, end);
  return new Writer(path, file, end);
}

const sync = promisify(fdatasync);

class Writer implements JournalWriter {
  private pending: string[] = [];
  private current: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private written: number;
  private end: number;
  private readonly path: string;
  private readonly file: number;

  constructor(path: string, file: number, end: number) {
    this.path = path;
    this.file = file;
    this.written = end;
    this.end = end;
  }

  append(entry: Entry): Appended {
    const line = `${JSON.stringify(entry)}\n`;
    const length = Buffer.byteLength(line);
    const offset = this.end;
    this.end += length;
    this.pending.push(line);
    if (this.next === undefined) {
      this.next = this.current.then(() => this.commit());
      // Whoever awaits a line hears of the failure; a line that nobody awaits must not end the process.
      this.next.catch(() => undefined);
    }
    return { offset, length, durable: this.next };
  }

  /** Only the sync leaves the thread: the write goes no further than the system's memory. */
  private async commit(): Promise<void> {
    this.current = this.next ?? this.current;
    this.next = undefined;
    const bytes = Buffer.from(this.pending.join(""));
    this.pending = [];
    try {
      for (let sent = 0; sent < bytes.length;) sent += writeSync(this.file, bytes, sent);
      await sync(this.file);
      this.written += bytes.length;
      const { size, nlink } = fstatSync(this.file);
      if (size !== this.written || nlink === 0) throw this.shared();
    } catch (error) {
      throw error instanceof PaylinkError ? error : this.unwritable(error);
    }
  }

  private shared(): PaylinkError {
    return new PaylinkError("already_running", "Another run works on this list too; this one stops.", {
      details: { journal: this.path },
    });
  }

  private unwritable(error: unknown): PaylinkError {
    const reason = error instanceof Error ? error.message : String(error);
    return new PaylinkError("file_unwritable", `The journal ${this.path} cannot be written: ${reason}.`, {
      hint: "Nothing is sent without it. Make room on the disk, then run the same command again: it goes on.",
      cause: error,
    });
  }

  read(offset: number, length: number): Settled {
    const bytes = Buffer.allocUnsafe(length);
    readSync(this.file, bytes, 0, length, offset);
    return parseLine(this.path, bytes.toString("utf8"), settled);
  }

  async close(): Promise<void> {
    try {
      await (this.next ?? this.current);
    } finally {
      closeSync(this.file);
    }
  }
}
