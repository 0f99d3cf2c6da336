/** What lists show of many events: those that a query finds, their number and sums, and how they spread over time. */
import type { Outcome } from "../domain/outcome.ts";
import type { RunKeys } from "../events/event.ts";
import type { Readable } from "./dialects.ts";
import {
  eventCondition,
  type EventQuery,
  rejectionCondition,
  searchedCondition,
  searchLimit,
} from "./event-query.ts";
import type { StoredRequest } from "../events/history.ts";
import { isReplaced, replacedColumn } from "./replaced.ts";
import { DAMAGED_ROWS, hasDamagedRows } from "./seal.ts";
import { damagedRow, eventsOf, rejectionsOf, type Source } from "./sources.ts";
import { LAST_CHARACTER, raw, type Row, sql } from "./sql.ts";

export interface EventPage {
  /** Only what arrived before the row with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Events of one key and currency with one outcome. */
export interface Group {
  readonly key: string;
  readonly outcome: Outcome;
  readonly currency: string;
  readonly events: number;
  /** In ten-thousandths of the major unit. */
  readonly sum: bigint;
  /** Those without an amount that can be added up. */
  readonly unsummed: number;
}

/** What a list shows, added up. */
export interface Totals {
  readonly groups: readonly Group[];
  /** The events that no sum counts, because a newer record of the same payment does. They are in no group. */
  readonly replaced: readonly Pick<Group, "key" | "events">[];
  readonly rejected: number;
  /** Since when events were looked at, if older ones were not. */
  readonly searchedSince: Date | null;
}

/** What arrived in one part of a period. */
export interface Bar {
  /** Events that were approved, and the others, without those that failed. */
  readonly approved: number;
  readonly other: number;
  /** Requests that the receiver has rejected. */
  readonly refused: number;
  /** Those that the application has not accepted, and that paylink does not send again, whatever their outcome. */
  readonly failed: number;
}

export function createSearch(readable: Readable) {
  const { dialect, all } = readable;
  const { schema } = dialect;

  return {
    /** Events and rejections together, newest first. The id of the last one is the cursor of the next page. */
    list: async (
      query: EventQuery,
      { before = LAST_CHARACTER, limit }: EventPage,
    ): Promise<StoredRequest[]> => {
      const page = async <T extends StoredRequest>({
        table,
        select,
        where,
        convert,
      }: Source<T>): Promise<T[]> => {
        const ids = sql`SELECT id FROM ${schema}${table} WHERE ${where} AND id < ${before} ORDER BY id DESC LIMIT ${limit}`;
        return (await all(sql`${select} WHERE id IN (${ids}) ORDER BY id DESC`)).map(convert);
      };
      const events = await page(eventsOf(query, readable, searchedCondition(query, dialect)));
      return [...events, ...(await page(rejectionsOf(query, readable)))]
        .toSorted((one, other) => (one.id < other.id ? 1 : -1))
        .slice(0, limit);
    },
    /** Counts and adds up all that a query finds, on whatever page; `together` are the keys whose records of one uti are one payment. */
    totals: async (query: EventQuery, together?: RunKeys): Promise<Totals> => {
      const groups = await all(
        sql`SELECT key, outcome, currency, ${replacedColumn(dialect, together)}, count(*) AS events,
           CAST(sum(amount) AS text) AS sum, count(*) - count(amount) AS unsummed, ${DAMAGED_ROWS}
         FROM ${schema}events WHERE ${searchedCondition(query, dialect)}
         GROUP BY key, outcome, currency, replaced ORDER BY key, outcome, currency`,
      );
      requireAsStored(groups);
      const [rejected] = await all(
        sql`SELECT count(*) AS n FROM ${schema}rejections WHERE ${rejectionCondition(query, dialect)}`,
      );
      const [last] = await all(
        sql`SELECT received_at FROM ${schema}events WHERE id = (${searchLimit(query, dialect)})`,
      );
      return {
        groups: groups.filter((row) => !isReplaced(row)).map(groupFromRow),
        replaced: groups.filter(isReplaced).map(groupFromRow),
        rejected: Number(rejected?.["n"]),
        searchedSince: last === undefined ? null : new Date(Number(last["received_at"])),
      };
    },
    /** The paths at which the newest events arrived, at most `limit`. */
    paths: async (limit: number): Promise<string[]> => {
      const rows = await all(
        sql`SELECT DISTINCT path FROM ${schema}events WHERE ${searchedCondition({}, dialect)} ORDER BY path LIMIT ${limit}`,
      );
      return rows.map(({ path }) => String(path));
    },
    /** What arrived in each of `parts` equal parts of the time until `until`, `width` milliseconds each; `keys` as in a query. */
    bars: async (parts: number, width: number, until: Date, keys?: RunKeys): Promise<Bar[]> => {
      const since = new Date(until.getTime() - parts * width);
      const query = { since, until, keys };
      const part = raw(`(received_at - ${since.getTime()}) / ${width} AS part`);
      const failed = eventCondition({ state: "failed" }, dialect);
      const events = await all(
        sql`SELECT part, sum(is_failed) AS failed, count(*) - sum(is_failed) AS others, ${DAMAGED_ROWS},
           sum(CASE WHEN outcome = 'APPROVED' AND is_failed = 0 THEN 1 ELSE 0 END) AS approved
         FROM (SELECT ${part}, outcome, currency, amount, payment, CASE WHEN ${failed} THEN 1 ELSE 0 END AS is_failed
           FROM ${schema}events WHERE ${searchedCondition(query, dialect)}) AS found GROUP BY part`,
      );
      requireAsStored(events);
      const rejected = await all(
        sql`SELECT part, count(*) AS refused FROM (SELECT ${part} FROM ${schema}rejections
           WHERE ${rejectionCondition({ since, until }, dialect)}) AS found GROUP BY part`,
      );
      const of = (rows: readonly Row[], at: number): Row =>
        rows.find((row) => Number(row["part"]) === at) ?? {};
      return Array.from({ length: parts }, (_, at) => {
        const { failed: ofFailed = 0, others = 0, approved = 0 } = of(events, at);
        return {
          approved: Number(approved),
          other: Number(others) - Number(approved),
          refused: Number(of(rejected, at)["refused"] ?? 0),
          failed: Number(ofFailed),
        };
      });
    },
  };

  /** Throws if what was counted has changed since it was stored. */
  function requireAsStored(groups: readonly Row[]): void {
    if (hasDamagedRows(groups))
      throw damagedRow(readable.place, "the amounts of its events have changed since they were stored");
  }
}

const groupFromRow = ({ key, outcome, currency, events, sum, unsummed }: Row): Group => ({
  key: String(key),
  outcome: String(outcome) as Outcome,
  currency: String(currency),
  events: Number(events),
  sum: typeof sum === "string" ? BigInt(sum) : 0n,
  unsummed: Number(unsummed),
});
