/** Writes the journal of a bulk run: a line counts once it survives a power cut, and many lines share one sync. */
import { closeSync, constants, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { PaylinkError } from "../../domain/errors.ts";
import { systemReason } from "../../domain/system-reason.ts";
import { createGroupCommit } from "../group-commit.ts";
import { readSettled, type Entry, type Settled } from "./journal.ts";

export interface AppendedLine {
  readonly offset: number;
  readonly length: number;
  /** Resolves once the line, and every line before it, survives a power cut. */
  readonly durable: Promise<void>;
}

export interface JournalWriter {
  append(entry: Entry): AppendedLine;
  read(offset: number, length: number): Settled;
  /** Resolves when everything is on disk and the file is closed; rejects if a line could not be written. */
  close(): Promise<void>;
}

/**
 * Opens a journal to write after `end`, the end of its last complete line. After each sync the file must have exactly
 * the length of what this writer wrote: if another run writes to it too, both notice before they send anything.
 */
export function openJournal(path: string, end: number): JournalWriter {
  const file = openFile(path, end);
  const commit = createCommit(path, file, end);
  const group = createGroupCommit<string, void>(commit.run);
  let next = end;
  return {
    append: (entry) => {
      const line = `${JSON.stringify(entry)}\n`;
      const [offset, length] = [next, Buffer.byteLength(line)];
      next += length;
      const durable = group.add(line);
      // A failure must not end the process if nothing waits for this line.
      durable.catch(() => undefined);
      return { offset, length, durable };
    },
    read: (offset, length) => readSettled(path, file, offset, length),
    close: async () => {
      await group.settled();
      closeSync(file);
      commit.throwIfFailed();
    },
  };
}

function openFile(path: string, end: number): number {
  const file = openSync(path, constants.O_RDWR | constants.O_APPEND);
  try {
    if (fstatSync(file).size > end) ftruncateSync(file, end);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

interface Commit {
  readonly run: (lines: readonly string[]) => Promise<PromiseSettledResult<void>[]>;
  readonly throwIfFailed: () => void;
}

const sync = promisify(fdatasync);

function createCommit(path: string, file: number, end: number): Commit {
  let size = end;
  let failure: PaylinkError | undefined;
  const throwIfFailed = (): void => {
    if (failure !== undefined) throw failure;
  };
  return {
    throwIfFailed,
    run: async (lines) => {
      // Nothing may follow half a line: the next run removes the half, and reads every line before it.
      throwIfFailed();
      const bytes = Buffer.from(lines.join(""));
      size += bytes.length;
      try {
        for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
        await sync(file);
        const found = fstatSync(file);
        if (found.size !== size || found.nlink === 0) throw sharedJournal(path);
        return lines.map(() => ({ status: "fulfilled", value: undefined }));
      } catch (error) {
        failure = error instanceof PaylinkError ? error : unwritableJournal(path, error);
        throw failure;
      }
    },
  };
}

const sharedJournal = (path: string): PaylinkError =>
  new PaylinkError("already_running", "Another run is also sending this list. This run stops.", {
    details: { journal: path },
  });

const unwritableJournal = (path: string, error: unknown): PaylinkError =>
  new PaylinkError("file_unwritable", `The journal ${path} cannot be written: ${systemReason(error)}.`, {
    hint: "Nothing is sent without it. Free some disk space, then run the same command again to send the rest.",
    cause: error,
  });
