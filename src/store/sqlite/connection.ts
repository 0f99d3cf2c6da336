/** A connection to a SQLite database: the driver, its failures in our words, and transactions. */
import { createRequire } from "node:module";
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { messageOf } from "../../values/system-reason.ts";
import type { Value } from "../sql.ts";

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
export interface Connection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** A database that was opened. */
export interface Database extends Connection {
  readonly path: string;
  /** The version of its tables. */
  readonly version: number;
  /** Whether the files that were opened are still at the path: not removed, renamed, replaced or emptied. */
  isInPlace(): boolean;
}

/** A database without a file. */
export const IN_MEMORY = ":memory:";

/** A database and the files that SQLite keeps beside it: the log of commits and its index. */
export const DATABASE_FILES = ["", "-wal", "-shm"];

interface Driver {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => Connection;
}

/** The SQLite of Node 20, which has none, with the API of node:sqlite. Its users install it beside paylink. */
const PACKAGE = "@photostructure/sqlite";

/** Loaded at run time: one is built into Node and the other is native code, so neither can be bundled. */
export function driver(): Driver {
  const require = createRequire(import.meta.url);
  for (const name of ["node:sqlite", PACKAGE]) {
    try {
      return require(name) as Driver;
    } catch {
      continue;
    }
  }
  throw new PaylinkError("usage", "This version of Node has no SQLite, which paylink needs to store data.", {
    hints: [
      hint`Use Node 22.13 or later.`,
      hint`Or install SQLite beside paylink: npm install --global ${PACKAGE}@1`,
      hint`In a project, leave out --global. With npx, name both: npx -p paylink -p ${PACKAGE}@1 paylink <command>`,
      hint`With pnpm, add both in one command. The install script that npm warns of is not needed.`,
    ],
  });
}

export const unreadable = (path: string, what: string, cause?: unknown): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} ${what}.`, { cause });

export const unwritableDatabase = (path: string, reason: string, cause?: unknown): PaylinkError =>
  new PaylinkError("file_unwritable", `The database ${path} cannot be written: ${reason}.`, { cause });

/** A file whose content is not what paylink wrote. */
export const damaged = (path: string, reason: string): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} is damaged, or is not paylink's: ${reason}.`, {
    hints: [
      hint`It may be possible to recover it: keep a copy of the file.`,
      hint`To continue with a new database, move the file away.`,
    ],
  });

type MakeStoreFailure = (path: string, reason: string, cause: unknown) => PaylinkError;

const LOCKED = /is locked/;

/** By SQLite's messages, because not every driver gives its result codes. */
const SQLITE_FAILURES: readonly [message: RegExp, failure: MakeStoreFailure][] = [
  // A missing table or column: a database of the same version, but of another program.
  [/malformed|not a database|unsupported file format|^no such (?:table|column)/, damaged],
  [/readonly database|is full/, unwritableDatabase],
  [LOCKED, (path, reason, cause) => unreadable(path, `is in use by another program: ${reason}`, cause)],
  [
    /disk I\/O error|unable to open/,
    (path, reason) => unreadable(path, `cannot be opened or read: ${reason}`),
  ],
];

type Guard = <T>(call: () => T) => T;

/** Runs one call of SQLite. Its failures name the file. */
export const guard =
  (path: string, damage = damaged): Guard =>
  (call) => {
    try {
      return call();
    } catch (error) {
      const reason = messageOf(error);
      const [, failure] = SQLITE_FAILURES.find(([message]) => message.test(reason)) ?? [];
      throw (failure === damaged ? damage : failure)?.(path, reason, error) ?? error;
    }
  };

/** Whether another program held the lock for as long as a statement waits. */
export const isLocked = (error: unknown): boolean =>
  error instanceof PaylinkError && LOCKED.test(messageOf(error.cause));

/** A connection whose calls are guarded. */
export function guardedConnection(run: Guard, open: () => Connection): Connection {
  const connection = run(open);
  return {
    exec: (sql) => run(() => connection.exec(sql)),
    prepare: (sql) => {
      const statement = run(() => connection.prepare(sql));
      // They keep a reference to the connection: Node 20 would collect it, and close it while the statement is in use.
      return {
        run: (...values) => run(() => statement.run(...values)),
        get: (...values) => run(() => statement.get(...values)),
        all: (...values) => run(() => statement.all(...values)),
      };
    },
    close: () => connection.close(),
  };
}

/** Runs a function in one transaction, which takes the write lock at once. */
export function inTransaction<T>(database: Pick<Connection, "exec">, work: () => T): T {
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
export function rollBack(database: Pick<Connection, "exec">): void {
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
export function closeWithLog(database: Pick<Connection, "exec" | "close">): void {
  try {
    database.exec("PRAGMA busy_timeout=0; PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The log has what was committed. An error here would hide what the command ends with.
  } finally {
    database.close();
  }
}
