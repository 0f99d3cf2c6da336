/** A lock beside a file: processes that change the file at the same time do not undo each other's changes. */
import {
  closeSync,
  fstatSync,
  linkSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../values/system-reason.ts";

/** Milliseconds between two tries. */
const LOCK_RETRY = 10;

/** Milliseconds without a sign of its holder, after which a lock counts as abandoned; and between two signs of a holder that waits. */
const LONGEST_SILENCE = 2_000;
const SIGN = 500;

/**
 * Does `work` while no other process does. It is synchronous: neither a signal nor a time limit ends it halfway. Throws the failure of the
 * file system if the lock cannot be made.
 */
export async function withFileLock<T>(path: string, work: () => T): Promise<T> {
  const release = await lockBeside(path, sleep);
  try {
    return work();
  } finally {
    release();
  }
}

/** Waits, by `pause`, until no other process holds the lock. Returns what releases it. */
export async function lockBeside(
  path: string,
  pause: (milliseconds: number) => Promise<void>,
): Promise<() => void> {
  const lock = `${path}.lock`;
  const held = await takeLock(lock, pause);
  const signs = setInterval(() => writeSync(held, ".", 0), SIGN).unref();
  return () => {
    clearInterval(signs);
    // That of a process that was suspended may have been taken away.
    if (statSync(lock, { throwIfNoEntry: false })?.ino === fstatSync(held).ino) rmSync(lock, { force: true });
    closeSync(held);
  };
}

async function takeLock(lock: string, pause: (milliseconds: number) => Promise<void>): Promise<number> {
  for (let seen: Seen | undefined; ;) {
    try {
      return openSync(lock, "wx", 0o600);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    seen = lookAt(lock, seen);
    if (seen !== undefined && performance.now() - seen.since > LONGEST_SILENCE)
      removeAbandoned(lock, seen.id);
    await pause(LOCK_RETRY);
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
