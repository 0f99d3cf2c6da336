/** Lets one run at a time send a list: a lock file that names its process, and has no effect once that process has ended. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { PaylinkError } from "../../domain/errors.ts";
import { hasCode } from "../../domain/system-reason.ts";

/** The id of this process, and whether another process is running. */
export interface Processes {
  readonly own: number;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * Takes the lock and returns the function that releases it. Replaces a lock that a killed run left behind. If two runs
 * replace it at the same time, both notice in the journal before they send anything.
 */
export function takeLock(path: string, processes: Processes): () => void {
  const holder = lockHolder(path, processes);
  if (holder !== undefined)
    throw new PaylinkError("already_running", `Process ${holder} is sending this list now.`, {
      hint: `Wait until it has ended. If process ${holder} is not paylink, delete ${path}.`,
    });
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, String(processes.own), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    throw new PaylinkError("already_running", "Another run has just started to send this list.", {
      cause: error,
    });
  }
  return () => rmSync(path, { force: true });
}

/** The running process that holds the lock; undefined if it is free. */
export function lockHolder(path: string, { own, isRunning }: Processes): number | undefined {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    // After a container restarts, this process may have the id of the killed one.
    return Number.isSafeInteger(pid) && pid > 0 && pid !== own && isRunning(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}
