/** What a list of events and rejections is asked for, and the statements that find it: by indexes, or among the newest. */
import type { DeliveryState } from "../events/event.ts";
import { idAt } from "../events/event-id.ts";
import { type Dialect, LAST_CHARACTER, type Sql, type Value, beginsWith, union } from "./dialects.ts";
import { namedEvents } from "./named.ts";
import { IN_STATE } from "./schema.ts";
import { type Selection, selectionConditions } from "./selection.ts";

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
  /** Of an application's answer, in lower case. */
  readonly words?: string | undefined;
}

/** Which events and rejections a list shows: those that pass all that is given. */
export interface EventQuery extends Pick<Selection, "outcome" | "keys" | "otherThan" | "since" | "until"> {
  readonly sought?: Sought | undefined;
  readonly state?: DeliveryState | "rejected" | undefined;
  readonly path?: string | undefined;
}

/** The most events that are looked at one by one: the newest ones. */
export const SEARCHED = 100_000;
/** The most that an index finds of one text. */
const BY_INDEX = 1_000;

/** What lists ask of an event; `events_listed` has all of it. */
const LISTED = "id, received_at, outcome, path, key, currency, amount, card, payment, uti";

/** The columns of `LISTED` of the events that a query finds. */
export function matchingEvents(query: EventQuery, dialect: Dialect): Sql {
  const { sought, state, outcome, path, keys, otherThan } = query;
  const { schema } = dialect;
  const from = (ids: Sql): Sql => ({
    sql: `SELECT ${LISTED} FROM ${schema}events WHERE id IN (${ids.sql}) AND id >= ? AND id < ?`,
    values: [...ids.values, ...idRangeOf(query)],
  });
  const ofState = state === "rejected" ? undefined : state;
  const source =
    sought !== undefined
      ? from(soughtIds(sought, query, dialect))
      : ofState === undefined
        ? newestEvents(LISTED, query, dialect)
        : from(idsOf(newestIn(ofState, query, `LIMIT ${SEARCHED}`, dialect)));
  const selected = selectionConditions({ outcome, keys, otherThan }, dialect);
  const conditions: Sql[] = [{ sql: selected.where, values: selected.values }];
  if (sought !== undefined && ofState !== undefined)
    conditions.push({
      sql: `EXISTS (SELECT 1 FROM ${schema}deliveries WHERE event = found.id AND ${IN_STATE[ofState]})`,
      values: [],
    });
  if (path !== undefined) conditions.push({ sql: "path = ?", values: [path] });
  const { sql, values } = allOf(conditions);
  return {
    sql: `SELECT ${LISTED} FROM (${source.sql}) AS found WHERE ${sql}`,
    values: [...source.values, ...values],
  };
}

/** The ids of a page of the events that a query finds, the newest first. */
export function eventsOfPage(query: EventQuery, before: string, limit: number, dialect: Dialect): Sql {
  const { sought, state, path, outcome, keys, otherThan } = query;
  if (sought !== undefined || path !== undefined || state === undefined || state === "rejected") {
    const { sql, values } = matchingEvents(query, dialect);
    return {
      sql: `SELECT id FROM (${sql}) AS matching WHERE id < ? ORDER BY id DESC LIMIT ?`,
      values: [...values, before, limit],
    };
  }
  // Deliveries have all that is asked: no event is read but those of the page.
  const listed = newestIn(state, query, `LIMIT ${SEARCHED}`, dialect);
  const selected = selectionConditions({ outcome, keys, otherThan }, dialect);
  return {
    sql: `SELECT event FROM (${listed.sql}) AS listed WHERE ${selected.where} AND event < ? ORDER BY event DESC LIMIT ?`,
    values: [...listed.values, ...selected.values, before, limit],
  };
}

/** The condition of rejections; undefined if a query is about what only events have. They are few. */
export function matchingRejections(query: EventQuery, { position }: Dialect): Sql | undefined {
  const { sought, state, outcome, path } = query;
  if (outcome !== undefined || (state !== undefined && state !== "rejected")) return undefined;
  const conditions: Sql[] = [{ sql: "id >= ? AND id < ?", values: idRangeOf(query) }];
  if (path !== undefined) {
    const target = `"target":${JSON.stringify(path).slice(0, -1)}`;
    conditions.push({
      sql: `(${position}(head, ?) > 0 OR ${position}(head, ?) > 0)`,
      values: [`${target}"`, `${target}?`],
    });
  }
  if (sought !== undefined) {
    const { text, status } = sought;
    const { sql, values } = beginsWith("id", text);
    conditions.push({
      sql: `((${sql}) OR code = ?${status === undefined ? "" : " OR status = ?"})`,
      values: [...values, text.toLowerCase(), ...ifGiven(status)],
    });
  }
  return allOf(conditions);
}

