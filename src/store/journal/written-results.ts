/** Remembers the digests of the results files that paylink wrote, so that it overwrites no other file. */
import { createHash, hash } from "node:crypto";
import { appendFileSync, createReadStream, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { hasCode } from "../../domain/system-reason.ts";

export interface WrittenResults {
  /** Whether the file has the bytes that paylink wrote, or does not exist. */
  readonly mayReplace: (path: string) => Promise<boolean>;
  /** Call it before the file is replaced: a kill in between must leave a file that the next run may replace. */
  readonly record: (path: string, digest: string) => void;
}

export function openWrittenResults(folder: string): WrittenResults {
  const recordOf = (path: string): string =>
    join(folder, hash("sha256", join(realpathSync(dirname(path)), basename(path))));
  return {
    mayReplace: async (path) => {
      const digest = await digestOfFile(path);
      return digest === undefined || linesOf(recordOf(path)).includes(digest);
    },
    record: (path, digest) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      appendFileSync(recordOf(path), `${digest}\n`, { mode: 0o600 });
    },
  };
}

async function digestOfFile(path: string): Promise<string | undefined> {
  const digest = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) digest.update(chunk as Uint8Array);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  return digest.digest("hex");
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}
