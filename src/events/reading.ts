/** Reads stored events with everything that belongs to each, a page at a time: there may be millions. */
import type { PaylinkError } from "../domain/errors.ts";
import { messageOf } from "../domain/system-reason.ts";
import type { EventFilter, EventStore, ForwardQueue } from "../receiver/event-store.ts";
import type { All, Dialect, Row, Value } from "./dialects.ts";
import { arrivalFromRow, eventFromRow, forwardFromRow, rejectionFromRow } from "./rows.ts";

/** A database that can be read. */
export interface Readable {
  readonly dialect: Dialect;
  /** Opens it for statements that each commit by themselves. */
  readonly open: () => { readonly all: All; readonly close: () => void };
  /** The failure of a row that paylink did not write. */
  readonly damaged: (reason: string) => PaylinkError;
}

/** The most events, and the most rejections, that a search finds. */
const MAX_FOUND = 20;
/** Rows in memory at once. */
const PAGE_SIZE = 100;

export const IS_ACCEPTED = "status BETWEEN 200 AND 299";

/** The index of the forwards that were not accepted finds these. */
const isFailed = ({ schema }: Dialect): string =>
  `id IN (SELECT event FROM ${schema}forwards WHERE status NOT BETWEEN 200 AND 299)
   AND NOT EXISTS (SELECT 1 FROM ${schema}forwards WHERE forwards.event = events.id AND ${IS_ACCEPTED})
   AND NOT EXISTS (SELECT 1 FROM ${schema}queued WHERE queued.event = events.id
     AND (due IS NOT NULL OR skipped IS NOT NULL))`;

/** The index of `due` finds these: those that failed stay in the queue, and are many in the end. */
const WAITS = "due >= 0";

const isPending = ({ schema }: Dialect): string => `id IN (SELECT event FROM ${schema}queued WHERE ${WAITS})`;

/** Subqueries, not joins: a server without statistics would join the whole queue. */
export const selectEvents = ({ schema }: Dialect): string =>
  `SELECT events.*,
     (SELECT attempts FROM ${schema}queued WHERE queued.event = events.id) AS attempts,
     (SELECT due FROM ${schema}queued WHERE queued.event = events.id) AS due,
     (SELECT skipped FROM ${schema}queued WHERE queued.event = events.id) AS skipped,
     (SELECT count(*) FROM ${schema}arrivals WHERE arrivals.event = events.id) AS repeats,
     (SELECT count(*) FROM ${schema}forwards WHERE forwards.event = events.id AND ${IS_ACCEPTED}) AS accepted,
     (SELECT count(*) FROM ${schema}forwards WHERE forwards.event = events.id) AS attempted
   FROM ${schema}events`;

/** The events that may be deleted: those that do not wait to be forwarded. */
export const oldEvents = ({ schema }: Dialect): string =>
  `events WHERE received_at < ?
     AND NOT EXISTS (SELECT 1 FROM ${schema}queued WHERE event = events.id AND due IS NOT NULL)`;
export const OLD_REJECTIONS = "rejections WHERE received_at < ?";

/** The reading half of an event store, and of its queue. */
export function createReading({ dialect, open, damaged }: Readable) {
  const { schema, types } = dialect;
  const using = async <T>(work: (all: All) => Promise<T>): Promise<T> => {
    const reader = open();
    try {
      return await work(reader.all);
    } finally {
      reader.close();
    }
  };
  const readable =
    <T>(convert: (row: Row) => T) =>
    (row: Row): T => {
      try {
        return convert(row);
      } catch (error) {
        throw damaged(messageOf(error));
      }
    };
  const read = async <T>(convert: (row: Row) => T, sql: string, ...values: Value[]): Promise<T[]> =>
    (await using((all) => all(sql, values))).map(readable(convert));
  const pages = async function* <T>(
    convert: (row: Row) => T,
    source: Source,
    filter: EventFilter,
  ): AsyncGenerator<T> {
    const reader = open();
    try {
      for await (const row of readPages(reader.all, dialect, source, filter)) yield readable(convert)(row);
    } finally {
      reader.close();
    }
  };
  const { select: selectRejections } = sourceOf("rejections", dialect);
  return {
    find: async (prefix) => {
      const range = [prefix, `${prefix}\u{10ffff}`];
      // By the index of the column: by `seq`, a server without statistics would read the whole table.
      const first = (column: string): string =>
        `SELECT seq FROM (SELECT seq FROM ${schema}events WHERE ${column} >= ? AND ${column} < ?
           ORDER BY ${column}, seq DESC LIMIT ${MAX_FOUND}) AS by_${column}`;
      const events = await read(
        eventFromRow,
        `${selectEvents(dialect)} WHERE events.seq IN (${first("uti")} UNION ${first("id")})
         ORDER BY events.seq DESC LIMIT ${MAX_FOUND}`,
        ...range,
        ...range,
      );
      const rejections = await read(
        rejectionFromRow,
        `${selectRejections} WHERE id >= ? AND id < ? ORDER BY seq DESC LIMIT ${MAX_FOUND}`,
        ...range,
      );
      return [...events, ...rejections];
    },
    events: (filter = {}) => pages(eventFromRow, sourceOf("events", dialect), filter),
    rejections: ({ since, until, limit, newestFirst } = {}) =>
      pages(rejectionFromRow, sourceOf("rejections", dialect), { since, until, limit, newestFirst }),
    arrivals: (first) =>
      read(
        arrivalFromRow,
        `SELECT id, received_at FROM ${schema}arrivals WHERE event = ? ORDER BY ${types.orderName}`,
        first,
      ),
    forwards: (first) =>
      read(
        forwardFromRow,
        `SELECT * FROM ${schema}forwards WHERE event = ? ORDER BY ${types.orderName}`,
        first,
      ),
    countBefore: (before) =>
      using(async (all) => {
        const count = async (old: string): Promise<number> => {
          const [row] = await all(`SELECT count(*) AS n FROM ${schema}${old}`, [before.getTime()]);
          return Number(row?.["n"]);
        };
        return { events: await count(oldEvents(dialect)), rejections: await count(OLD_REJECTIONS) };
      }),
    backlog: () =>
      using(async (all) => {
        const [row] = await all(
          `SELECT count(*) AS events, min(received_at) AS oldest FROM ${schema}queued WHERE ${WAITS}`,
        );
        const [failed] = await all(`SELECT count(*) AS n FROM ${schema}events WHERE ${isFailed(dialect)}`);
        const [last] = await all(`SELECT at FROM ${schema}forwards ORDER BY ${types.orderName} DESC LIMIT 1`);
        const dateOf = (time: unknown): Date | undefined =>
          time == null ? undefined : new Date(Number(time));
        return {
          events: Number(row?.["events"]),
          failed: Number(failed?.["n"]),
          oldest: dateOf(row?.["oldest"]),
          lastForward: dateOf(last?.["at"]),
        };
      }),
  } satisfies Partial<EventStore> & Pick<ForwardQueue, "backlog">;
}

