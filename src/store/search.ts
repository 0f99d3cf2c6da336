/** What lists show of many events: those that a query finds, their number and sums, and how they spread over time. */
import type { Outcome } from "../domain/outcome.ts";
import type { RunKeys } from "../events/event.ts";
import { idAt } from "../events/event-id.ts";
import { LAST_CHARACTER, type Readable, type Row, type Sql } from "./dialects.ts";
import {
  type EventQuery,
  eventsOfPage,
  lastSearched,
  matchingEvents,
  matchingRejections,
  newestEvents,
} from "./event-query.ts";
import type { StoredRequest } from "../events/history.ts";
import { isReplaced, replacedColumn } from "./replaced.ts";
import { DAMAGED_ROWS, hasDamagedRows } from "./seal.ts";
import { damagedRow, eventsOf, rejectionsOf } from "./selection.ts";

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

const FULLY_APPROVED = "outcome = 'APPROVED'";

export function createSearch(readable: Readable) {
  const { dialect, all } = readable;
  const { schema } = dialect;

  return {
    /** Events and rejections together, newest first. The id of the last one is the cursor of the next page. */
    list: async (
      query: EventQuery,
      { before = LAST_CHARACTER, limit }: EventPage,
    ): Promise<StoredRequest[]> => {
      const { select, convert } = eventsOf({}, readable);
      const { sql, values } = eventsOfPage(query, before, limit, dialect);
      const found =
        query.state === "rejected"
          ? []
          : await all(`${select} WHERE id IN (${sql}) ORDER BY id DESC`, values);
      const condition = matchingRejections(query, dialect);
      const rejections = rejectionsOf({}, readable);
      const refused =
        condition === undefined
          ? []
          : await all(`${rejections.select} WHERE ${condition.sql} AND id < ? ORDER BY id DESC LIMIT ?`, [
              ...condition.values,
              before,
              limit,
            ]);
      return [...found.map(convert), ...refused.map(rejections.convert)]
        .toSorted((one, other) => (one.id < other.id ? 1 : -1))
        .slice(0, limit);
    },
    /** Counts and adds up all that a query finds, on whatever page; `together` are the keys whose records of one uti are one payment. */
    totals: async (query: EventQuery, together?: RunKeys): Promise<Totals> => {
      const replaced = replacedColumn(
        dialect,
        { id: "matching.id", uti: "matching.uti", key: "matching.key" },
        together,
      );
      const { sql, values } = matchingEvents(query, dialect);
      const groups =
        query.state === "rejected"
          ? []
          : await all(
              `SELECT key, outcome, currency, ${replaced.sql}, count(*) AS events, CAST(sum(amount) AS text) AS sum,
                 count(*) - count(amount) AS unsummed, ${DAMAGED_ROWS}
               FROM (${sql}) AS matching
               GROUP BY key, outcome, currency, replaced ORDER BY key, outcome, currency`,
              [...replaced.values, ...values],
            );
      requireAsStored(groups);
      const condition = matchingRejections(query, dialect);
      const [count] =
        condition === undefined
          ? []
          : await all(
              `SELECT count(*) AS n FROM ${schema}rejections WHERE ${condition.sql}`,
              condition.values,
            );
      return {
        groups: groups.filter((row) => !isReplaced(row)).map(groupFromRow),
        replaced: groups.filter(isReplaced).map(groupFromRow),
        rejected: Number(count?.["n"] ?? 0),
        searchedSince: query.state === "rejected" ? null : await searchedSince(query),
      };
    },
    /** The paths at which the newest events arrived, at most `limit`. */
    paths: async (limit: number): Promise<string[]> => {
      const { sql, values } = newestEvents("path, id", {}, dialect);
      const rows = await all(`SELECT DISTINCT path FROM (${sql}) AS newest ORDER BY path LIMIT ?`, [
        ...values,
        limit,
      ]);
      return rows.map(({ path }) => String(path));
    },
    /** What arrived in each of `parts` equal parts of the time until `until`, `width` milliseconds each; `keys` as in a query. */
    bars: async (parts: number, width: number, until: Date, keys?: RunKeys): Promise<Bar[]> => {
      const since = new Date(until.getTime() - parts * width);
      const part = `(received_at - ${since.getTime()}) / ${width}`;
      const { sql, values } = matchingEvents({ since, until, keys }, dialect);
      const counted = async (statement: Sql, condition = "TRUE"): Promise<ReadonlyMap<number, number>> => {
        const rows = await all(
          `SELECT ${part} AS part, count(*) AS n FROM (${statement.sql}) AS found WHERE ${condition} GROUP BY ${part}`,
          statement.values,
        );
        return new Map(rows.map(({ part: at, n }) => [Number(at), Number(n)]));
      };
      requireAsStored(await all(`SELECT ${DAMAGED_ROWS} FROM (${sql}) AS found`, values));
      const approved = await counted({ sql, values }, FULLY_APPROVED);
      const everything = await counted({ sql, values });
      const failing = matchingEvents({ since, until, keys, state: "failed" }, dialect);
      const failed = await counted(failing);
      const failedApproved = await counted(failing, FULLY_APPROVED);
      const refused = await counted({
        sql: `SELECT received_at FROM ${schema}rejections WHERE id >= ? AND id < ?`,
        values: [idAt(since), idAt(until)],
      });
      return Array.from({ length: parts }, (_, index) => {
        const of = (counts: ReadonlyMap<number, number>): number => counts.get(index) ?? 0;
        return {
          approved: of(approved) - of(failedApproved),
          other: of(everything) - of(approved) - (of(failed) - of(failedApproved)),
          refused: of(refused),
          failed: of(failed),
        };
      });
    },
  };

  /** Throws if what was counted has changed since it was stored. */
  function requireAsStored(groups: readonly Row[]): void {
    if (hasDamagedRows(groups))
      throw damagedRow(readable.place, "the amounts of its events have changed since they were stored");
  }

  /** When the last event arrived that is looked at one by one, if there are older ones. */
  async function searchedSince(query: EventQuery): Promise<Date | null> {
    const last = lastSearched(query, dialect);
    if (last === undefined) return null;
    const [row] = await all(`SELECT received_at FROM ${schema}events WHERE id IN (${last.sql})`, last.values);
    return row === undefined ? null : new Date(Number(row["received_at"]));
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
