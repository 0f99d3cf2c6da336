/** Reads stored events back from PostgreSQL, with everything that belongs to each, and deletes old ones. */
import { messageOf, PaylinkError } from "../../domain/errors.ts";
import type { EventFilter, Pruned } from "../../receiver/event-store.ts";
import type { Connection } from "../postgres/server-connections.ts";
import type { EventQueries } from "./event-queries.ts";
import {
  conditionsOf,
  MAX_FOUND,
  PAGE_SIZE,
  positionOf,
  PRUNE_SIZE,
  START,
  type Position,
  type Source,
} from "./event-reading.ts";
import {
  arrivalFromRow,
  eventFromRow,
  forwardFromRow,
  listenerFromRow,
  rejectionFromRow,
  type Row,
} from "./event-rows.ts";

export const EVENTS: Source = {
  table: "paylink.events",
  columns: `events.*,
    (SELECT count(*) FROM paylink.arrivals WHERE event = events.id) AS repeats,
    (SELECT count(*) FROM (SELECT FROM paylink.forwards
       WHERE event = events.id AND status BETWEEN 200 AND 299 LIMIT 1) AS one) AS accepted,
    (SELECT json_build_array(state, attempts, due)::text FROM paylink.queue WHERE event = events.id) AS queued`,
};
/** The events that may be deleted: those that do not wait to be forwarded. */
const OLD_EVENTS = `paylink.events WHERE received_at < $1
  AND NOT EXISTS (SELECT FROM paylink.queue WHERE event = events.id AND state <> 'failed')`;
const OLD_REJECTIONS = "paylink.rejections WHERE received_at < $1";
const REJECTIONS: Source = { table: "paylink.rejections", columns: "*" };

export type Use = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

/** `name` is the database's, for messages. */
export function createPostgresQueries(use: Use, name: string): EventQueries {
  const all = async <T>(convert: (row: Row) => T, sql: string, ...values: unknown[]): Promise<T[]> =>
    (await use((connection) => connection.query(sql, values))).map(readable(convert, name));
  const pages = async function* <T>(
    source: Source,
    filter: EventFilter,
    convert: (row: Row) => T,
  ): AsyncGenerator<T> {
    for await (const row of readPages(use, source, filter)) yield readable(convert, name)(row);
  };
  return {
    find: async (prefix) => {
      const range = [prefix, `${prefix}\u{10ffff}`];
      const within = (column: string): string => `${column} >= $1 AND ${column} < $2`;
      const newest = `ORDER BY seq DESC LIMIT ${MAX_FOUND}`;
      // By the index of the column: by `seq`, a server without statistics would read the whole table.
      const first = (column: string): string =>
        `SELECT seq FROM paylink.events WHERE ${within(column)} ORDER BY ${column}, seq DESC LIMIT ${MAX_FOUND}`;
      const events = await all(
        eventFromRow,
        `SELECT ${EVENTS.columns} FROM paylink.events
         WHERE seq IN ((${first("uti")}) UNION (${first("id")})) ${newest}`,
        ...range,
      );
      const rejections = await all(
        rejectionFromRow,
        `SELECT * FROM paylink.rejections WHERE ${within("id")} ${newest}`,
        ...range,
      );
      return [...events, ...rejections];
    },
    events: (filter = {}) => pages(EVENTS, filter, eventFromRow),
    rejections: ({ since, until, limit } = {}) =>
      pages(REJECTIONS, { since, until, limit }, rejectionFromRow),
    arrivals: (first) =>
      all(
        arrivalFromRow,
        "SELECT id, received_at FROM paylink.arrivals WHERE event = $1 ORDER BY seq",
        first,
      ),
    forwards: (first) =>
      all(forwardFromRow, "SELECT * FROM paylink.forwards WHERE event = $1 ORDER BY seq", first),
    countBefore: (before) =>
      use(async (connection) => {
        const count = async (old: string): Promise<number> => {
          const [row] = await connection.query(`SELECT count(*) AS n FROM ${old}`, [before.getTime()]);
          return Number(row?.["n"]);
        };
        return { events: await count(OLD_EVENTS), rejections: await count(OLD_REJECTIONS) };
      }),
    prune: (before) => prune(use, before.getTime()),
    listeners: () => all(listenerFromRow, "SELECT * FROM paylink.listeners"),
    addListener: async ({ address, bound }) => {
      const sql = `INSERT INTO paylink.listeners VALUES ($1, $2)
        ON CONFLICT (address) DO UPDATE SET bound = excluded.bound`;
      await use((connection) => connection.query(sql, [address, bound]));
    },
    removeListener: async ({ address, bound }) => {
      const sql = "DELETE FROM paylink.listeners WHERE address = $1 AND bound = $2";
      await use((connection) => connection.query(sql, [address, bound]));
    },
  };
}

