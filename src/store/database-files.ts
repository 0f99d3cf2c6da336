/** The files of a SQLite database: their identity, and their creation for the owner only. */
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { hasCode } from "../domain/system-reason.ts";

/** A database and the files that SQLite keeps beside it: the log of commits and its index. */
export const DATABASE_FILES = ["", "-wal", "-shm"];

/** The identity of the file at a path. No other file has it while this one is open. */
export function fileAt(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** Creates it for the owner only: SQLite would let everybody read it. Its other files get the mode of this one. */
export function createFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  return path;
}
