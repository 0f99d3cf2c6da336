/** A lock on a file, which ends with its process. */
import { guard, isLocked } from "./database-failures.ts";
import { createFile } from "./database-file.ts";
import { driver } from "./sqlite-driver.ts";

/**
 * Locks a file until the returned function is called, or until this process ends, however it ends: the system keeps the
 * lock. Undefined if somebody else has it.
 */
export function lockFile(path: string): (() => void) | undefined {
  const guarded = guard(path);
  const lock = guarded(() => new (driver().DatabaseSync)(createFile(path)));
  try {
    guarded(() => lock.exec("PRAGMA busy_timeout=0; BEGIN EXCLUSIVE"));
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (isLocked(error)) return undefined;
    throw error;
  }
}
