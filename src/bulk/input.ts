/** Opens a list for several passes: the file itself, or a private copy of standard input. */
import { createReadStream, createWriteStream, mkdirSync, realpathSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { PaylinkError } from "../domain/errors.ts";
import { systemReason } from "../domain/system-reason.ts";
import type { OpenBytes } from "./rows.ts";

export interface Input {
  /** The real path of the file; "-" for standard input. */
  readonly path: string;
  readonly open: OpenBytes;
  close(): Promise<void>;
}

/** Throws `file_unreadable`. */
export async function fileInput(path: string): Promise<Input> {
  try {
    const handle = await open(path, "r");
    const isFile = (await handle.stat()).isFile();
    await handle.close();
    if (!isFile) throw new Error("it is not a file");
    return { path: realpathSync(path), open: () => createReadStream(path), close: async () => undefined };
  } catch (error) {
    throw new PaylinkError(
      "file_unreadable",
      `Cannot read ${path}: ${systemReason(error)}. Nothing was sent.`,
      { cause: error },
    );
  }
}

/** Copies standard input to disk: all rows are checked before the first is sent, and stdin can be read only once. */
export async function spooledInput(
  stdin: AsyncIterable<Uint8Array>,
  folder: string,
  id: string,
): Promise<Input> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${id}.spool`);
  const remove = (): Promise<void> => rm(path, { force: true });
  try {
    await pipeline(Readable.from(stdin), createWriteStream(path, { mode: 0o600, flags: "wx" }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path: "-", open: () => createReadStream(path), close: remove };
}
