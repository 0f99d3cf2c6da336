/** Lets one process at a time write the settings: a lock file, which is removed if a killed process left it behind. */
import { closeSync, linkSync, openSync, statSync, unlinkSync } from "node:fs";
import { PaylinkError } from "../../domain/errors.ts";
import { hasCode } from "../file-errors.ts";

/** Milliseconds between two tries. */
const PAUSE = 10;
/** A write takes milliseconds: the holder of a lock that is the same after this many tries is gone. */
const STALE_TRIES = 300;
const MAX_TRIES = 1500;

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
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (isCreated(() => closeSync(openSync(path, "wx", 0o600)))) return;
    const held = identityOf(path);
    same = held !== undefined && held === seen ? same + 1 : 0;
    seen = held;
    if (same >= STALE_TRIES && held !== undefined) breakLock(path, held);
    sleep(PAUSE);
  }
  throw new PaylinkError("file_unreadable", `${path} is locked by another run of paylink.`, {
    hint: "If no other paylink is running, delete that file and run this again.",
  });
}

/**
 * If several processes find the same lock stale, only one may delete it: the second would delete the new lock of the
 * first. Only one of them can create the link, which must point to the file that was found stale.
 */
function breakLock(path: string, stale: string): void {
  const claim = `${path}.stale`;
  if (!isCreated(() => linkSync(path, claim))) return;
  if (identityOf(claim) === stale) unlinkSync(path);
  unlinkSync(claim);
}

/** Identifies the file itself, whatever its name; undefined if it does not exist. */
function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.ino} ${stat.mtimeMs}`;
}

/** False if the name exists already, or the file to link to is gone. */
function isCreated(create: () => void): boolean {
  try {
    create();
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST", "ENOENT")) return false;
    throw error;
  }
}

/** Blocks: the settings are written synchronously. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
