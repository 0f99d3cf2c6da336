/** Reads and writes the files of a command line, and reads standard input for `-`. */
import type { Readable } from "node:stream";
import { PaylinkError } from "../domain/errors.ts";
import { shownPath } from "../values/secrets.ts";
import { hasCode, systemReason } from "../values/system-reason.ts";

/**
 * Files and standard input, as bytes; `-` is standard input. `place` is the flag or setting that names the file. Throws
 * `file_unreadable`.
 */
export type ReadFile = (path: string, place?: string) => Promise<Uint8Array>;

/** The files that the command line names, and standard input. */
export interface FilesContext {
  readonly readFile: ReadFile;
  /** `place` is the flag that names the file. Throws `file_unwritable`. */
  readonly writeFile: (path: string, text: string, place: string) => Promise<void>;
  /** The same for a new file with these mode bits, which appears whole. Resolves with false if the file exists. */
  readonly createFile: (path: string, text: string, place: string, mode: number) => Promise<boolean>;
  /** Standard input, to be read once. */
  readonly stdin: AsyncIterable<Uint8Array>;
}

export interface StandardInput extends Readable {
  readonly isTTY?: boolean;
}

interface StdinParts {
  /** Node opens standard input when it is first used. */
  readonly open: () => StandardInput;
  /** Ends the read, and gives the reason. */
  readonly signal: AbortSignal;
  /** Tells a person at a terminal that the command waits for input. */
  readonly note: (text: string) => void;
}

export interface Stdin extends AsyncIterable<Uint8Array> {
  /** Whether a command has read it: then no question can be answered there. */
  readonly wasRead: boolean;
}

/** Standard input, to be read once. */
export function createStdin({ open, signal, note }: StdinParts): Stdin {
  let wasRead = false;
  return {
    get wasRead() {
      return wasRead;
    },
    async *[Symbol.asyncIterator]() {
      wasRead = true;
      const stream = open();
      if (stream.isTTY === true) note("Reading from stdin; Ctrl-D to end.");
      const stop = (): void => void stream.destroy();
      signal.addEventListener("abort", stop, { once: true });
      try {
        signal.throwIfAborted();
        yield* stream;
      } finally {
        signal.removeEventListener("abort", stop);
        signal.throwIfAborted();
      }
    },
  };
}

export function createReadFile(stdin: AsyncIterable<Uint8Array>, signal: AbortSignal): ReadFile {
  return async (path, place) => {
    try {
      if (path === "-") return await readAll(stdin);
      const { createReadStream } = await import("node:fs");
      return await readAll(createReadStream(path, { signal }));
    } catch (error) {
      signal.throwIfAborted();
      const file = path === "-" ? "stdin" : shownPath(path);
      const name = place === undefined ? file : `${place} ${file}`;
      throw new PaylinkError("file_unreadable", `Cannot read ${name}: ${systemReason(error)}.`, {
        cause: error,
      });
    }
  };
}

/** Bytes. A device or a pipe may never end. */
const MAX_INPUT = 128 * 1024 * 1024;

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > MAX_INPUT) throw new Error("it is longer than 128 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export const writeFile: FilesContext["writeFile"] = async (path, text, place) => {
  const { writeFile: write } = await import("node:fs/promises");
  try {
    await write(path, text);
  } catch (error) {
    throw unwritableFile(path, place, error);
  }
};

/** Written under another name and linked, so that nobody reads half of it, and two processes do not both create it. */
export const createFileWith =
  (newId: () => string): FilesContext["createFile"] =>
  async (path, text, place, mode) => {
    const draft = `${path}.${newId()}`;
    const { link, rm, writeFile: write } = await import("node:fs/promises");
    try {
      await write(draft, text, { mode, flag: "wx", flush: true });
      await link(draft, path);
      return true;
    } catch (error) {
      if (hasCode(error, "EEXIST")) return false;
      throw unwritableFile(path, place, error);
    } finally {
      await rm(draft, { force: true });
    }
  };

function unwritableFile(path: string, place: string, cause: unknown): PaylinkError {
  const reason = hasCode(cause, "ENOENT") ? "its folder does not exist" : systemReason(cause);
  return new PaylinkError("file_unwritable", `Cannot write ${place} ${path}: ${reason}.`, { cause });
}