/** The newest events of a period, as far as they are looked at. */
export const newestEvents = (columns: string, query: EventQuery, { schema }: Dialect): Sql => ({
  sql: `SELECT ${columns} FROM ${schema}events WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ${SEARCHED}`,
  values: idRangeOf(query),
});

/** The id of the last event that is looked at one by one, if there are older ones; undefined if all are looked at. */
export function lastSearched(query: EventQuery, dialect: Dialect): Sql | undefined {
  const { state, sought } = query;
  // What an index finds is found whatever its age.
  if (sought !== undefined) {
    const { amount, card, status, words } = sought;
    if ([amount, card, status, words].every((one) => one === undefined)) return undefined;
  }
  const page = `LIMIT 1 OFFSET ${SEARCHED}`;
  return state === undefined || state === "rejected" || sought !== undefined
    ? {
        sql: `SELECT id FROM ${dialect.schema}events WHERE id >= ? AND id < ? ORDER BY id DESC ${page}`,
        values: idRangeOf(query),
      }
    : idsOf(newestIn(state, query, page, dialect));
}

/** The newest events in a state, as far as they are looked at; `page` says how many of them. */
function newestIn(state: DeliveryState, query: EventQuery, page: string, { schema }: Dialect): Sql {
  // What waits has an index of its own: with a bare column, `event` would be searched among all deliveries.
  const event = state === "pending" ? "event || ''" : "event";
  return {
    sql: `SELECT event, key, outcome FROM ${schema}deliveries WHERE ${IN_STATE[state]} AND ${event} >= ? AND ${event} < ?
      ORDER BY ${event} DESC ${page}`,
    values: idRangeOf(query),
  };
}

/** The ids of what a text finds: by indexes, and among the newest. */
function soughtIds(sought: Sought, query: EventQuery, dialect: Dialect): Sql {
  const { text, amount, currency, card, status, words } = sought;
  const { schema, position } = dialect;
  const listed = newestEvents(LISTED, query, dialect);
  const among = (condition: string, values: readonly Value[]): Sql => ({
    sql: `SELECT id FROM (${listed.sql}) AS newest WHERE ${condition}`,
    values: [...listed.values, ...values],
  });
  const found = [namedEvents(dialect, text, BY_INDEX)];
  if (amount !== undefined)
    found.push(
      among(`amount = ?${currency === undefined ? "" : " AND currency = ?"}`, [amount, ...ifGiven(currency)]),
    );
  if (card !== undefined) found.push(among("card = ?", [card]));
  const amongAttempts = (condition: string, value: Value): Sql => ({
    // The condition is for SQLite, which would say of the order alone that it reads the whole table.
    sql: `SELECT event FROM (SELECT event, status, detail FROM ${schema}attempts
      WHERE seq > (SELECT max(seq) FROM ${schema}attempts) - ${SEARCHED} ORDER BY seq DESC LIMIT ${SEARCHED})
      AS newest_attempts WHERE ${condition}`,
    values: [value],
  });
  if (status !== undefined) found.push(amongAttempts("status = ?", status));
  if (words !== undefined) found.push(amongAttempts(`${position}(lower(detail), ?) > 0`, words));
  return union(found);
}

/** The first id of the period of a query, and the one after its last. */
const idRangeOf = ({ since, until }: EventQuery): [string, string] => [
  since === undefined ? "" : idAt(since),
  until === undefined ? LAST_CHARACTER : idAt(until),
];

const allOf = (conditions: readonly Sql[]): Sql => ({
  sql: conditions.map(({ sql }) => sql).join(" AND "),
  values: conditions.flatMap(({ values }) => values),
});

const ifGiven = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value]);

/** The column `event` alone. */
const idsOf = ({ sql, values }: Sql): Sql => ({
  sql: `SELECT event FROM (${sql}) AS listed`,
  values,
});
