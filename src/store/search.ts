/** What lists show of many events: those that a person looks for, their number and sums, and how they spread over time. */
import type { Outcome } from "../domain/outcome.ts";
import type { DeliveryState, RunKeys } from "../receiver/event.ts";
import { idAt } from "../receiver/event-id.ts";
import type { Value } from "./database.ts";
import { beginsWith, LAST_CHARACTER, type Readable, type Row, type Sql, union } from "./dialects.ts";
import { namedEvents } from "./named.ts";
import type { StoredRequest } from "./rows.ts";
import { IN_STATE } from "./schema.ts";
import { DAMAGED_ROWS, hasDamagedRows } from "./seal.ts";
import { selectionConditions, damagedRow, eventsOf, rejectionsOf, type Selection } from "./selection.ts";

/** A text that a person looks for, with all that it may mean. */
export interface Sought {
  /** The order number, or how the uti or the id begins. */
  readonly text: string;
  /** As `scaledAmount` has it. */
  readonly amount?: number | undefined;
  /** In upper case; only with an amount. */
  readonly currency?: string | undefined;
  /** The last four digits of a card. */
  readonly card?: string | undefined;
  /** Of an answer: the application's, or that of a receiver which refused. */
  readonly status?: number | undefined;
}

/** Which events and rejections a list shows: those that pass all that is given. */
export interface EventQuery extends Pick<Selection, "outcome" | "keys" | "otherThan" | "since" | "until"> {
  readonly sought?: Sought | undefined;
  readonly state?: DeliveryState | "rejected" | undefined;
  readonly path?: string | undefined;
}

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

/** The most events that are looked at one by one: the newest ones. */
export const SEARCHED = 100_000;
/** The most that an index finds of one text. */
const BY_INDEX = 1_000;
const FULLY_APPROVED = "outcome = 'APPROVED'";

/** What lists ask of an event; `events_listed` has all of it. */
const LISTED = "id, received_at, outcome, path, key, currency, amount, card, payment";

