/** Opens the file of a database: to write it, to read it without the right to write, or as a lock. */
import { closeSync, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { systemReason } from "../../values/system-reason.ts";
import { makeFolder } from "../folders.ts";
import {
  type Connection,
  damaged,
  type Database,
  DATABASE_FILES,
  driver,
  guard,
  guardedConnection,
  IN_MEMORY,
  inTransaction,
  isLocked,
  unreadable,
  unwritableDatabase,
} from "./connection.ts";

/** Milliseconds to wait for the transaction of another process. */
const BUSY_TIMEOUT = 10_000;

/**
 * Bytes of the log of commits when it is copied into the database: with 16 MB, a twentieth more is written for a webhook (listen bench).
 * A long reader makes it grow; afterwards it keeps no more. To cut it shorter would make the next syncs write its new length too.
 */
export const LOG_SIZE = 24 * 1024 * 1024;

/**
 * Opens a database for several processes at once: readers never wait (WAL), and commits survive a power cut
 * (synchronous=FULL). `steps` make its tables, one step a version. `pageSize` is for a new database; `check` throws if the file is
 * not the expected one; `damage` is the error of a damaged file.
 */
export function openDatabase(
  path: string,
  steps: readonly string[],
  {
    pageSize = 4096,
    check = () => undefined,
    damage = damaged,
  }: {
    readonly pageSize?: number;
    readonly check?: (database: Connection) => void;
    readonly damage?: typeof damaged;
  } = {},
): Database {
  const name = path === IN_MEMORY ? path : createFile(path);
  const opened = fileAt(path);
  const database = guardedConnection(guard(path, damage), () => new (driver().DatabaseSync)(name));
  try {
    database.exec(`PRAGMA busy_timeout=${BUSY_TIMEOUT}; PRAGMA journal_size_limit=${LOG_SIZE}`);
    // A database keeps the page size that it was created with.
    database.exec(`PRAGMA page_size=${pageSize}`);
    useLog(database);
    database.exec(`PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=${LOG_SIZE / pageSize}`);
    check(database);
    upgrade(database, path, steps);
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
    version: steps.length,
    isInPlace: () =>
      opened === files[0] &&
      // SQLite writes on after the file was emptied, and deletes the log of an empty file when it is opened again.
      statSync(path, { throwIfNoEntry: false })?.size !== 0 &&
      DATABASE_FILES.every((suffix, index) => files[index] !== undefined && present(suffix) === files[index]),
  };
}

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
  } catch (error) {
    throw unwritableDatabase(path, systemReason(error), error);
  }
  return realFile(path);
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

/** 0 for a database without tables. */
export const versionOf = (database: Connection): number =>
  Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);

/** Takes the tables to the version of `steps`, each step in a transaction of its own. Another process may do so at the same time. */
function upgrade(database: Connection, path: string, steps: readonly string[]): void {
  for (;;) {
    const present = versionOf(database);
    if (present > steps.length) throw newerVersion(path, present, steps.length);
    if (present === steps.length) return;
    inTransaction(database, () => {
      if (versionOf(database) !== present) return;
      database.exec(`${steps[present]}; PRAGMA user_version=${present + 1}`);
    });
  }
}

export const newerVersion = (path: string, found: number, known: number): PaylinkError =>
  new PaylinkError(
    "file_unreadable",
    `${path} was written by a newer paylink: it has schema ${found}, and this version knows ${known}.`,
    { hints: [hint`Update paylink, or name another file with --db.`] },
  );

/**
 * Opens a database to read it. Sets nothing and creates nothing, so that it needs no right to write: SQLite is told that the file
 * does not change where it has no log, since it would make one to look for changes. Such a database is in place until there is a
 * log, or it was changed.
 */
export function openReadOnly(path: string): Database {
  const name = readableFile(path);
  const log = (): number => statSync(`${name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const isUnchanging = log() === 0;
  const present = (): string =>
    DATABASE_FILES.map((suffix) => fileAt(suffix === "" ? path : name + suffix)).join();
  const before = contentAt(path);
  const database = guardedConnection(guard(path), () => openedToRead(name, isUnchanging));
  let version: number;
  try {
    database.exec(`PRAGMA busy_timeout=${BUSY_TIMEOUT}`);
    version = versionOf(database);
  } catch (error) {
    database.close();
    throw isUnchanging || existsSync(`${name}-shm`) ? error : logWithoutIndex(name, error);
  }
  const files = present();
  return {
    ...database,
    path,
    version,
    isInPlace: () => (isUnchanging ? log() === 0 && contentAt(path) === before : present() === files),
  };
}

/** Another one after each change of the file. A program that has ended since has left no log. */
function contentAt(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && [stat.dev, stat.ino, stat.size, stat.mtimeNs].join(":");
}

/** Without its log, a copy lacks the last events: SQLite needs an index of the log, and may not make one there. */
const logWithoutIndex = (name: string, cause: unknown): PaylinkError =>
  new PaylinkError(
    "file_unreadable",
    `The database ${name} cannot be read where it is: ${name}-wal has its last events, without their index (${name}-shm), which this user may not create in that folder.`,
    {
      cause,
      hints: [
        hint`Copy both files, ${name} and ${name}-wal, to a folder that you may write, and name the copy with --db.`,
      ],
    },
  );

/** Its path without links. SQLite would not say why it cannot open it. */
function readableFile(path: string): string {
  try {
    closeSync(openSync(path, "r"));
  } catch (error) {
    throw unreadable(path, `cannot be opened: ${systemReason(error)}`, error);
  }
  return realFile(path);
}

function realFile(path: string): string {
  const name = realpathSync(path);
  if (statSync(name).isDirectory()) throw unreadable(path, "cannot be opened: it is a folder");
  return name;
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

/**
 * Locks a file until the returned function is called, or until this process ends, however it ends: the system keeps the
 * lock. Undefined if somebody else has it.
 */
export function lockFile(path: string): (() => void) | undefined {
  const guarded = guard(path);
  const lock = guarded(() => new (driver().DatabaseSync)(createFile(path)));
  try {
    guarded(() => lock.exec("PRAGMA busy_timeout=0; BEGIN EXCLUSIVE"));
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (isLocked(error)) return undefined;
    throw error;
  }
}
