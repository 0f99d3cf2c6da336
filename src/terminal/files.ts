/** Reads the files of a command line, and standard input for `-`. */
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { ReadFile } from "../context.ts";
import { messageOf, PaylinkError } from "../domain/errors.ts";

export function createReadFile(stdin: () => Readable): ReadFile {
  return async (path) => {
    if (path === "-") return readAll(stdin());
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