export function createSearch(readable: Readable) {
  const { dialect, all } = readable;
  const { schema, position } = dialect;

  /** The newest events of a period, as far as they are looked at. */
  const newest = (columns: string, { since, until }: EventQuery): Sql => ({
    sql: `SELECT ${columns} FROM ${schema}events WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ${SEARCHED}`,
    values: [firstId(since), lastId(until)],
  });

  /** The newest events in a state, as far as they are looked at; `page` says how many of them. */
  const newestIn = (state: DeliveryState, { since, until }: EventQuery, page: string): Sql => {
    // What waits has an index of its own: with a bare column, `event` would be searched among all deliveries.
    const event = state === "pending" ? "event || ''" : "event";
    return {
      sql: `SELECT event, key, outcome FROM ${schema}deliveries WHERE ${IN_STATE[state]} AND ${event} >= ? AND ${event} < ?
        ORDER BY ${event} DESC ${page}`,
      values: [firstId(since), lastId(until)],
    };
  };

  /** The ids of a page of events, the newest first. */
  const pageOf = (query: EventQuery, before: string, limit: number): Sql => {
    const { sought, state, path, outcome, keys, otherThan } = query;
    if (sought !== undefined || path !== undefined || state === undefined || state === "rejected") {
      const { sql, values } = matching(query);
      return {
        sql: `SELECT id FROM (${sql}) AS matching WHERE id < ? ORDER BY id DESC LIMIT ?`,
        values: [...values, before, limit],
      };
    }
    // Deliveries have all that is asked: no event is read but those of the page.
    const listed = newestIn(state, query, `LIMIT ${SEARCHED}`);
    const selected = selectionConditions({ outcome, keys, otherThan }, dialect);
    return {
      sql: `SELECT event FROM (${listed.sql}) AS listed WHERE ${selected.where} AND event < ? ORDER BY event DESC LIMIT ?`,
      values: [...listed.values, ...selected.values, before, limit],
    };
  };

  /** The ids of what a text finds: by indexes, and among the newest. */
  const soughtIds = (sought: Sought, query: EventQuery): Sql => {
    const { text, amount, currency, card, status } = sought;
    const listed = newest(LISTED, query);
    const among = (condition: string, ...values: Value[]): Sql => ({
      sql: `SELECT id FROM (${listed.sql}) AS newest WHERE ${condition}`,
      values: [...listed.values, ...values],
    });
    return union([
      namedEvents(dialect, text, BY_INDEX),
      ...(amount === undefined
        ? []
        : [
            among(
              `amount = ?${currency === undefined ? "" : " AND currency = ?"}`,
              amount,
              ...(currency === undefined ? [] : [currency]),
            ),
          ]),
      ...(card === undefined ? [] : [among("card = ?", card)]),
      ...(status === undefined
        ? []
        : [
            {
              // The condition is for SQLite, which would say of the order alone that it reads the whole table.
              sql: `SELECT event FROM (SELECT event, status FROM ${schema}attempts
                WHERE seq > (SELECT max(seq) FROM ${schema}attempts) - ${SEARCHED} ORDER BY seq DESC LIMIT ${SEARCHED})
                AS newest_attempts WHERE status = ?`,
              values: [status],
            },
          ]),
    ]);
  };

  /** The columns of `LISTED` of the events that a query finds. */
  const matching = (query: EventQuery): Sql => {
    const { sought, state, outcome, path, keys, otherThan, since, until } = query;
    const range = [firstId(since), lastId(until)];
    const from = (ids: Sql): Sql => ({
      sql: `SELECT ${LISTED} FROM ${schema}events WHERE id IN (${ids.sql}) AND id >= ? AND id < ?`,
      values: [...ids.values, ...range],
    });
    const ofState = state === "rejected" ? undefined : state;
    const source =
      sought !== undefined
        ? from(soughtIds(sought, query))
        : ofState === undefined
          ? newest(LISTED, query)
          : from(idsOf(newestIn(ofState, query, `LIMIT ${SEARCHED}`)));
    const selected = selectionConditions({ outcome, keys, otherThan }, dialect);
    const conditions: readonly Sql[] = [
      { sql: selected.where, values: selected.values },
      ...(sought === undefined || ofState === undefined
        ? []
        : [
            {
              sql: `EXISTS (SELECT 1 FROM ${schema}deliveries WHERE event = found.id AND ${IN_STATE[ofState]})`,
              values: [],
            },
          ]),
      ...(path === undefined ? [] : [{ sql: "path = ?", values: [path] }]),
    ];
    return {
      sql: `SELECT ${LISTED} FROM (${source.sql}) AS found WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}`,
      values: [...source.values, ...conditions.flatMap(({ values }) => values)],
    };
  };

  /** The condition of rejections; undefined where a query is about what only events have. They are few. */
  const rejected = ({ sought, state, outcome, path, since, until }: EventQuery): Sql | undefined => {
    if (outcome !== undefined || (state !== undefined && state !== "rejected")) return undefined;
    const { text, status } = sought ?? {};
    const target = path === undefined ? "" : `"target":${JSON.stringify(path).slice(0, -1)}`;
    const conditions: readonly Sql[] = [
      { sql: "id >= ? AND id < ?", values: [firstId(since), lastId(until)] },
      ...(path === undefined
        ? []
        : [
            {
              sql: `(${position}(head, ?) > 0 OR ${position}(head, ?) > 0)`,
              values: [`${target}"`, `${target}?`],
            },
          ]),
      ...(text === undefined
        ? []
        : [
            {
              sql: `((${beginsWith("id", text).sql}) OR code = ?${status === undefined ? "" : " OR status = ?"})`,
              values: [
                ...beginsWith("id", text).values,
                text.toLowerCase(),
                ...(status === undefined ? [] : [status]),
              ],
            },
          ]),
    ];
    return {
      sql: conditions.map(({ sql }) => sql).join(" AND "),
      values: conditions.flatMap(({ values }) => values),
    };
  };

  return {
    /** Events and rejections together, newest first. The id of the last one is the cursor of the next page. */
    list: async (
      query: EventQuery,
      { before = LAST_CHARACTER, limit }: EventPage,
    ): Promise<StoredRequest[]> => {
      const { select, convert } = eventsOf({}, readable);
      const { sql, values } = pageOf(query, before, limit);
      const found =
        query.state === "rejected"
          ? []
          : await all(`${select} WHERE id IN (${sql}) ORDER BY id DESC`, values);
      const condition = rejected(query);
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
    /** Counts and adds up all that a query finds, on whatever page. */
    totals: async (query: EventQuery): Promise<Totals> => {
      const { sql, values } = matching(query);
      const groups =
        query.state === "rejected"
          ? []
          : await all(
              `SELECT key, outcome, currency, count(*) AS events, CAST(sum(amount) AS text) AS sum,
                 count(*) - count(amount) AS unsummed, ${DAMAGED_ROWS}
               FROM (${sql}) AS matching GROUP BY key, outcome, currency ORDER BY key, outcome, currency`,
              values,
            );
      requireAsStored(groups);
      const condition = rejected(query);
      const [count] =
        condition === undefined
          ? []
          : await all(
              `SELECT count(*) AS n FROM ${schema}rejections WHERE ${condition.sql}`,
              condition.values,
            );
      return {
        groups: groups.map(groupFromRow),
        rejected: Number(count?.["n"] ?? 0),
        searchedSince: query.state === "rejected" ? null : await searchedSince(query),
      };
    },
    /** The paths at which the newest events arrived, at most `limit`. */
    paths: async (limit: number): Promise<string[]> => {
      const { sql, values } = newest("path, id", {});
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
      const { sql, values } = matching({ since, until, keys });
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
      const failing = matching({ since, until, keys, state: "failed" });
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
    const { since, until, state, sought } = query;
    // What an index finds is found whatever its age.
    if (sought !== undefined && [sought.amount, sought.card, sought.status].every((one) => one === undefined))
      return null;
    const page = `LIMIT 1 OFFSET ${SEARCHED}`;
    const last: Sql =
      state === undefined || state === "rejected" || sought !== undefined
        ? {
            sql: `SELECT id FROM ${schema}events WHERE id >= ? AND id < ? ORDER BY id DESC ${page}`,
            values: [firstId(since), lastId(until)],
          }
        : idsOf(newestIn(state, query, page));
    const [row] = await all(`SELECT received_at FROM ${schema}events WHERE id IN (${last.sql})`, last.values);
    return row === undefined ? null : new Date(Number(row["received_at"]));
  }
}

const firstId = (since: Date | undefined): string => (since === undefined ? "" : idAt(since));
const lastId = (until: Date | undefined): string => (until === undefined ? LAST_CHARACTER : idAt(until));

/** The column `event` alone. */
const idsOf = ({ sql, values }: Sql): Sql => ({
  sql: `SELECT event FROM (${sql}) AS listed`,
  values,
});

const groupFromRow = ({ key, outcome, currency, events, sum, unsummed }: Row): Group => ({
  key: String(key),
  outcome: String(outcome) as Outcome,
  currency: String(currency),
  events: Number(events),
  sum: typeof sum === "string" ? BigInt(sum) : 0n,
  unsummed: Number(unsummed),
});
