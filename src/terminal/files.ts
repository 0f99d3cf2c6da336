/** Reads the files that a command line names, and standard input where it says `-`. */
import { addAbortSignal, type Readable } from "node:stream";
import type { ReadFile } from "../context.ts";
import { PaylinkError } from "../domain/errors.ts";

/** Reading standard input ends with the signal: whoever types it may never end it. */
export function createReadFile(stdin: () => Readable, signal: AbortSignal): ReadFile {
  return async (path) => {
    if (path === "-")
      return readAll(addAbortSignal(signal, stdin())).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      });
    const { readFile } = await import("node:fs/promises");
    try {
      return await readFile(path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new PaylinkError("file_unreadable", `Cannot read ${path}: ${reason}`, { cause: error });
    }
  };
}

async function readAll(stream: Readable): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}
