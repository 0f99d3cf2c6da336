/**
 * Reads the event store, a page at a time: there may be millions of events. Lists of events and rejections, one event with its
 * attempts, arrivals and actions (`history`), and the sums of undelivered events.
 */
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { OUTCOMES } from "../domain/outcome.ts";
import type { Rejection, RunKeys } from "../events/event.ts";
import { idAt } from "../events/event-id.ts";
import type { Readable } from "./dialects.ts";
import { dueFirst, waitingKeys } from "./waiting.ts";
import { type EventQuery, namedEvents } from "./event-query.ts";
import type { OrderStanding } from "../orders/standing.ts";
import { standingsNow } from "./order-standings.ts";
import { factOf } from "./facts.ts";
import { follow } from "./following.ts";
import type { History, StoredAttempt, StoredEvent, StoredRequest } from "../events/history.ts";
import {
  type RecordedAnswer,
  actionFromRow,
  answerFromRow,
  arrivalFromRow,
  attemptFromRow,
} from "./event-rows.ts";
import { createPayments } from "./payments.ts";
import { checked, eventsOf, oldEvents, rejectionsOf, type Source } from "./sources.ts";
import { createSearch } from "./search.ts";
import { beginsWith, isOneOf, type Row, type Sql, sql } from "./sql.ts";
import { type Stats, statsOf } from "./stats.ts";
import { type TargetAnswer, targetsOf } from "./targets.ts";
import type { Pruned } from "./writes.ts";

/** The most events, and the most rejections, that a search finds. */
const MAX_FOUND = 20;
/** Rows in memory at once. */
const ROWS_PER_READ = 100;

export interface EventList extends EventQuery {
  /** Only the newest ones, at most this many. */
  readonly limit?: number | undefined;
  /** In place of the order of arrival. */
  readonly newestFirst?: boolean | undefined;
}

