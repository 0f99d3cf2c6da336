/** A lock beside a file: commands that change the file at the same time do not undo each other's changes. */
import { closeSync, openSync, rmSync, statSync } from "node:fs";
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
    if (seen !== undefined && performance.now() - seen.since > LONGEST_HOLD) rmSync(lock, { force: true });
    await sleep(LOCK_RETRY);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** A lock, and since when this process has seen it: the clocks of a network drive may differ. */
interface Seen {
  readonly id: string;
  readonly since: number;
}

function lookAt(lock: string, before: Seen | undefined): Seen | undefined {
  const stats = statSync(lock, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const id = `${stats.ino} ${stats.mtimeMs}`;
  return before?.id === id ? before : { id, since: performance.now() };
}
