/** Reads the files of a command line, and standard input for `-`. */
import { readFile } from "node:fs/promises";
import { addAbortSignal, type Readable } from "node:stream";
import type { ReadFile } from "../context.ts";
import { messageOf, PaylinkError } from "../domain/errors.ts";

/** The signal ends reading standard input, which may never end by itself. */
export function createReadFile(stdin: () => Readable, signal: AbortSignal): ReadFile {
  return async (path) => {
    if (path === "-") {
      const bytes = readAll(addAbortSignal(signal, stdin()));
      return bytes.catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      });
    }
    try {
      return await readFile(path);
    } catch (error) {
      throw new PaylinkError("file_unreadable", `Cannot read ${path}: ${messageOf(error)}`, { cause: error });
    }
  };
}

async function readAll(stream: Readable): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}
