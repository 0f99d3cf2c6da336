/** The memory of `bulk` in a file of this machine, with a mark beside it that tells a lost file from a new one. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { closeWithLog, type Connection, IN_MEMORY } from "../store/sqlite/connection.ts";
import { openDatabase } from "../store/sqlite/open.ts";
import { SQLITE } from "../store/dialects.ts";
import { createMarking, lossOf, readMark, type Mark } from "../store/mark.ts";
import { schemaStepsOf } from "../store/schema.ts";
import { createMemory, LAST_SENT, type Memory } from "../store/sent-rows.ts";
import { damageIn, transactionsOf } from "../store/sqlite/event-file.ts";

const pathIn = (folder: string): string => join(folder, "bulk.db");
const markIn = (folder: string): string => join(folder, "bulk.db.mark");

/** Whether this machine has sent, or may have sent, rows that such a file has. */
export const hasLocalMemory = (folder: string): boolean =>
  existsSync(markIn(folder)) || existsSync(pathIn(folder));

/**
 * Throws `file_unreadable` if the database was there and has gone, or has lost rows: with a new one, every list would be sent once
 * more. A run that only checks its rows leaves no trace where nothing was ever sent.
 */
export function openLocalMemory(folder: string, { isDryRun }: { readonly isDryRun: boolean }): Memory {
  const path = pathIn(folder);
  if (isDryRun && !hasLocalMemory(folder)) return memoryAt(IN_MEMORY, folder, isDryRun);
  const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (size === 0 && existsSync(markIn(folder))) throw lost(folder, "is missing or empty");
  return { ...memoryAt(path, folder, isDryRun), remarks: databasesUsed(folder).map(notUsed) };
}

function memoryAt(path: string, folder: string, isDryRun: boolean): Memory {
  const mark = readMark(markIn(folder));
  const database = openDatabase(path, schemaStepsOf("sentRows", SQLITE), {
    damage: (_path, reason) => lost(folder, `is damaged: ${reason}`),
    check: (opened: Connection) => {
      // Without its tables, the file lost what its log held, or was replaced by an empty database.
      const version = Number(opened.prepare("PRAGMA user_version").get()?.["user_version"]);
      if (mark !== undefined && version === 0) throw lost(folder, "is empty");
      // Each row has its key in the index by age too: without it, a changed key would look like a row that was never sent.
      const damage = damageIn(opened, MOST_READ_WHOLE);
      if (damage !== undefined) throw lost(folder, `is damaged: ${damage}`);
      if (version > 0 && lossOf(mark, memoryMarkOf(opened)) !== undefined) throw outdated(folder);
    },
  });
  const write = createMarking(markIn(folder), path);
  if (!isDryRun) write(memoryMarkOf(database));
  return createMemory(transactionsOf(database), {
    place: path,
    isLocal: true,
    written: () => {
      // The next run would not find what goes to a file without a name.
      if (!database.isInPlace())
        throw new PaylinkError("file_unwritable", `${path} was removed or replaced during this run.`, {
          hints: [],
        });
    },
    close: async () => {
      if (!isDryRun && database.isInPlace()) write(memoryMarkOf(database));
      closeWithLog(database);
    },
  });
}

/** Some 70,000 rows: to read more would take longer than to send one (bulk bench), and orders are looked for at the service too. */
const MOST_READ_WHOLE = 16 * 1024 * 1024;

/** A file has no identity but its path. */
const memoryMarkOf = ({ prepare }: Pick<Connection, "prepare">): Mark => ({
  store: "bulk.db",
  last: Number(prepare(LAST_SENT(SQLITE.schema).text).get()?.["sent_at"] ?? 0),
});

const outdated = (folder: string): PaylinkError =>
  new PaylinkError(
    "file_unreadable",
    `${pathIn(folder)} is an older copy, or has lost its last rows: it lacks the newest link that bulk created.`,
    {
      hints: [
        hint`Put back the newest copy.`,
        hint`Without one, remove ${markIn(folder)}: rows with an order number are then looked for at the service; find out there which of the others have a link, and take them out of the list.`,
      ],
      details: { path: pathIn(folder) },
    },
  );

/** What must not be taken for a memory of nothing. */
const lost = (folder: string, what: string): PaylinkError =>
  new PaylinkError("file_unreadable", `${pathIn(folder)} ${what}.`, {
    hints: [
      hint`It holds which links were created: restore it from a backup.`,
      hint`Without a backup, remove ${pathIn(folder)} and ${markIn(folder)}: rows with an order number are then looked for at the service; find out there which of the others have a link, and take them out of the list.`,
    ],
    details: { path: pathIn(folder) },
  });

/** The databases that rows were sent with from this machine. */
function databasesUsed(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => {
    const mark = /^[0-9a-f]{16}\.mark$/.test(name) ? readMark(join(folder, name)) : undefined;
    return mark !== undefined && mark.last > 0 ? mark.place : [];
  });
}

const notUsed = (database: string): string =>
  `This machine has also sent lists with ${database}, which this run does not use: rows without an order number that were sent there are sent again. To use it, name it in PAYLINK_DB.`;
