/**
 * Reads the event store, a page at a time: there may be millions of events. Lists of events and rejections, newest first, by
 * a cursor (`page`), one event with its attempts, arrivals and actions (`history`), and the sums of what is not delivered.
 */
import { messageOf } from "../domain/system-reason.ts";
import { OUTCOMES } from "../domain/outcome.ts";
import { type DeliveryState, idAt } from "../receiver/events.ts";
import type { All, Dialect, Readable, Row, Value } from "./dialects.ts";
import { dueFirst } from "./deliveries.ts";
import { follow } from "./following.ts";
import {
  type Action,
  actionFromRow,
  type Arrival,
  arrivalFromRow,
  attemptFromRow,
  type DamagedRow,
  eventFromRow,
  orDamaged,
  rejectionFromRow,
  type StoredAttempt,
  type StoredEvent,
  type StoredRejection,
} from "./rows.ts";
import { IN_STATE } from "./schema.ts";
import { type Conditions, conditionsOf, oldEvents, selectEvents } from "./selection.ts";
import { statsOf, type Stats } from "./stats.ts";
import type { Pruned, Selection } from "./writes.ts";

export interface EventFilter extends Selection {
  /** Only events whose delivery is in this state. */
  readonly state?: DeliveryState | undefined;
  /** Only the newest ones, at most this many. */
  readonly limit?: number | undefined;
  /** In place of the order of arrival. */
  readonly newestFirst?: boolean | undefined;
}

export type RejectionFilter = Pick<EventFilter, "since" | "until" | "limit" | "newestFirst">;

/** Which rows a page shows. */
export interface PageOptions {
  /** Events with this delivery, or rejections; undefined for all of both. */
  readonly show?: DeliveryState | "rejected" | undefined;
  /** Only what arrived before the row with this id. */
  readonly before?: string | undefined;
  /** Of what waits, the next attempt first, in place of the newest event. */
  readonly nextFirst?: boolean;
  readonly limit: number;
}

/** Everything that happened to an event after its arrival, in order. */
export interface History {
  readonly arrivals: readonly Arrival[];
  readonly attempts: readonly StoredAttempt[];
  readonly actions: readonly Action[];
}

/** Behind every id. */
const LAST_ID = "\u{10ffff}";
/** The most events, and the most rejections, that a search finds. */
const MAX_FOUND = 20;
/** Rows in memory at once. */
const PAGE_SIZE = 100;

interface Source extends Conditions {
  readonly select: string;
  readonly table: "events" | "rejections";
}

function eventsOf({ state, ...selection }: EventFilter, dialect: Dialect): Source {
  const { where, values } = conditionsOf(selection, dialect);
  const ofState =
    state === undefined
      ? ""
      : state === "delivered"
        ? // Nearly all are: a list of them would take longer than a look at each row of a page.
          ` AND EXISTS (SELECT 1 FROM ${dialect.schema}deliveries WHERE event = events.id AND ${IN_STATE.delivered})`
        : ` AND id IN (SELECT event FROM ${dialect.schema}deliveries WHERE ${IN_STATE[state]})`;
  return { table: "events", select: selectEvents(dialect), where: where + ofState, values };
}

function rejectionsOf({ since, until }: RejectionFilter, dialect: Dialect): Source {
  const conditions = conditionsOf({ since, until }, dialect);
  return { table: "rejections", select: `SELECT * FROM ${dialect.schema}rejections`, ...conditions };
}

