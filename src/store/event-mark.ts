/**
 * The mark beside the file of an event store: how many events it has had. SQLite takes damage in its log for the end of the log, and
 * a copy of the file alone has no log: by the mark, a store that has lost its last events is noticed.
 */
import { existsSync, openSync, readFileSync, realpathSync, writeSync } from "node:fs";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { type Connection, type Database, IN_MEMORY } from "./sqlite/connection.ts";

export interface EventMark {
  /** The identity of the store: another one, which was put in its place, is not compared. */
  readonly store: string;
  /** The number of its last event, which only grows. */
  readonly last: number;
}

/** Beside the file itself, where the path is a link. */
const placeOf = (path: string): string => `${existsSync(path) ? realpathSync(path) : path}.mark`;

/** Read it before the store: a receiver may be storing events. Undefined without one that can be read. */
export function readEventMark(path: string): EventMark | undefined {
  try {
    const [, store = "", last = ""] = /^(\S+) (\d{16})\n/.exec(readFileSync(placeOf(path), "latin1")) ?? [];
    return store === "" ? undefined : { store, last: Number(last) };
  } catch {
    return undefined;
  }
}

/** Undefined for a database without the tables of a store. */
export function markOf({ prepare }: Pick<Connection, "prepare">): EventMark | undefined {
  if (prepare("SELECT 1 FROM sqlite_schema WHERE name = 'facts'").get() === undefined) return undefined;
  const row = prepare(
    `SELECT value AS store, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS last
     FROM facts WHERE name = 'store'`,
  ).get();
  return row && { store: String(row["store"]), last: Number(row["last"]) };
}

/** Throws `file_unreadable` for a store that has fewer events than its mark says, or none of its tables. */
export function requireMarked(path: string, mark: EventMark | undefined, found: EventMark | undefined): void {
  if (mark === undefined || (found !== undefined && (found.store !== mark.store || found.last >= mark.last)))
    return;
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

/**
 * Keeps the mark of a database up to date: call the returned function after each commit. It is not synced: after a power cut it may be
 * an older one, which asks for less.
 */
export function createMarking(database: Database): () => void {
  if (database.path === IN_MEMORY) return () => undefined;
  const place = placeOf(database.path);
  const store = markOf(database)?.store ?? "";
  const lastOf = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  let file: number | undefined;
  let marked = 0;
  return () => {
    const last = Number(lastOf.get()?.["seq"] ?? 0);
    if (last === marked) return;
    try {
      file ??= openSync(place, existsSync(place) ? "r+" : "w", 0o600);
      // Of one length, in place: a power cut leaves the one mark or the other.
      writeSync(file, `${store} ${String(last).padStart(16, "0")}\n`, 0);
      marked = last;
    } catch {
      // The events are stored, whatever becomes of the mark.
      return;
    }
  };
}
