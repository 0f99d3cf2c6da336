/** Writes the journal of a bulk run: a line counts once it would survive a power cut, and many of them share one sync. */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { PaylinkError } from "../../domain/errors.ts";
import { parseSettled, type Entry, type Settled } from "./journal.ts";

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
const sleep = promisify(setTimeout);
/** Milliseconds for which lines gather: each sync of the disk holds up the service too, where that is on this machine. */
const GATHERING = 3;

/** Bytes that are read at once: outcomes lie about where those of the rows beside them do. */
const WINDOW = 128 * 1024;

/** A part of the journal as it was read; what is written there never changes. */
interface Window {
  readonly start: number;
  readonly bytes: Buffer;
}

class Writer implements JournalWriter {
  private pending: string[] = [];
  private current: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private written: number;
  private end: number;
  private window: Window = { start: 0, bytes: Buffer.alloc(0) };
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
      this.next = Promise.all([this.current, sleep(GATHERING)]).then(() => this.commit());
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
    const { start, bytes } = this.window;
    if (offset < start || offset + length > start + bytes.length)
      this.window = this.readAround(offset, length);
    const from = offset - this.window.start;
    return parseSettled(this.path, this.window.bytes.toString("utf8", from, from + length));
  }

  private readAround(offset: number, length: number): Window {
    const start = Math.max(0, offset - WINDOW / 2);
    const bytes = Buffer.allocUnsafe(WINDOW + length);
    return { start, bytes: bytes.subarray(0, readSync(this.file, bytes, 0, bytes.length, start)) };
  }

  async close(): Promise<void> {
    try {
      await (this.next ?? this.current);
    } finally {
      closeSync(this.file);
    }
  }
}
