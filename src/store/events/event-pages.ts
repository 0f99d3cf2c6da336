/** Walks a table of what arrived, in order of arrival and a page at a time: there may be millions. */
import type { Database, Value } from "../database.ts";

export interface EventFilter {
  readonly outcome?: string | undefined;
  /** A part of the reference. */
  readonly reference?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** The newest so many. */
  readonly limit?: number | undefined;
}

export interface Source {
  readonly table: string;
  readonly columns: string;
}

/** Rows that are in memory at once. */
const PAGE = 100;

/**
 * The newest ones that pass the filter, given in order of arrival. They are read by the page: a cursor that stayed open
 * while its reader takes its time would hold up the database's log, and on Node 20 does not outlive the first pause.
 */
export function* select<T>(
  database: Database,
  { table, columns }: Source,
  filter: EventFilter,
  convert: (row: Record<string, Value>) => T,
): IterableIterator<T> {
  const { where, values } = conditionsOf(filter);
  const newest = database.prepare(
    `SELECT seq FROM ${table} WHERE ${where} ORDER BY seq DESC LIMIT 1 OFFSET ?`,
  );
  const page = database.prepare(
    `SELECT ${columns} FROM ${table} WHERE ${where} AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${PAGE}`,
  );
  const seqOf = (row: Record<string, Value> | undefined): number => Number(row?.["seq"] ?? 0);
  let before = filter.limit === undefined ? 0 : seqOf(newest.get(...values, filter.limit));
  // What arrives meanwhile is left to the next reader: this one comes to an end.
  const last = seqOf(newest.get(...values, 0));
  for (;;) {
    const rows = page.all(...values, before, last);
    for (const row of rows) yield convert(row);
    if (rows.length < PAGE) return;
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
