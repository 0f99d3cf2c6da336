/** What `bulk` remembers on disk: every row that it sent to a service, until the link of that row has expired. */
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hint, PaylinkError } from "../domain/errors.ts";
import { codeOf, messageOf } from "../domain/system-reason.ts";
import { lockFile, openDatabase, type Database } from "../store/database.ts";

/**
 * One line is one link that was asked for. `request` is what the row meant, for rows with an order number: another row with this
 * number is compared with it. `again` marks a row that `--again` has still to send once more. Times are in ms since 1970.
 */
const SCHEMA = `
  CREATE TABLE rows (
    number INTEGER PRIMARY KEY,
    service TEXT NOT NULL,
    digest TEXT NOT NULL,
    occurrence INTEGER NOT NULL,
    order_number TEXT,
    request TEXT,
    state TEXT NOT NULL DEFAULT 'not_sent',
    again INTEGER NOT NULL DEFAULT 0,
    id TEXT,
    url TEXT,
    error TEXT,
    sent INTEGER,
    expires INTEGER NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX rows_by_digest ON rows (service, digest, occurrence);
  CREATE INDEX rows_by_order ON rows (service, order_number) WHERE order_number IS NOT NULL;
  CREATE INDEX rows_by_expiry ON rows (expires);
  CREATE TABLE run (list TEXT NOT NULL, begun TEXT NOT NULL);
`;

const pathIn = (folder: string): string => join(folder, "bulk.db");

/** A file beside the database. Without it, a database that is gone would look like one that never was. */
const markIn = (folder: string): string => join(folder, "bulk.db.mark");
const MARK = "bulk.db holds which links paylink bulk has created. If it is gone, restore it.\n";

/** For a run that only checks its rows: where nothing was ever sent, it leaves no trace. */
export const openMemoryToCheck = (folder: string): Database =>
  existsSync(pathIn(folder)) || existsSync(markIn(folder))
    ? openMemory(folder)
    : openDatabase(":memory:", SCHEMA);

/** Throws `file_unreadable` if the database was there and has gone: with a new one, every list would be sent once more. */
function openMemory(folder: string): Database {
  const path = pathIn(folder);
  const isMarked = existsSync(markIn(folder));
  const check = (database: Pick<Database, "prepare">): void => {
    // Without its tables, the file lost what its log held, or was replaced by an empty database.
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (isMarked && version === 0) throw lost(folder, "is empty");
  };
  return beforeSending(() => {
    if (isMarked && (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0)
      throw lost(folder, "is missing or empty");
    const damage = (_path: string, reason: string): PaylinkError => lost(folder, `is damaged: ${reason}`);
    return openDatabase(path, SCHEMA, { damage, check });
  });
}

/** For one run alone until it closes the memory, and for another one to name. Throws `already_running`. "-" is a list from standard input. */
export function openMemoryAlone(folder: string, list: string, begun: Date): Database {
  const database = openMemory(folder);
  try {
    return beforeSending(() => {
      // The system keeps the lock: that of a process that was killed is gone.
      const release = lockFile(join(folder, "bulk.lock"));
      if (release === undefined) throw alreadyRunning(database);
      database.exec("DELETE FROM run");
      database.prepare("INSERT INTO run VALUES (?, ?)").run(list, begun.toISOString());
      if (!existsSync(markIn(folder))) writeFileSync(markIn(folder), MARK, { mode: 0o600 });
      const close = (): void => {
        database.close();
        release();
      };
      return { ...database, close };
    });
  } catch (error) {
    database.close();
    throw error;
  }
}

function alreadyRunning(database: Database): PaylinkError {
  const run = database.prepare("SELECT list, begun FROM run").get() ?? {};
  const list = run["list"] === "-" ? "a list from standard input" : String(run["list"] ?? "a list");
  const message = `Another run has been sending ${list} since ${String(run["begun"] ?? "a moment ago")}.`;
  return new PaylinkError("already_running", message, {
    hints: [hint`Wait until it has ended, then run the same command again.`],
    details: run,
  });
}

/** What must not be taken for a memory of nothing. */
const lost = (folder: string, what: string): PaylinkError =>
  new PaylinkError("file_unreadable", `${pathIn(folder)} ${what}.`, {
    hints: [
      hint`It holds which links were created: restore it from a backup.`,
      hint`Without a backup, find out at the service which links exist, take their rows out of the list, and remove ${pathIn(folder)} and ${markIn(folder)}.`,
    ],
    details: { path: pathIn(folder) },
  });

/** Uses the memory before the first request, and says of a failure that nothing was sent. */
export function beforeSending<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PaylinkError) && codeOf(error) === "") throw error;
    const reason = `bulk cannot keep what it sends: ${messageOf(error)}.`;
    const { code, message, hints, details } =
      error instanceof PaylinkError ? error : new PaylinkError("file_unwritable", reason, { hints: [] });
    throw new PaylinkError(code, `${message} Nothing was sent.`, {
      hints: hints.length > 0 ? hints : [NEEDS_MEMORY],
      details,
      cause: error,
    });
  }
}

const NEEDS_MEMORY = hint`bulk sends only what it can remember on disk. Make room there and let paylink write to it, then run the same command again.`;
