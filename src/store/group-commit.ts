/** Group commit: everything written in one turn of the event loop shares a transaction, and so one sync of the disk. */
import type { Database } from "./database.ts";

export interface GroupCommit {
  /** To be called before each write. */
  begin(): void;
  /** Resolves when everything written so far is durable; rejects where it could not be made so. */
  readonly committed: () => Promise<void>;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export function createGroupCommit(database: Database): GroupCommit {
  let open = false;
  let waiters: Waiter[] = [];
  const commit = (): void => {
    const group = waiters;
    waiters = [];
    open = false;
    try {
      database.exec("COMMIT");
      for (const { resolve } of group) resolve();
    } catch (error) {
      rollBack(database);
      for (const { reject } of group) reject(error);
    }
  };
  return {
    begin: () => {
      if (open) return;
      database.exec("BEGIN IMMEDIATE");
      open = true;
      setImmediate(commit);
    },
    committed: () =>
      open ? new Promise((resolve, reject) => waiters.push({ resolve, reject })) : Promise.resolve(),
  };
}

/** After a full disk SQLite has rolled back by itself, and a second time is an error that would hide the first. */
function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    return;
  }
}