/** The reading half of an event store. */
export function createReading(readable: Readable) {
  const { dialect, open, damaged } = readable;
  const { schema } = dialect;
  const using = async <T>(work: (all: All) => Promise<T>): Promise<T> => {
    const reader = open();
    try {
      return await work(reader.all);
    } finally {
      reader.close();
    }
  };
  const checked =
    <T>(convert: (row: Row) => T) =>
    (row: Row): T => {
      try {
        return convert(row);
      } catch (error) {
        throw damaged(messageOf(error));
      }
    };
  const read = async <T>(convert: (row: Row) => T, sql: string, ...values: Value[]): Promise<T[]> =>
    (await using((all) => all(sql, values))).map(checked(convert));
  const pages = async function* <T>(
    convert: (row: Row) => T,
    source: Source,
    filter: EventFilter,
  ): AsyncGenerator<T> {
    const reader = open();
    try {
      for await (const row of readPages(reader.all, dialect, source, filter)) yield checked(convert)(row);
    } finally {
      reader.close();
    }
  };
  /** The newest rows of a page. The deliveries choose those of a state: there may be no such event among the newest ones. */
  const newestOf = (show: PageOptions["show"]): string =>
    show === undefined || show === "rejected"
      ? `SELECT id FROM ${schema}events WHERE id < ? ORDER BY id DESC LIMIT ?`
      : `SELECT event FROM ${schema}deliveries WHERE ${IN_STATE[show]} AND event < ? ORDER BY event DESC LIMIT ?`;
  const eventsOfPage = (all: All, { show, before = LAST_ID, nextFirst = false, limit }: PageOptions) => {
    const [order, { sql, values }] = nextFirst
      ? ["due, id", dueFirst(dialect, { outcomes: OUTCOMES, until: Number.MAX_SAFE_INTEGER, limit })]
      : ["id DESC", { sql: newestOf(show), values: [before, limit] }];
    return all(`${selectEvents(dialect)} WHERE id IN (${sql}) ORDER BY ${order}`, values);
  };
  return {
    /** The events and rejections whose uti or id begins with `prefix`, or whose order number it is; newest first. */
    find: async (prefix: string): Promise<(StoredEvent | StoredRejection)[]> => {
      const range = (from: string): [string, string] => [from, `${from}\u{10ffff}`];
      // By the index of the column: by `id`, a server without statistics would read the whole table.
      const first = (column: string): string =>
        `SELECT id FROM (SELECT id FROM ${schema}events WHERE ${column} >= ? AND ${column} < ?
           ORDER BY ${column}, id DESC LIMIT ${MAX_FOUND}) AS by_${column}`;
      const events = await read(
        eventFromRow,
        `${selectEvents(dialect)} WHERE events.id IN (
           ${first("uti")} UNION ${first("id")} UNION ${first("reference")}
           UNION SELECT id FROM (SELECT id FROM ${schema}events WHERE reference = ?
             ORDER BY id DESC LIMIT ${MAX_FOUND}) AS by_order)
         ORDER BY events.id DESC LIMIT ${MAX_FOUND}`,
        ...range(prefix),
        ...range(prefix),
        ...range(`${prefix}-`),
        prefix,
      );
      const rejections = await read(
        rejectionFromRow,
        `SELECT * FROM ${schema}rejections WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ${MAX_FOUND}`,
        ...range(prefix),
      );
      return [...events, ...rejections];
    },
    /** In order of arrival by default, in constant memory. Events that arrive meanwhile are not included. */
    events: (filter: EventFilter = {}): AsyncIterable<StoredEvent> =>
      pages(eventFromRow, eventsOf(filter, dialect), filter),
    rejections: (filter: RejectionFilter = {}): AsyncIterable<StoredRejection> =>
      pages(rejectionFromRow, rejectionsOf(filter, dialect), filter),
    /** Events and rejections together, newest first. The id of the last one is the cursor of the next page. */
    page: (options: PageOptions): Promise<(StoredEvent | StoredRejection | DamagedRow)[]> =>
      using(async (all) => {
        const { show, before = LAST_ID, limit } = options;
        const events = show === "rejected" ? [] : await eventsOfPage(all, options);
        if (show !== undefined && show !== "rejected") return events.map(orDamaged(eventFromRow));
        const rejections = await all(
          `SELECT * FROM ${schema}rejections WHERE id < ? ORDER BY id DESC LIMIT ?`,
          [before, limit],
        );
        return [...events.map(orDamaged(eventFromRow)), ...rejections.map(orDamaged(rejectionFromRow))]
          .toSorted((one, other) => (one.id < other.id ? 1 : -1))
          .slice(0, limit);
      }),
    /** The last attempt of each of these events that has one, by their ids. */
    lastAttempts: async (events: readonly string[]): Promise<ReadonlyMap<string, StoredAttempt>> => {
      if (events.length === 0) return new Map();
      const rows = await using((all) =>
        all(
          `SELECT * FROM ${schema}attempts WHERE seq IN (
             SELECT max(seq) FROM ${schema}attempts WHERE event IN (${events.map(() => "?").join()}) GROUP BY event)`,
          events,
        ),
      );
      return new Map(rows.map((row) => [String(row["event"]), checked(attemptFromRow)(row)]));
    },
    history: async (event: string): Promise<History> => {
      const all = <T>(convert: (row: Row) => T, table: string): Promise<T[]> =>
        read(convert, `SELECT * FROM ${schema}${table} WHERE event = ? ORDER BY seq`, event);
      return {
        arrivals: await all(arrivalFromRow, "arrivals"),
        attempts: await all(attemptFromRow, "attempts"),
        actions: await all(actionFromRow, "actions"),
      };
    },
    /** How many events pass the filter, at most `most`. */
    count: (filter: EventFilter, most: number, rejected = false): Promise<number> =>
      using(async (all) => {
        const { table, where, values } = rejected ? rejectionsOf(filter, dialect) : eventsOf(filter, dialect);
        const [row] = await all(
          `SELECT count(*) AS n FROM (SELECT 1 FROM ${schema}${table} WHERE ${where} LIMIT ?) AS found`,
          [...values, most],
        );
        return Number(row?.["n"]);
      }),
    /** How many events wait or failed, at most `most`. */
    countState: (state: "pending" | "failed", most: number): Promise<number> =>
      using(async (all) => {
        const [row] = await all(
          `SELECT count(*) AS n FROM (SELECT 1 FROM ${schema}deliveries WHERE ${IN_STATE[state]} LIMIT ?) AS found`,
          [most],
        );
        return Number(row?.["n"]);
      }),
    /**
     * `since` is for what is finished: attempts, and events that were delivered. Nothing is summed up where there are `most`
     * events or more.
     */
    stats: (since: Date, now: Date, most?: number): Promise<Stats> =>
      using((all) => statsOf(all, dialect, { since, now, most })),
    /** Counts what `prune` would delete. */
    countBefore: (before: Date): Promise<Pruned> =>
      using(async (all) => {
        const count = async (old: string): Promise<number> => {
          const [row] = await all(`SELECT count(*) AS n FROM ${schema}${old}`, [idAt(before)]);
          return Number(row?.["n"]);
        };
        return {
          events: await count(oldEvents(dialect)),
          rejections: await count("rejections WHERE id < ?"),
        };
      }),
    /** A value that was remembered by its name. */
    fact: (name: string): Promise<string | undefined> =>
      using(async (all) => {
        const [row] = await all(`SELECT value FROM ${schema}facts WHERE name = ?`, [name]);
        return row === undefined ? undefined : String(row["value"]);
      }),
    /**
     * Each look gives the events that pass the filter and were stored since the last one; the first, those since `since`.
     * With `rejected`, it gives rejections instead.
     */
    follow: (filter: Selection, rejected = false) =>
      follow(readable, rejected ? rejectionsOf({}, dialect) : eventsOf(filter, dialect), filter.since),
  };
}

