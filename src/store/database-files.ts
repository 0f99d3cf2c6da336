/** The files of a SQLite database: who may read them, and whether they are still those that were opened. */
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** A database and the files that SQLite keeps beside it: the log of commits and its index. */
export const DATABASE_FILES = ["", "-wal", "-shm"];

/** Which file a path leads to. No other file has the same identity for as long as this one is open. */
export function fileAt(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** SQLite would create a file that everybody can read. Its other files get the mode of this one. */
export function createFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return path;
}
