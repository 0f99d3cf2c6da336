/** Reads stored events back from SQLite, with everything that belongs to each, and deletes old ones. */
import { messageOf } from "../../domain/errors.ts";
import type { EventFilter, EventStore, Pruned } from "../../receiver/event-store.ts";
import type { EventLog } from "../../receiver/events.ts";
import { damaged } from "../database-failures.ts";
import { type Database, transaction, type Value } from "../database.ts";
import { readPages } from "./event-pages.ts";
import { MAX_FOUND, PRUNE_SIZE, type Source } from "./event-reading.ts";
import {
  arrivalFromRow,
  eventFromRow,
  forwardFromRow,
  listenerFromRow,
  rejectionFromRow,
  type Row,
} from "./event-rows.ts";

/** The reading half of an event store. */
export type EventQueries = Omit<EventStore, keyof EventLog | "place" | "queue" | "ready" | "close">;

export const EVENT_COLUMNS = `events.*,
  (SELECT count(*) FROM arrivals WHERE event = events.id) AS repeats,
  EXISTS (SELECT 1 FROM forwards WHERE event = events.id AND status BETWEEN 200 AND 299) AS accepted,
  (SELECT json_array(state, attempts, due) FROM queue WHERE event = events.id) AS queued`;
const EVENTS: Source = { table: "events", columns: EVENT_COLUMNS };
/** The events that may be deleted: those that do not wait to be forwarded. */
const OLD_EVENTS = `events WHERE received_at < ?
  AND NOT EXISTS (SELECT 1 FROM queue WHERE event = events.id AND state <> 'failed')`;
const OLD_REJECTIONS = "rejections WHERE received_at < ?";
const REJECTIONS: Source = { table: "rejections", columns: "*" };

export type UseDatabase = <T>(work: (database: Database) => T) => Promise<T>;

/** Opens the file for each use, so that it is the one that is at the path at that time. */
export const opening =
  (open: () => Database): UseDatabase =>
  async (work) => {
    const database = open();
    try {
      return work(database);
    } finally {
      database.close();
    }
  };

export function createEventQueries(open: () => Database): EventQueries {
  const using = opening(open);
  const all = <T>(convert: (row: Row) => T, sql: string, ...values: Value[]): Promise<T[]> =>
    using((database) =>
      database
        .prepare(sql)
        .all(...values)
        .map(readable(database, convert)),
    );
  const pages = async function* <T>(
    source: Source,
    filter: EventFilter,
    convert: (row: Row) => T,
  ): AsyncGenerator<T> {
    const database = open();
    try {
      yield* readPages(database, source, filter, readable(database, convert));
    } finally {
      database.close();
    }
  };
  return {
    find: async (prefix) => {
      const range = [prefix, `${prefix}\u{10ffff}`];
      const within = (column: string): string => `${column} >= ? AND ${column} < ?`;
      const events = await all(
        eventFromRow,
        `SELECT ${EVENT_COLUMNS} FROM events WHERE (${within("uti")}) OR (${within("id")})
         ORDER BY seq DESC LIMIT ${MAX_FOUND}`,
        ...range,
        ...range,
      );
      const rejections = await all(
        rejectionFromRow,
        `SELECT * FROM rejections WHERE ${within("id")} ORDER BY seq DESC LIMIT ${MAX_FOUND}`,
        ...range,
      );
      return [...events, ...rejections];
    },
    events: (filter = {}) => pages(EVENTS, filter, eventFromRow),
    rejections: ({ since, until, limit } = {}) =>
      pages(REJECTIONS, { since, until, limit }, rejectionFromRow),
    arrivals: (first) =>
      all(arrivalFromRow, "SELECT id, received_at FROM arrivals WHERE event = ? ORDER BY rowid", first),
    forwards: (first) => all(forwardFromRow, "SELECT * FROM forwards WHERE event = ? ORDER BY rowid", first),
    countBefore: (before) =>
      using((database) => {
        const count = (old: string): number =>
          Number(database.prepare(`SELECT count(*) AS n FROM ${old}`).get(before.getTime())?.["n"]);
        return { events: count(OLD_EVENTS), rejections: count(OLD_REJECTIONS) };
      }),
    prune: (before) => using((database) => prune(database, before.getTime())),
    listeners: () => all(listenerFromRow, "SELECT * FROM listeners"),
    addListener: ({ address, bound }) =>
      using(
        (database) =>
          void database.prepare("INSERT OR REPLACE INTO listeners VALUES (?, ?)").run(address, bound),
      ),
    removeListener: ({ address, bound }) =>
      using(
        (database) =>
          void database.prepare("DELETE FROM listeners WHERE address = ? AND bound = ?").run(address, bound),
      ),
  };
}

/** Reports a row that paylink did not write as damage, which SQLite cannot detect. */
export const readable =
  <T>({ path }: Database, convert: (row: Row) => T) =>
  (row: Row): T => {
    try {
      return convert(row);
    } catch (error) {
      throw damaged(path, messageOf(error));
    }
  };

function prune(database: Database, before: number): Pruned {
  let events = 0;
  const old = database.prepare(`SELECT id FROM ${OLD_EVENTS} LIMIT ?`);
  const deletions = [
    "arrivals WHERE event",
    "forwards WHERE event",
    "claims WHERE event",
    "queue WHERE event",
    "events WHERE id",
  ].map((rows) => database.prepare(`DELETE FROM ${rows} = ?`));
  for (;;) {
    const ids = old.all(before, PRUNE_SIZE).map(({ id = null }) => id);
    if (ids.length === 0) break;
    transaction(database, () => {
      for (const id of ids) for (const deletion of deletions) deletion.run(id);
    });
    events += ids.length;
  }
  const { changes } = database.prepare(`DELETE FROM ${OLD_REJECTIONS}`).run(before);
  return { events, rejections: Number(changes) };
}
