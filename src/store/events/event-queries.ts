/** Reads stored events back from SQLite, with everything that belongs to each, and deletes old ones. */
import type { EventStore, Pruned } from "../../receiver/event-store.ts";
import { transaction, type Database } from "../database.ts";
import { readPages, type Row, type Source } from "./event-pages.ts";
import { arrivalFromRow, eventFromRow, forwardFromRow, rejectionFromRow } from "./event-rows.ts";

/** The reading half of an event store. */
type EventQueries = Pick<EventStore, "find" | "events" | "rejections" | "arrivals" | "forwards" | "prune">;

const MAX_FOUND = 20;
/** Events deleted in one transaction: a `listen` on the same database waits no longer than that. */
const PRUNE_SIZE = 1000;

const EVENTS: Source = {
  table: "events",
  columns: `*,
    (SELECT count(*) FROM arrivals WHERE event = events.id) AS repeats,
    EXISTS (SELECT 1 FROM forwards WHERE event = events.id AND status BETWEEN 200 AND 299) AS accepted`,
};
const REJECTIONS: Source = { table: "rejections", columns: "*" };

export function createEventQueries(database: Database): EventQueries {
  const all = (sql: string, ...values: string[]): Row[] => database.prepare(sql).all(...values);
  return {
    find: async (prefix) => {
      const range = [prefix, `${prefix}\u{10ffff}`];
      const within = (column: string): string => `${column} >= ? AND ${column} < ?`;
      const events = all(
        `SELECT ${EVENTS.columns} FROM events WHERE (${within("uti")}) OR (${within("id")})
         ORDER BY seq DESC LIMIT ${MAX_FOUND}`,
        ...range,
        ...range,
      );
      const rejections = all(
        `SELECT * FROM rejections WHERE ${within("id")} ORDER BY seq DESC LIMIT ${MAX_FOUND}`,
        ...range,
      );
      return [...events.map(eventFromRow), ...rejections.map(rejectionFromRow)];
    },
    events: (filter = {}) => readPages(database, EVENTS, filter, eventFromRow),
    rejections: ({ since, until, limit } = {}) =>
      readPages(database, REJECTIONS, { since, until, limit }, rejectionFromRow),
    arrivals: async (first) =>
      all("SELECT id, received_at FROM arrivals WHERE event = ? ORDER BY rowid", first).map(arrivalFromRow),
    forwards: async (first) =>
      all("SELECT * FROM forwards WHERE event = ? ORDER BY rowid", first).map(forwardFromRow),
    prune: async (before) => prune(database, before.getTime()),
  };
}

function prune(database: Database, before: number): Pruned {
  let events = 0;
  const old = database.prepare("SELECT id FROM events WHERE received_at < ? LIMIT ?");
  const deletions = ["arrivals WHERE event", "forwards WHERE event", "events WHERE id"].map((rows) =>
    database.prepare(`DELETE FROM ${rows} = ?`),
  );
  for (;;) {
    const ids = old.all(before, PRUNE_SIZE).map(({ id = null }) => id);
    if (ids.length === 0) break;
    transaction(database, () => {
      for (const id of ids) for (const deletion of deletions) deletion.run(id);
    });
    events += ids.length;
  }
  const { changes } = database.prepare("DELETE FROM rejections WHERE received_at < ?").run(before);
  return { events, rejections: Number(changes) };
}