interface Source {
  readonly table: "events" | "rejections";
  readonly select: string;
}

export const sourceOf = (table: Source["table"], dialect: Dialect): Source => ({
  table,
  select: table === "events" ? selectEvents(dialect) : `SELECT * FROM ${dialect.schema}${table}`,
});

/** A place in the order of arrival. Several programs write, so an event may be stored after one that arrived later. */
type Position = readonly [receivedAt: number, seq: number];

const START: Position = [0, 0];

const positionOf = (row: Row | undefined): Position =>
  row === undefined ? START : [Number(row["received_at"]), Number(row["seq"])];

/**
 * The newest rows that pass the filter. They are read in pages, because the open cursor of a slow reader would keep the log
 * of SQLite from being emptied.
 */
async function* readPages(
  all: All,
  dialect: Dialect,
  { table, select }: Source,
  filter: EventFilter,
): AsyncGenerator<Row> {
  const { where, values } = conditionsOf(filter, dialect);
  const from = `${dialect.schema}${table}`;
  const newest = async (offset: number): Promise<Position> => {
    const [row] = await all(
      `SELECT received_at, seq FROM ${from} WHERE ${where} ORDER BY received_at DESC, seq DESC LIMIT 1 OFFSET ?`,
      [...values, offset],
    );
    return positionOf(row);
  };
  const order = (prefix = ""): string =>
    ["received_at", "seq"]
      .map((column) => `${prefix}${column}${filter.newestFirst === true ? " DESC" : ""}`)
      .join();
  // The index alone finds these rows, so that no others are read.
  const page = `${select} WHERE ${table}.seq IN (
      SELECT seq FROM ${from} WHERE ${where} AND (received_at, seq) > (?, ?) AND (received_at, seq) <= (?, ?)
      ORDER BY ${order()} LIMIT ${PAGE_SIZE})
    ORDER BY ${order(`${table}.`)}`;
  let before = filter.limit === undefined ? START : await newest(filter.limit);
  // Without an end, a reader slower than the receivers would never finish.
  let last = await newest(0);
  for (;;) {
    const rows = await all(page, [...values, ...before, ...last]);
    yield* rows;
    if (rows.length < PAGE_SIZE) return;
    const [receivedAt, seq] = positionOf(rows.at(-1));
    if (filter.newestFirst === true) last = [receivedAt, seq - 1];
    else before = [receivedAt, seq];
  }
}

export function conditionsOf(
  { outcome, reference, since, until, failed, pending }: EventFilter,
  dialect: Dialect,
) {
  const { position } = dialect;
  const conditions: readonly [sql: string, value: string | number | undefined][] = [
    ["outcome = ?", outcome],
    [`${position}(reference, ?) > 0`, reference],
    ["received_at >= ?", since?.getTime()],
    ["received_at < ?", until?.getTime()],
  ];
  const given = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  return {
    where: [
      "TRUE",
      ...given.map(({ sql }) => sql),
      ...(failed === true ? [isFailed(dialect)] : []),
      ...(pending === true ? [isPending(dialect)] : []),
    ].join(" AND "),
    values: given.map(({ value }) => value),
  };
}
