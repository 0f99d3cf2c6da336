/** The file of a database: which one it is, who may read it, the version of its tables, and a lock on it. */
import { closeSync, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { systemReason } from "../domain/system-reason.ts";
import type { Connection } from "./database.ts";
import { unreadable } from "./database-failures.ts";
import { makeFolder } from "./folders.ts";

/** Milliseconds to wait for the transaction of another process. */
export const BUSY_TIMEOUT = 10_000;

/** The identity of the file at a path. No other file has it while this one is open. */
export function fileAt(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/**
 * Creates it for the owner only, also where a link leads to it: SQLite would let everybody read it. Its other files get the
 * mode of this one. Returns its path without links.
 */
export function createFile(path: string): string {
  try {
    makeFolder(dirname(path));
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    return realpathSync(path);
  } catch (error) {
    throw unreadable(path, `cannot be opened: ${systemReason(error)}`, error);
  }
}

export const versionOf = (database: Connection): number =>
  Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);

export const newerVersion = (path: string, found: number, known: number): PaylinkError =>
  new PaylinkError(
    "file_unreadable",
    `${path} was written by a newer paylink: it has schema ${found}, and this version knows ${known}.`,
    { hints: [hint`Update paylink, or name another file with --db.`] },
  );
