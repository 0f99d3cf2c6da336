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
import { PaylinkError } from "../domain/errors.ts";
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
/** When everything has been heard that came in together: answers, and what they make the run write. */
const endOfTurn = promisify(setImmediate);

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
      this.next = Promise.all([this.current, endOfTurn()]).then(() => this.commit());
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
    return parseSettled(this.path, bytes.toString("utf8"));
  }

  async close(): Promise<void> {
    try {
      await (this.next ?? this.current);
    } finally {
      closeSync(this.file);
    }
  }
}
