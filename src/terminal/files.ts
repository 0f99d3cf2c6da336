/** Reads the files that a command line names, and standard input where it says `-`. */
import { promises } from "node:fs";
import type { Readable } from "node:stream";
import type { ReadFile } from "../context.ts";
import { PaylinkError } from "../domain/errors.ts";

export function createReadFile(stdin: () => Readable): ReadFile {
  return async (path) => {
    if (path === "-") return readAll(stdin());
    try {
      return await promises.readFile(path);
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
