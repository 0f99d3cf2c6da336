/**
 * The mark beside the file of an event store: how many events it has had. SQLite takes damage in its log for the end of the log, and
 * a copy of the file alone has no log: by the mark, a store that has lost its last events is noticed.
 */
import { existsSync, realpathSync } from "node:fs";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { createMarking, lossOf, type Mark, readMark } from "./mark.ts";
import { type Connection, type Database, IN_MEMORY } from "./sqlite/connection.ts";

/** Beside the file itself, where the path is a link. */
const placeOf = (path: string): string => `${existsSync(path) ? realpathSync(path) : path}.mark`;

/** Read it before the store: a receiver may be storing events. */
export const readEventMark = (path: string): Mark | undefined => readMark(placeOf(path));

/** Undefined for a database without the tables of a store. */
export function markOf({ prepare }: Pick<Connection, "prepare">): Mark | undefined {
  if (prepare("SELECT 1 FROM sqlite_schema WHERE name = 'facts'").get() === undefined) return undefined;
  const row = prepare(
    `SELECT value AS store, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS last
     FROM facts WHERE name = 'store'`,
  ).get();
  return row && { store: String(row["store"]), last: Number(row["last"]) };
}

/** Throws `file_unreadable` for a store that has fewer events than its mark says, or none of its tables. */
export function requireMarked(path: string, mark: Mark | undefined, found: Mark | undefined): void {
  const loss = lossOf(mark, found);
  // Another store, which was put in its place, is not compared.
  if (mark === undefined || loss === undefined || loss === "replaced") return;
  const missing = mark.last - (found?.last ?? 0);
  throw new PaylinkError(
    "file_unreadable",
    `The event store ${path} has lost its last ${missing} events, which were acknowledged: its log was damaged or removed, or an older copy was put in its place.`,
    {
      hints: [
        hint`Restore it from a backup, with its -wal file if there is one.`,
        hint`To continue without these events, remove ${placeOf(path)}. Then compare what was paid with what is stored: ${paylink`reconcile`}`,
      ],
      details: { path, missing },
    },
  );
}

/** Keeps the mark of a database up to date: call the returned function after each commit. The events are stored, whatever becomes of it. */
export function createEventMarking(database: Database): () => void {
  if (database.path === IN_MEMORY) return () => undefined;
  const mark = createMarking(placeOf(database.path), database.path);
  const store = markOf(database)?.store ?? "";
  const lastOf = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  return () => {
    const last = Number(lastOf.get()?.["seq"] ?? 0);
    if (last > 0) mark({ store, last });
  };
}
