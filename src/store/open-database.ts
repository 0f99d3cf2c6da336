/** Opens a database to write it. */
import { statSync } from "node:fs";
import { type Connection, type Database, DATABASE_FILES, IN_MEMORY, inTransaction } from "./database.ts";
import { damaged, guard, guardedConnection, isLocked } from "./database-failures.ts";
import { BUSY_TIMEOUT, createFile, fileAt, newerVersion, versionOf } from "./database-file.ts";
import { driver } from "./sqlite-driver.ts";

/**
 * Bytes of the log of commits when it is copied into the database: with 8 MB, an eighth more is written for a webhook (listen bench).
 * A long reader makes it grow; afterwards it keeps no more. To cut it shorter would make the next syncs write its new length too.
 */
export const LOG_SIZE = 16 * 1024 * 1024;

/**
 * Opens a database for several processes at once: readers never wait (WAL), and commits survive a power cut
 * (synchronous=FULL). `tables` creates them in a new file; `version` is theirs. `pageSize` is for a new database; `check` throws
 * if the file is not the expected one; `damage` is the error of a damaged file.
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
  const database = guardedConnection(guard(path, damage), () => new (driver().DatabaseSync)(name));
  try {
    database.exec(`PRAGMA busy_timeout=${BUSY_TIMEOUT}; PRAGMA journal_size_limit=${LOG_SIZE}`);
    // A database keeps the page size that it was created with, and whether its free pages can be given back singly. To set
    // the latter again would be a write: readers would wait for writers.
    if (database.prepare("PRAGMA page_count").get()?.["page_count"] === 0)
      database.exec(`PRAGMA page_size=${pageSize}; PRAGMA auto_vacuum=INCREMENTAL`);
    useLog(database);
    database.exec(`PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=${LOG_SIZE / pageSize}`);
    check(database);
    updateTables(database, path, tables, version);
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

function updateTables(database: Connection, path: string, tables: string, version: number): void {
  const present = versionOf(database);
  if (present > version) throw newerVersion(path, present, version);
  if (present === version) return;
  inTransaction(database, () => {
    // Another process may have created them in the meantime.
    if (versionOf(database) === version) return;
    database.exec(tables);
    database.exec(`PRAGMA user_version=${version}`);
  });
}
