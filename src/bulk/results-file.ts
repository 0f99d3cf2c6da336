/** The file of the results: replaced as a whole, and only if paylink wrote its contents or `--force` is given. */
import { createHash } from "node:crypto";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { PaylinkError } from "../domain/errors.ts";
import { systemReason } from "../domain/system-reason.ts";
import type { WrittenResults } from "../store/journal/written-results.ts";
import type { Sink } from "./results.ts";

export interface ResultsFile {
  readonly path: string;
  readonly written: WrittenResults;
  /** Whether any file may be replaced. */
  readonly force: boolean;
}

/** Throws `usage` unless results can be written to the file. `input` is the list's own path. */
export async function requireWritable({ path, written, force }: ResultsFile, input: string): Promise<void> {
  const refuse = (reason: string, hint?: string): never => {
    throw new PaylinkError("usage", `--output ${path} ${reason}. Nothing was sent.`, { hint });
  };
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing !== undefined && realpathSync(path) === input) refuse("must not be the list itself");
  if (existing?.isFile() === false) refuse("must be a file");
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch {
    refuse("must be in a folder that paylink can write to");
  }
  if (force) return;
  const mayReplace = await written.mayReplace(path).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  if (!mayReplace)
    refuse(
      "exists already, and paylink did not write it or it was edited since",
      "To overwrite it: --force\nTo keep it, give another file: --output <file>",
    );
}

/**
 * Writes a draft and renames it, so that the file always has either all new results or all old ones. The draft is a new
 * file with a name of its own: it never follows a link that somebody put there.
 */
export function fileSink({ path, written, force }: ResultsFile, id: string): Sink {
  const draft = `${path}.${id}.part`;
  return async (chunks) => {
    const digest = createHash("sha256");
    const digesting = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of source) {
        digest.update(chunk);
        yield chunk;
      }
    };
    const file = await open(draft, "wx").catch((error: unknown) => {
      throw unwritable(path, error);
    });
    try {
      await pipeline(chunks, digesting, file.createWriteStream());
      if (!force && !(await written.mayReplace(path)))
        throw new Error("another program has changed the file");
      written.record(path, digest.digest("hex"));
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error instanceof PaylinkError ? error : unwritable(path, error);
    }
  };
}

const unwritable = (path: string, error: unknown): PaylinkError =>
  new PaylinkError("file_unwritable", `Cannot write the results to ${path}: ${systemReason(error)}.`, {
    hint: "The journal has all results. Run the same command again with another --output: no row is sent twice.",
    cause: error,
  });
