/** One writer at a time: a lock file beside what is written, which a killed holder does not keep for ever. */
import { closeSync, linkSync, openSync, statSync, unlinkSync } from "node:fs";
import { PaylinkError } from "../../domain/errors.ts";

/** Milliseconds between two looks at a lock that somebody else holds. */
const PAUSE = 10;
/** A write takes milliseconds: a lock that stays the same for so many looks has no holder any more. */
const STALE_LOOKS = 300;
const MAX_LOOKS = 1500;

/** Runs the action while no other process runs one under the same lock. */
export function withLock<T>(path: string, action: () => T): T {
  acquire(path);
  try {
    return action();
  } finally {
    unlinkSync(path);
  }
}

function acquire(path: string): void {
  let seen: string | undefined;
  let same = 0;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    if (isMade(() => closeSync(openSync(path, "wx", 0o600)))) return;
    const held = identityOf(path);
    same = held !== undefined && held === seen ? same + 1 : 0;
    seen = held;
    if (same >= STALE_LOOKS && held !== undefined) breakLock(path, held);
    sleep(PAUSE);
  }
  throw new PaylinkError("file_unreadable", `${path} stays locked by another run of paylink.`, {
    hint: "If no other paylink is running, remove that file and run this again.",
  });
}

/**
 * Of several that find the same lock stale only one may remove it, or the second would remove the first one's new lock:
 * the link is made once, and counts only where it leads to the very file that was found stale.
 */
function breakLock(path: string, stale: string): void {
  const claim = `${path}.stale`;
  if (!isMade(() => linkSync(path, claim))) return;
  if (identityOf(claim) === stale) unlinkSync(path);
  unlinkSync(claim);
}

/** Which file it is, whatever it is called; undefined where there is none. */
function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.ino} ${stat.mtimeMs}`;
}

/** False where the name is taken, or what it should lead to is gone. */
function isMade(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "EEXIST" || error.code === "ENOENT"))
      return false;
    throw error;
  }
}

/** The settings are written synchronously, so waiting for them is too. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
