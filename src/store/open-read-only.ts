/** Opens a database to read it, which needs no right to write it. */
import { closeSync, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { systemReason } from "../domain/system-reason.ts";
import { type Connection, type Database, DATABASE_FILES } from "./database.ts";
import { guard, guardedConnection, unreadable } from "./database-failures.ts";
import { BUSY_TIMEOUT, fileAt, newerVersion, versionOf } from "./database-file.ts";
import { driver } from "./sqlite-driver.ts";

/**
 * Opens a database to read it. Sets nothing and creates nothing, so that it needs no right to write: SQLite is told that the file
 * does not change where it has no log, since it would make one to look for changes. Such a database is in place until there is a
 * log, or it was changed. `version` is that of its tables.
 */
export function openReadOnly(path: string, version: number): Database {
  const name = readableFile(path);
  const log = (): number => statSync(`${name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const isUnchanging = log() === 0;
  const present = (): string =>
    DATABASE_FILES.map((suffix) => fileAt(suffix === "" ? path : name + suffix)).join();
  const before = contentAt(path);
  const database = guardedConnection(guard(path), () => openedToRead(name, isUnchanging));
  try {
    database.exec(`PRAGMA busy_timeout=${BUSY_TIMEOUT}`);
    const found = versionOf(database);
    if (found > version) throw newerVersion(path, found, version);
  } catch (error) {
    database.close();
    throw isUnchanging || existsSync(`${name}-shm`) ? error : logWithoutIndex(name, error);
  }
  const files = present();
  return {
    ...database,
    path,
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
