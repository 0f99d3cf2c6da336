/** SQLite as this project opens it: Node's own driver, or on Node 20 the package with the same API. */
import { closeSync, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { hint, PaylinkError } from "../domain/errors.ts";
import { messageOf, systemReason } from "../domain/system-reason.ts";
import { makeFolder } from "./folders.ts";

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

interface Driver {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => Connection;
}

/** Milliseconds to wait for the transaction of another process. */
const BUSY_TIMEOUT = 10_000;

/**
 * Bytes of the log of commits when it is copied into the database, and the most that it keeps afterwards: a long reader makes it
 * grow. To cut it shorter would make the next syncs write its new length too.
 */
const LOG_SIZE = 8 * 1024 * 1024;

/** The result code of SQLite for a lock that somebody else holds. */
const SQLITE_BUSY = 5;

/** A database without a file. */
export const IN_MEMORY = ":memory:";

/**
 * Opens a database for several processes at once: readers never wait (WAL), and commits survive a power cut
 * (synchronous=FULL). `tables` creates them in a new file; `version` is theirs. `pageSize` is for a new database; `check` throws
 * if the file is not the one that is expected; `damage` is the error of a damaged file.
 */
export function openDatabase(
  path: string,
  tables: string,
  {
    version = 1,
    pageSize = 4096,
    check = () => undefined,
    damage = damaged,
  }: {
    readonly version?: number;
    readonly pageSize?: number;
    readonly check?: (database: Connection) => void;
    readonly damage?: typeof damaged;
  } = {},
): Database {
  const name = path === IN_MEMORY ? path : createFile(path);
  const opened = fileAt(path);
  const database = connect(guard(path, damage), () => new (driver().DatabaseSync)(name));
  try {
    database.exec(`PRAGMA busy_timeout=${BUSY_TIMEOUT}; PRAGMA journal_size_limit=${LOG_SIZE}`);
    // A database keeps the page size that it was created with, and whether its free pages can be given back singly. To set
    // the latter again would be a write: readers would wait for writers.
    if (database.prepare("PRAGMA page_count").get()?.["page_count"] === 0)
      database.exec(`PRAGMA page_size=${pageSize}; PRAGMA auto_vacuum=INCREMENTAL`);
    useLog(database);
    database.exec(`PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=${LOG_SIZE / pageSize}`);
    check(database);
    createTables(database, path, tables, version);
  } catch (error) {
    database.close();
    throw error;
  }
  // Where the path is a link, SQLite keeps its other files beside the file that it leads to.
  const present = (suffix: string): string | undefined => fileAt(suffix === "" ? path : name + suffix);
  const files = DATABASE_FILES.map(present);
  return {
    ...database,
    path,
    isInPlace: () =>
      opened === files[0] &&
      // SQLite writes on after the file was emptied, and deletes the log of an empty file when it is opened again.
      statSync(path, { throwIfNoEntry: false })?.size !== 0 &&
      DATABASE_FILES.every((suffix, index) => files[index] !== undefined && present(suffix) === files[index]),
  };
}

/**
 * Opens a database to read it. Sets nothing and creates nothing, so that it needs no right to write: SQLite is told that the file
 * does not change where it has no log, since it would make one to look for changes. Such a database is in place until there is a
 * log. `version` is that of its tables.
 */
export function openReadOnly(path: string, version: number): Database {
  const guarded = guard(path);
  const name = readableFile(path);
  const log = (): number => statSync(`${name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const isUnchanging = log() === 0;
  const present = (): string =>
    DATABASE_FILES.map((suffix) => fileAt(suffix === "" ? path : name + suffix)).join();
  const before = fileAt(path);
  const database = connect(guarded, () => openedToRead(name, isUnchanging));
  try {
    database.exec(`PRAGMA busy_timeout=${BUSY_TIMEOUT}`);
    const found = versionOf(database);
    if (found > version) throw newerVersion(path, found, version);
  } catch (error) {
    database.close();
    throw error;
  }
  const files = present();
  return {
    ...database,
    path,
    isInPlace: () => (isUnchanging ? log() === 0 && fileAt(path) === before : present() === files),
  };
}

/** Its path without links. SQLite would not say why it cannot open it. */
function readableFile(path: string): string {
  try {
    closeSync(openSync(path, "r"));
    return realpathSync(path);
  } catch (error) {
    throw unreadable(path, `cannot be opened: ${systemReason(error)}`, error);
  }
}

function openedToRead(name: string, isUnchanging: boolean): Connection {
  const { DatabaseSync } = driver();
  const url = pathToFileURL(name);
  url.searchParams.set("immutable", "1");
  if (isUnchanging)
    try {
      return new DatabaseSync(url.href, { readOnly: true });
    } catch {
      // Node 22.13 and 22.14 take no URL.
    }
  return new DatabaseSync(name, { readOnly: true });
}

function connect(guarded: <T>(call: () => T) => T, open: () => Connection): Connection {
  const connection = guarded(open);
  return {
    exec: (sql) => guarded(() => connection.exec(sql)),
    prepare: (sql) => {
      const statement = guarded(() => connection.prepare(sql));
      // They keep a reference to the connection: Node 20 would collect it, and close it while the statement is in use.
      return {
        run: (...values) => guarded(() => statement.run(...values)),
        get: (...values) => guarded(() => statement.get(...values)),
        all: (...values) => guarded(() => statement.all(...values)),
      };
    },
    close: () => connection.close(),
  };
}

/** Where several programs open a new file at once, SQLite does not wait for the others here, as it does for any other lock. */
function useLog(database: Connection): void {
  try {
    database.exec("PRAGMA journal_mode=WAL");
  } catch (error) {
    if (!isLocked(error)) throw error;
    database.exec("BEGIN EXCLUSIVE; COMMIT");
    useLog(database);
  }
}

const versionOf = (database: Connection): number =>
  Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);

const newerVersion = (path: string, found: number, known: number): PaylinkError =>
  new PaylinkError(
    "file_unreadable",
    `${path} was written by a newer paylink: it has schema ${found}, and this version knows ${known}.`,
    { hints: [hint`Update paylink, or name another file with --db.`] },
  );

function createTables(database: Connection, path: string, tables: string, version: number): void {
  const present = versionOf(database);
  if (present > version) throw newerVersion(path, present, version);
  if (present === version) return;
  transaction(database, () => {
    // Another process may have created them in the meantime.
    if (versionOf(database) === version) return;
    database.exec(tables);
    database.exec(`PRAGMA user_version=${version}`);
  });
}

/** Runs a function in one transaction, which takes the write lock at once. */
export function transaction<T>(database: Pick<Database, "exec">, work: () => T): T {
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
 * Locks a file until the returned function is called, or until this process ends, however it ends: the system keeps the
 * lock. Undefined if somebody else has it.
 */
export function lockFile(path: string): (() => void) | undefined {
  const guarded = guard(path);
  const lock = guarded(() => new (driver().DatabaseSync)(createFile(path)));
  try {
    lock.exec("PRAGMA busy_timeout=0; BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return undefined;
    return guarded(() => {
      throw error;
    });
  }
}

/** The SQLite of Node 20, which has none, with the API of node:sqlite. Its users install it beside paylink. */
const PACKAGE = "@photostructure/sqlite";

/** Loaded at run time: one is built into Node and the other is native code, so neither can be bundled. */
function driver(): Driver {
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
      hint`In a project, leave out --global. With pnpm, add both in one command. The install script that npm warns of is not needed.`,
    ],
  });
}

/** A database and the files that SQLite keeps beside it: the log of commits and its index. */
export const DATABASE_FILES = ["", "-wal", "-shm"];

/** The identity of the file at a path. No other file has it while this one is open. */
function fileAt(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/**
 * Creates it for the owner only, also where a link leads to it: SQLite would let everybody read it. Its other files get the
 * mode of this one. Returns its path without links.
 */
function createFile(path: string): string {
  try {
    makeFolder(dirname(path));
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    return realpathSync(path);
  } catch (error) {
    throw unreadable(path, `cannot be opened: ${systemReason(error)}`, error);
  }
}

const unreadable = (path: string, what: string, cause?: unknown): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} ${what}.`, { cause });

const unwritable = (path: string, reason: string): PaylinkError =>
  new PaylinkError("file_unwritable", `The database ${path} cannot be written: ${reason}.`);

/** A file whose content is not what paylink wrote. */
export const damaged = (path: string, reason: string): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} is damaged, or is not paylink's: ${reason}.`, {
    hints: [
      hint`It may be possible to recover it: keep a copy of the file.`,
      hint`To continue with a new database, move the file away.`,
    ],
  });

type Explain = (path: string, reason: string, cause: unknown) => PaylinkError;

const LOCKED = /is locked/;

/** By SQLite's messages, because not every driver gives its result codes. */
const FAILURES: readonly [message: RegExp, failure: Explain][] = [
  // A missing table or column: a database of the same version, but of another program.
  [/malformed|not a database|^no such (?:table|column)/, damaged],
  [/readonly database|is full/, unwritable],
  [LOCKED, (path, reason, cause) => unreadable(path, `is in use by another program: ${reason}`, cause)],
  [
    /disk I\/O error|unable to open/,
    (path, reason) => unreadable(path, `cannot be opened or read: ${reason}`),
  ],
];

/** Runs one call of SQLite. Its failures name the file. */
const guard =
  (path: string, damage = damaged) =>
  <T>(call: () => T): T => {
    try {
      return call();
    } catch (error) {
      const reason = messageOf(error);
      const [, failure] = FAILURES.find(([message]) => message.test(reason)) ?? [];
      throw (failure === damaged ? damage : failure)?.(path, reason, error) ?? error;
    }
  };

/** Whether another program held the lock for as long as a statement waits. */
export const isLocked = (error: unknown): boolean =>
  error instanceof PaylinkError && LOCKED.test(messageOf(error.cause));
