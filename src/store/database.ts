/** A SQLite database as this project uses one, and its transactions. */

export type Value = null | number | bigint | string | Uint8Array;

/** The part of the node:sqlite API that is used here; both drivers have it. */
export interface Statement {
  run(...values: readonly Value[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: readonly Value[]): Record<string, Value> | undefined;
  all(...values: readonly Value[]): Record<string, Value>[];
}

/** Failures of SQLite are thrown as `file_unreadable` or `file_unwritable`. */
export interface Database {
  readonly path: string;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** Whether the files that were opened are still at the path: not removed, renamed, replaced or emptied. */
  isInPlace(): boolean;
  close(): void;
}

export type Connection = Pick<Database, "exec" | "prepare" | "close">;

/** A database without a file. */
export const IN_MEMORY = ":memory:";

/** A database and the files that SQLite keeps beside it: the log of commits and its index. */
export const DATABASE_FILES = ["", "-wal", "-shm"];

/** Runs a function in one transaction, which takes the write lock at once. */
export function inTransaction<T>(database: Pick<Database, "exec">, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** On a full disk SQLite rolls back by itself: rolling back again fails, and would hide the first error. */
export function rollBack(database: Pick<Database, "exec">): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    return;
  }
}

/**
 * Closes a database after it has emptied the log of commits: kept statements keep the log from being removed, and a copy of the file
 * alone must have everything. If another program reads the log now, that one empties it; on a full or read-only disk, it stays.
 */
export function closeWithLog(database: Pick<Database, "exec" | "close">): void {
  try {
    database.exec("PRAGMA busy_timeout=0; PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The log has what was committed. An error here would hide what the command ends with.
  } finally {
    database.close();
  }
}