/** The reading half of an event store. */
export function createReading(readable: Readable) {
  const { dialect, all } = readable;
  const { schema } = dialect;
  /** In order of arrival by default, in constant memory. What arrives meanwhile is not included. */
  const events = ({ limit, newestFirst, ...query }: EventList = {}): AsyncIterable<StoredEvent> =>
    readPages(readable, eventsOf(query, readable), { limit, newestFirst });
  const rejections = ({ limit, newestFirst, ...query }: EventList = {}): AsyncIterable<Rejection> =>
    readPages(readable, rejectionsOf(query, readable), { limit, newestFirst });
  const read = async <T>({ select, convert }: Source<T>, rest: Sql) =>
    (await all(sql`${select} ${rest}`)).map(convert);
  const count = async (from: Sql): Promise<number> => {
    const [row] = await all(sql`SELECT count(*) AS n FROM ${from}`);
    return Number(row?.["n"]);
  };
  /** The events and rejections whose uti or id begins with `prefix`, or whose order number it is; newest first. */
  const find = async (prefix: string): Promise<StoredRequest[]> => {
    const named = namedEvents(dialect, prefix, MAX_FOUND);
    const found = await read(
      eventsOf({}, readable),
      sql`WHERE events.id IN (${named}) ORDER BY events.id DESC LIMIT ${MAX_FOUND}`,
    );
    const rejected = await read(
      rejectionsOf({}, readable),
      sql`WHERE ${beginsWith(sql`id`, prefix)} ORDER BY id DESC LIMIT ${MAX_FOUND}`,
    );
    return [...found, ...rejected];
  };
  return {
    ...createPayments(readable),
    ...createSearch(readable),
    events,
    rejections,
    find,
    /**
     * The one that a user names by its order number, or by the beginning of its uti or id. Throws `event_not_found`, or `usage` if
     * several have this name.
     */
    findOne: async (name: string): Promise<StoredRequest> => {
      const found = name === "" ? [] : await find(name);
      const exact = found.filter((one) => one.id === name || (one.type === "event" && one.uti === name));
      const candidates = exact.length > 0 ? exact : found;
      const [first] = candidates;
      if (first === undefined)
        throw new PaylinkError(
          "event_not_found",
          name === "" ? "The uti is empty." : `No event has the uti, id or order number ${name}.`,
        );
      const nameOf = (one: StoredRequest): string =>
        one.type === "event" && !one.id.startsWith(name) ? one.uti : one.id;
      const names = [...new Set(candidates.map(nameOf))];
      if (names.length > 1)
        throw new PaylinkError("usage", `Several events have the name ${name}: ${names.join(", ")}.`, {
          hints: [hint`Name the one you mean by its uti.`],
        });
      return first;
    },
    /** How the orders of these events stand now, by the ids of the events; see `standingsNow`. */
    orders: (
      events: readonly StoredEvent[],
      keysOfRun: () => Promise<RunKeys>,
    ): Promise<ReadonlyMap<string, OrderStanding>> => standingsNow(readable, events, keysOfRun),
    /** The events that wait, at most `limit`, the next attempt first; `own` are the keys whose events are meant, if not all. */
    waiting: async (limit: number, own?: RunKeys): Promise<StoredEvent[]> => {
      const keys = own ?? (await waitingKeys(readable));
      if (keys.length === 0) return [];
      const until = Number.MAX_SAFE_INTEGER;
      const due = dueFirst(dialect, { keys, outcomes: OUTCOMES, until, limit });
      return read(eventsOf({}, readable), sql`WHERE id IN (${due}) ORDER BY due, id`);
    },
    /** The last attempt of each of these events that has one, by their ids. */
    lastAttempts: async (ids: readonly string[]): Promise<ReadonlyMap<string, StoredAttempt>> => {
      const rows = await all(
        sql`SELECT * FROM ${schema}attempts WHERE seq IN (
           SELECT max(seq) FROM ${schema}attempts WHERE ${isOneOf(sql`event`, ids)} GROUP BY event)`,
      );
      const convert = checked(attemptFromRow, readable);
      return new Map(rows.map((row) => [String(row["event"]), convert(row)]));
    },
    /** The newest answer of an application to an event as it was forwarded, not replayed; undefined if there was none. */
    recordedAnswer: async (event: string): Promise<RecordedAnswer | undefined> => {
      const [row] = await all(
        sql`SELECT at, target, status FROM ${schema}attempts
         WHERE event = ${event} AND replay = 0 AND status IS NOT NULL ORDER BY seq DESC LIMIT 1`,
      );
      return row && checked(answerFromRow, readable)(row);
    },
    history: async (event: string): Promise<History> => {
      const of = async <T>(convert: (row: Row) => T, table: Sql): Promise<T[]> =>
        (await all(sql`SELECT * FROM ${schema}${table} WHERE event = ${event} ORDER BY seq`)).map(
          checked(convert, readable),
        );
      return {
        arrivals: await of(arrivalFromRow, sql`arrivals`),
        attempts: await of(attemptFromRow, sql`attempts`),
        actions: await of(actionFromRow, sql`actions`),
      };
    },
    /** How many events, or rejections, pass the query, at most `most`. */
    count: (query: EventQuery, most: number, rejected = false): Promise<number> => {
      const { table, where } = (rejected ? rejectionsOf : eventsOf)(query, readable);
      return count(sql`(SELECT 1 FROM ${schema}${table} WHERE ${where} LIMIT ${most}) AS found`);
    },
    /**
     * `since` is for what is finished: attempts, and events that were delivered. Nothing is summed up where there are `most`
     * events or more.
     */
    stats: (since: Date, now: Date, most?: number): Promise<Stats> => statsOf(readable, { since, now, most }),
    /** What waits and failed by target, of these keys if any are given; at most `most` events of each state are looked at. */
    targets: (most: number, keys?: RunKeys): Promise<TargetAnswer[]> => targetsOf(readable, most, keys),
    /** When the newest event was received; undefined without events. */
    newestAt: async (): Promise<Date | undefined> => {
      const [row] = await all(sql`SELECT received_at FROM ${schema}events ORDER BY id DESC LIMIT 1`);
      return row && new Date(Number(row["received_at"]));
    },
    /** Counts what `prune` would delete. */
    countBefore: async (before: Date): Promise<Pruned> => ({
      events: await count(oldEvents(dialect, idAt(before))),
      rejections: await count(sql`${schema}rejections WHERE id < ${idAt(before)}`),
    }),
    /** The text that no other store has. */
    identity: async (): Promise<string> => (await factOf(readable, "store")) ?? "",
    /**
     * Each look gives the events that pass the query and were stored since the last one; the first, those since `since`.
     * With `rejected`, it gives rejections instead.
     */
    follow: (query: EventQuery, rejected = false) =>
      follow<StoredRequest>(readable, (rejected ? rejectionsOf : eventsOf)(query, readable), query.since),
  };
}

/**
 * The newest rows that pass the filter. They are read in pages, because the open cursor of a slow reader would keep the log
 * of SQLite from being emptied.
 */
async function* readPages<T>(
  { dialect: { schema }, all }: Readable,
  { table, select, where, convert }: Source<T>,
  { limit, newestFirst = false }: Pick<EventList, "limit" | "newestFirst">,
): AsyncGenerator<T> {
  const newest = async (offset: number): Promise<string> => {
    const [row] = await all(
      sql`SELECT id FROM ${schema}${table} WHERE ${where} ORDER BY id DESC LIMIT 1 OFFSET ${offset}`,
    );
    return row === undefined ? "" : String(row["id"]);
  };
  const order = newestFirst ? sql`DESC` : sql`ASC`;
  // The ids alone are chosen first, so that no other rows are read.
  let after = limit === undefined ? "" : await newest(limit);
  // Without an end, a reader slower than the receivers would never finish. No id is between this one and the newest.
  let before = `${await newest(0)} `;
  for (;;) {
    const rows = await all(
      sql`${select} WHERE ${table}.id IN (
        SELECT id FROM ${schema}${table} WHERE ${where} AND id > ${after} AND id < ${before}
          ORDER BY id ${order} LIMIT ${ROWS_PER_READ})
      ORDER BY ${table}.id ${order}`,
    );
    yield* rows.map(convert);
    const end = rows.at(-1);
    if (end === undefined || rows.length < ROWS_PER_READ) return;
    if (newestFirst) before = String(end["id"]);
    else after = String(end["id"]);
  }
}
