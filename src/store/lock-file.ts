/** A lock on a file, which ends with its process. */
import { guard } from "./database-failures.ts";
import { createFile } from "./database-file.ts";
import { driver } from "./sqlite-driver.ts";

/** The result code of SQLite for a lock that somebody else holds. */
const SQLITE_BUSY = 5;

/**
 * Locks a file until the returned function is called, or until this process ends, however it ends: the system keeps the
 * lock. Undefined if somebody else has it.
 */
export function lockFile(path: string): (() => void) | undefined {
  const guarded = guard(path);
  const lock = guarded(() => new (driver().DatabaseSync)(createFile(path)));
  try {
    lock.exec("PRAGMA busy_timeout=0; BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return undefined;
    return guarded(() => {
      throw error;
    });
  }
}
