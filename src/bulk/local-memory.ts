/** The memory of `bulk` in a file of this machine, with a mark beside it that tells a lost file from a new one. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { closeWithLog, type Connection, IN_MEMORY } from "../store/sqlite/connection.ts";
import { openDatabase } from "../store/sqlite/open.ts";
import { SQLITE } from "../store/dialects.ts";
import { damageIn, transactionsOf } from "../store/sqlite/event-file.ts";
import { replaceFile } from "../store/replace-file.ts";
import { SENT_ROWS, stepsOf } from "../store/schema.ts";
import { createMemory, type Memory } from "../store/sent-rows.ts";
import { markedDatabases } from "./database-marks.ts";

const pathIn = (folder: string): string => join(folder, "bulk.db");

/** A file beside the database. Without it, a database that is gone would look like one that never was. */
const markIn = (folder: string): string => join(folder, "bulk.db.mark");
const MARK_TEXT = "bulk.db holds which links paylink bulk has created. If it is gone, restore it.\n";

/** Whether this machine has sent, or may have sent, rows that such a file has. */
export const hasLocalMemory = (folder: string): boolean =>
  existsSync(markIn(folder)) || existsSync(pathIn(folder));

/**
 * Throws `file_unreadable` if the database was there and has gone: with a new one, every list would be sent once more. A run that
 * only checks its rows leaves no trace where nothing was ever sent.
 */
export function openLocalMemory(folder: string, { isDryRun }: { readonly isDryRun: boolean }): Memory {
  const isMarked = existsSync(markIn(folder));
  if (isDryRun && !isMarked && !existsSync(pathIn(folder))) return memoryAt(IN_MEMORY, folder, false);
  if (isMarked && (statSync(pathIn(folder), { throwIfNoEntry: false })?.size ?? 0) === 0)
    throw lost(folder, "is missing or empty");
  const memory = memoryAt(pathIn(folder), folder, isMarked);
  if (!isMarked) writeFileSync(markIn(folder), MARK_TEXT, { mode: 0o600 });
  return { ...memory, remarks: markedDatabases(folder).map(notUsed) };
}

function memoryAt(path: string, folder: string, isMarked: boolean): Memory {
  const database = openDatabase(path, stepsOf("sentRows", SQLITE), {
    damage: (_path, reason) => lost(folder, `is damaged: ${reason}`),
    check: (opened: Connection) => {
      // Without its tables, the file lost what its log held, or was replaced by an empty database.
      const version = Number(opened.prepare("PRAGMA user_version").get()?.["user_version"]);
      if (isMarked && version === 0) throw lost(folder, "is empty");
      // Each row has its key in the index by age too: without it, a changed key would look like a row that was never sent.
      const damage = damageIn(opened);
      if (damage !== undefined) throw lost(folder, `is damaged: ${damage}`);
      if (isMarked && !hasMarkedLink(opened, folder)) throw outdated(folder);
    },
  });
  return createMemory(transactionsOf(database), {
    place: path,
    isLocal: true,
    written: () => {
      // The next run would not find what goes to a file without a name.
      if (!database.isInPlace())
        throw new PaylinkError("file_unwritable", `${path} was removed or replaced during this run.`);
    },
    close: async () => {
      if (path !== IN_MEMORY) markNewestLink(database, folder);
      closeWithLog(database);
    },
  });
}

/** The last line of the mark: the newest link that the memory had when a run ended. An older copy of the file does not have it. */
const linkText = (row: Readonly<Record<string, unknown>> | undefined): string =>
  row === undefined ? "" : `${String(row["key"])} ${Number(row["occurrence"])} ${Number(row["attempt"])}\n`;

function markNewestLink(database: Connection, folder: string): void {
  try {
    const newest = database
      .prepare(
        `SELECT key, occurrence, attempt FROM ${SENT_ROWS} WHERE state = 'created' ORDER BY sent_at DESC LIMIT 1`,
      )
      .get();
    const text = MARK_TEXT + linkText(newest);
    if (readFileSync(markIn(folder), "utf8") !== text) replaceFile(markIn(folder), text);
  } catch {
    // The rows are remembered, whatever becomes of the mark: an older one asks for less.
  }
}

function hasMarkedLink(database: Connection, folder: string): boolean {
  const [, key, occurrence, attempt] =
    /^(\S+) (\d+) (\d+)$/m.exec(readFileSync(markIn(folder), "utf8").slice(MARK_TEXT.length)) ?? [];
  return (
    key === undefined ||
    database
      .prepare(`SELECT 1 FROM ${SENT_ROWS} WHERE key = ? AND occurrence = ? AND attempt = ?`)
      .get(key, Number(occurrence), Number(attempt)) !== undefined
  );
}

const outdated = (folder: string): PaylinkError =>
  new PaylinkError(
    "file_unreadable",
    `${pathIn(folder)} is an older copy, or has lost its last rows: it lacks the newest link that bulk created.`,
    {
      hints: [
        hint`Put back the newest copy.`,
        hint`Without one, find out at the service which links were created since, take their rows out of the list, and remove ${markIn(folder)}.`,
      ],
      details: { path: pathIn(folder) },
    },
  );

const notUsed = (database: string): string =>
  `This machine has also sent lists with ${database}, which this run does not use: rows that were sent there are sent again. To use it, name it in PAYLINK_DB.`;

/** What must not be taken for a memory of nothing. */
const lost = (folder: string, what: string): PaylinkError =>
  new PaylinkError("file_unreadable", `${pathIn(folder)} ${what}.`, {
    hints: [
      hint`It holds which links were created: restore it from a backup.`,
      hint`Without a backup, find out at the service which links exist, take their rows out of the list, and remove ${pathIn(folder)} and ${markIn(folder)}.`,
    ],
    details: { path: pathIn(folder) },
  });