/** Reports a row that paylink did not write. */
export const readable =
  <T>(convert: (row: Row) => T, name: string) =>
  (row: Row): T => {
    try {
      return convert(row);
    } catch (error) {
      throw new PaylinkError(
        "file_unreadable",
        `The event store ${name} has a row that paylink did not write: ${messageOf(error)}.`,
        { cause: error, hint: "Restore the database from a backup, or name another one with --db." },
      );
    }
  };

/** The newest rows that pass the filter, in order of arrival, a page at a time: there may be millions. */
async function* readPages(use: Use, { table, columns }: Source, filter: EventFilter): AsyncGenerator<Row> {
  const { where, values } = conditionsOf(filter, {
    place: (number) => `$${number}`,
    position: "strpos",
    queue: "paylink.queue",
  });
  const place = (index: number): string => `$${values.length + index}::bigint`;
  const query = (sql: string, ...others: readonly number[]): Promise<Row[]> =>
    use((connection) => connection.query(sql, [...values, ...others]));
  const newest = async (offset: number): Promise<Position | undefined> => {
    const sql = `SELECT received_at, seq FROM ${table} WHERE ${where}
      ORDER BY received_at DESC, seq DESC LIMIT 1 OFFSET ${place(1)}`;
    const [row] = await query(sql, offset);
    return row && positionOf(row);
  };
  // The index alone finds these rows, so that no others are read.
  const page = `SELECT ${columns} FROM ${table} WHERE seq IN (
      SELECT seq FROM ${table}
      WHERE ${where} AND (received_at, seq) > (${place(1)}, ${place(2)})
        AND (received_at, seq) <= (${place(3)}, ${place(4)})
      ORDER BY received_at, seq LIMIT ${PAGE_SIZE})
    ORDER BY received_at, seq`;
  // Without an end, a reader slower than the receivers would never finish.
  const last = await newest(0);
  if (last === undefined) return;
  let before = (filter.limit === undefined ? undefined : await newest(filter.limit)) ?? START;
  for (;;) {
    const rows = await query(page, ...before, ...last);
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE_SIZE) return;
    before = positionOf(end);
  }
}

async function prune(use: Use, before: number): Promise<Pruned> {
  const count = async (sql: string): Promise<number> => {
    const [row] = await use((connection) => connection.query(sql, [before]));
    return Number(row?.["n"]);
  };
  let events = 0;
  for (;;) {
    const deleted = await count(
      `WITH old AS (DELETE FROM paylink.events WHERE seq IN (
           SELECT seq FROM ${OLD_EVENTS} LIMIT ${PRUNE_SIZE} FOR UPDATE SKIP LOCKED)
         RETURNING id),
       arrivals AS (DELETE FROM paylink.arrivals WHERE event IN (SELECT id FROM old)),
       forwards AS (DELETE FROM paylink.forwards WHERE event IN (SELECT id FROM old)),
       claims AS (DELETE FROM paylink.claims WHERE event IN (SELECT id FROM old)),
       queue AS (DELETE FROM paylink.queue WHERE event IN (SELECT id FROM old))
       SELECT count(*) AS n FROM old`,
    );
    if (deleted === 0) break;
    events += deleted;
  }
  const rejections = await count(
    `WITH old AS (DELETE FROM ${OLD_REJECTIONS} RETURNING seq)
     SELECT count(*) AS n FROM old`,
  );
  return { events, rejections };
}
