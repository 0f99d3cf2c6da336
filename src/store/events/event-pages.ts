/** Reads a table of events or rejections in order of arrival, a page at a time: there may be millions. */
import type { EventFilter } from "../../receiver/event-store.ts";
import type { Database } from "../database.ts";
import type { Row } from "./event-rows.ts";

export interface Source {
  readonly table: string;
  readonly columns: string;
}

/** Rows in memory at once. */
const PAGE_SIZE = 100;

/** A place in the order of arrival. Several programs write: what is stored later may have arrived earlier. */
type Position = readonly [receivedAt: number, seq: number];

const START: Position = [0, 0];

/**
 * The newest rows that pass the filter, in order of arrival. They are read in pages because an open cursor would keep
 * the database's log from being emptied while its reader is slow.
 */
export async function* readPages<T>(
  database: Database,
  { table, columns }: Source,
  filter: EventFilter,
  convert: (row: Row) => T,
): AsyncGenerator<T> {
  const { where, values } = conditionsOf(filter);
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

const positionOf = (row: Row | undefined): Position =>
  row === undefined ? START : [Number(row["received_at"]), Number(row["seq"])];

interface Conditions {
  readonly where: string;
  readonly values: readonly (string | number)[];
}

function conditionsOf({ outcome, reference, since, until, failed }: EventFilter): Conditions {
  const conditions: [sql: string, value: string | number | undefined][] = [
    ["outcome = ?", outcome],
    ["instr(reference, ?) > 0", reference],
    ["received_at >= ?", since?.getTime()],
    ["received_at < ?", until?.getTime()],
    ["id IN (SELECT event FROM queue WHERE state = ?)", failed === true ? "failed" : undefined],
  ];
  const given = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  return {
    where: ["TRUE", ...given.map(({ sql }) => sql)].join(" AND "),
    values: given.map(({ value }) => value),
  };
}
