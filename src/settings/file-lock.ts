/** A lock beside a file: commands that change the file at the same time do not undo each other's changes. */
import { closeSync, linkSync, mkdtempSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../domain/system-reason.ts";

/** Milliseconds between two tries. */
const LOCK_RETRY = 10;

/** Milliseconds after which a lock counts as abandoned: its holder only reads and writes one small file. */
const LONGEST_HOLD = 2_000;

/**
 * Does `work` while no other process does. It is synchronous: neither a signal nor a time limit ends it halfway. Throws the failure of the
 * file system if the lock cannot be made.
 */
export async function withFileLock<T>(path: string, work: () => T): Promise<T> {
  const lock = `${path}.lock`;
  for (let seen: Seen | undefined; ;) {
    try {
      closeSync(openSync(lock, "wx", 0o600));
      break;
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    seen = lookAt(lock, seen);
    if (seen !== undefined && performance.now() - seen.since > LONGEST_HOLD) removeAbandoned(lock, seen.id);
    await sleep(LOCK_RETRY);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Removes the lock with this id alone: another waiter may have removed it since, and hold the lock now. That one is put back, so that
 * nobody else takes it.
 */
export function removeAbandoned(lock: string, id: string): void {
  const folder = mkdtempSync(`${lock}.`);
  const removed = join(folder, "lock");
  try {
    renameSync(lock, removed);
    if (lockId(removed) !== id) linkSync(removed, lock);
  } catch (error) {
    // Another waiter was faster.
    if (!hasCode(error, "ENOENT", "EEXIST")) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined if there is no lock. */
export function lockId(lock: string): string | undefined {
  const stats = statSync(lock, { throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.mtimeMs}`;
}

/** A lock, and since when this process has seen it: the clocks of a network drive may differ. */
interface Seen {
  readonly id: string;
  readonly since: number;
}

function lookAt(lock: string, before: Seen | undefined): Seen | undefined {
  const id = lockId(lock);
  if (id === undefined) return undefined;
  return before?.id === id ? before : { id, since: performance.now() };
}
