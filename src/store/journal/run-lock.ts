/** Keeps two runs off one journal: a file that names the process at work, void once that process is gone. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { PaylinkError } from "../../domain/errors.ts";

/** This process, and whether another is running. */
export interface Processes {
  readonly own: number;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * Takes the lock and gives what lets go of it. A lock that a killed run left behind is taken over. Two runs that take
 * it over in the same instant find each other out in the journal itself, before either has sent anything.
 */
export function takeLock(path: string, { own, isRunning }: Processes): () => void {
  const holder = holderOf(path);
  // After a restart of a container the same id may be ours.
  if (holder !== undefined && holder !== own && isRunning(holder))
    throw new PaylinkError("already_running", `Process ${holder} is sending this list right now.`, {
      hint: `Wait until it has ended. If process ${holder} is not paylink, remove ${path}.`,
    });
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, String(own), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw new PaylinkError("already_running", "Another run has just begun to send this list.", {
      cause: error,
    });
  }
  return () => rmSync(path, { force: true });
}

function holderOf(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
