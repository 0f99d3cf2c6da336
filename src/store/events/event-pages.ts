/** Reads a table of events or rejections in order of arrival, a page at a time: there may be millions. */
import type { EventFilter } from "../../receiver/event-store.ts";
import type { Database } from "../database.ts";
import { conditionsOf, PAGE_SIZE, positionOf, START, type Source } from "./event-reading.ts";
import type { Row } from "./event-rows.ts";

/**
 * The newest rows that pass the filter, in order of arrival. They are read in pages, because the open cursor of a slow
 * reader would keep the database's log from being emptied.
 */
export async function* readPages<T>(
  database: Database,
  { table, columns }: Source,
  filter: EventFilter,
  convert: (row: Row) => T,
): AsyncGenerator<T> {
  const { where, values } = conditionsOf(filter, { place: () => "?", position: "instr", queue: "queue" });
  const newest = database.prepare(
    `SELECT received_at, seq FROM ${table} WHERE ${where} ORDER BY received_at DESC, seq DESC LIMIT 1 OFFSET ?`,
  );
  const page = database.prepare(
    `SELECT ${columns} FROM ${table}
     WHERE ${where} AND (received_at, seq) > (?, ?) AND (received_at, seq) <= (?, ?)
     ORDER BY received_at, seq LIMIT ${PAGE_SIZE}`,
  );
  let before = filter.limit === undefined ? START : positionOf(newest.get(...values, filter.limit));
  // Without an end, a reader slower than the receiver would never finish.
  const last = positionOf(newest.get(...values, 0));
  for (;;) {
    const rows = page.all(...values, ...before, ...last);
    for (const row of rows) yield convert(row);
    if (rows.length < PAGE_SIZE) return;
    before = positionOf(rows.at(-1));
  }
}