/**
 * The newest rows that pass the filter. They are read in pages, because the open cursor of a slow reader would keep the log
 * of SQLite from being emptied.
 */
async function* readPages(
  all: All,
  { schema }: Dialect,
  { table, select, where, values }: Source,
  { limit, newestFirst = false }: EventFilter,
): AsyncGenerator<Row> {
  const newest = async (offset: number): Promise<string | undefined> => {
    const [row] = await all(
      `SELECT id FROM ${schema}${table} WHERE ${where} ORDER BY id DESC LIMIT 1 OFFSET ?`,
      [...values, offset],
    );
    return row === undefined ? undefined : String(row["id"]);
  };
  const order = newestFirst ? "DESC" : "ASC";
  // The ids alone are chosen first, so that no other rows are read.
  const page = `${select} WHERE ${table}.id IN (
      SELECT id FROM ${schema}${table} WHERE ${where} AND id > ? AND id <= ? ORDER BY id ${order} LIMIT ${PAGE_SIZE})
    ORDER BY ${table}.id ${order}`;
  let after = limit === undefined ? "" : ((await newest(limit)) ?? "");
  // Without an end, a reader slower than the receivers would never finish.
  let last = await newest(0);
  let isFirst = true;
  while (last !== undefined) {
    const rows = await all(isFirst || !newestFirst ? page : page.replace("id <= ?", "id < ?"), [
      ...values,
      after,
      last,
    ]);
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE_SIZE) return;
    if (newestFirst) last = String(end["id"]);
    else after = String(end["id"]);
    isFirst = false;
  }
}
