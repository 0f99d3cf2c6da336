/** Reads a table of events or rejections in order of arrival, a page at a time: there may be millions. */
import type { EventFilter } from "../../receiver/event-store.ts";
import type { Database, Value } from "../database.ts";

export interface Source {
  readonly table: string;
  readonly columns: string;
}

export type Row = Readonly<Record<string, Value>>;

/** Rows in memory at once. */
const PAGE_SIZE = 100;

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
    `SELECT seq FROM ${table} WHERE ${where} ORDER BY seq DESC LIMIT 1 OFFSET ?`,
  );
  const page = database.prepare(
    `SELECT ${columns} FROM ${table} WHERE ${where} AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${PAGE_SIZE}`,
  );
  const seqOf = (row: Row | undefined): number => Number(row?.["seq"] ?? 0);
  let before = filter.limit === undefined ? 0 : seqOf(newest.get(...values, filter.limit));
  // Without an end, a reader slower than the receiver would never finish.
  const last = seqOf(newest.get(...values, 0));
  for (;;) {
    const rows = page.all(...values, before, last);
    for (const row of rows) yield convert(row);
    if (rows.length < PAGE_SIZE) return;
    before = seqOf(rows.at(-1));
  }
}

interface Conditions {
  readonly where: string;
  readonly values: readonly (string | number)[];
}

function conditionsOf({ outcome, reference, since, until }: EventFilter): Conditions {
  const conditions: [sql: string, value: string | number | undefined][] = [
    ["outcome = ?", outcome],
    ["instr(reference, ?) > 0", reference],
    ["received_at >= ?", since?.getTime()],
    ["received_at < ?", until?.getTime()],
  ];
  const given = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  return {
    where: ["TRUE", ...given.map(({ sql }) => sql)].join(" AND "),
    values: given.map(({ value }) => value),
  };
}
