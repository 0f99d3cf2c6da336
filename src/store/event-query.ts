/** Which events and rejections are asked for, by lists, pages, counts and operators alike, and the conditions that find them. */
import type { ForwardState, RunKeys } from "../events/event.ts";
import { idAt } from "../events/event-id.ts";
import { comparableText } from "../values/comparable-text.ts";
import type { Dialect } from "./dialects.ts";
import { IN_STATE } from "./schema.ts";
import { allOf, beginsWith, isNoneOf, isOneOf, joined, raw, type Sql, sql } from "./sql.ts";

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

/** Those that pass all that is given. A member without its conditions below does not compile. */
export interface EventQuery {
  readonly outcome?: string | undefined;
  /** A part of the reference. */
  readonly reference?: string | undefined;
  /** The order number: the reference, or what is before its suffix. */
  readonly order?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Only events that one of these keys has verified. */
  readonly keys?: RunKeys | undefined;
  /** Only events that none of these keys has verified. */
  readonly otherThan?: RunKeys | undefined;
  readonly path?: string | undefined;
  /** How their deliveries stand; `open` are those that wait or failed. */
  readonly state?: ForwardState | "open" | "rejected" | undefined;
  readonly sought?: Sought | undefined;
}

/** The most events that are looked at one by one: the newest ones. */
export const SEARCHED = 100_000;
/** The most that an index finds of one text. */
const BY_INDEX = 1_000;

type Asked = { readonly [Name in keyof EventQuery]-?: NonNullable<EventQuery[Name]> };

type Conditions = {
  readonly [Name in keyof Asked]: (value: Asked[Name], dialect: Dialect, query: EventQuery) => Sql;
};

const NONE = raw("FALSE");
const ALL = raw("TRUE");

const times = {
  since: (since: Date) => sql`id >= ${idAt(since)}`,
  until: (until: Date) => sql`id < ${idAt(until)}`,
};

/** On the columns of `events`. */
const OF_EVENTS: Conditions = {
  ...times,
  outcome: (outcome) => sql`outcome = ${outcome}`,
  reference: (part, { position }) => sql`${position}(reference, ${comparableText(part)}) > 0`,
  order: (order) => {
    const number = comparableText(order);
    return sql`(reference = ${number} OR (${beginsWith(sql`reference`, `${number}-`)}))`;
  },
  keys: (keys) => isOneOf(sql`key`, keys),
  otherThan: (keys) => isNoneOf(sql`key`, keys),
  path: (path) => sql`path = ${path}`,
  state: (state, { schema }) =>
    state === "rejected"
      ? NONE
      : state === "delivered"
        ? // Nearly all are: a list of them would take longer than a look at each row of a page.
          sql`EXISTS (SELECT 1 FROM ${schema}deliveries WHERE event = events.id AND ${IN_STATE[state]})`
        : sql`id IN (${inState(state, schema)})`,
  sought: (sought, dialect, query) => sql`id IN (${soughtIds(sought, query, dialect)})`,
};

/** On the columns of `rejections`, which are few. What only events have, no rejection passes. */
const OF_REJECTIONS: Conditions = {
  ...times,
  outcome: () => NONE,
  reference: () => NONE,
  order: () => NONE,
  keys: () => ALL,
  otherThan: () => ALL,
  path: (path, { position }) => {
    const target = `"target":${JSON.stringify(path).slice(0, -1)}`;
    return sql`(${position}(head, ${`${target}"`}) > 0 OR ${position}(head, ${`${target}?`}) > 0)`;
  },
  state: (state) => (state === "rejected" ? ALL : NONE),
  sought: ({ text, status }) => {
    const ofStatus = status === undefined ? NONE : sql`status = ${status}`;
    return sql`((${beginsWith(sql`id`, text)}) OR code = ${text.toLowerCase()} OR ${ofStatus})`;
  },
};

const NAMES = Object.keys(OF_EVENTS) as (keyof EventQuery)[];

const compiled =
  (conditions: Conditions) =>
  (query: EventQuery, dialect: Dialect): Sql => {
    const conditionOf = <Name extends keyof Asked>(name: Name, value: Asked[Name] | undefined): Sql[] =>
      value === undefined ? [] : [conditions[name](value, dialect, query)];
    return allOf(NAMES.flatMap((name) => conditionOf(name, query[name])));
  };

export const eventCondition = compiled(OF_EVENTS);

export const rejectionCondition = compiled(OF_REJECTIONS);

/** The same, of the newest events alone: what pages show must not take longer the more events there are. */
export const searchedCondition = (query: EventQuery, dialect: Dialect): Sql => {
  const condition = eventCondition(query, dialect);
  // What an index finds is found whatever its age.
  return query.sought === undefined
    ? sql`${condition} AND id >= ${firstSearched(query, dialect)}`
    : condition;
};

/** Whether a query looks at events one by one. */
const isSearch = ({ sought }: EventQuery): boolean =>
  sought === undefined ||
  [sought.amount, sought.card, sought.status, sought.words].some((one) => one !== undefined);

/** The id of the first event that is looked at one by one; null if older ones are looked at too. */
export const searchLimit = (query: EventQuery, dialect: Dialect): Sql =>
  isSearch(query) ? sql`nullif(${firstSearched(query, dialect)}, '')` : sql`NULL`;

/** Of those in a state that few are in, or else of all of the period; an empty text if there are not so many. */
function firstSearched({ state, sought, since, until }: EventQuery, { schema }: Dialect): Sql {
  const isOfFew =
    sought === undefined && state !== undefined && state !== "delivered" && state !== "rejected";
  const ids = isOfFew
    ? sql`SELECT event AS id FROM (${inState(state, schema)}) AS in_state`
    : sql`SELECT id FROM ${schema}events`;
  const period = [
    ...(since === undefined ? [] : [times.since(since)]),
    ...(until === undefined ? [] : [times.until(until)]),
  ];
  return sql`coalesce((SELECT id FROM (${ids}) AS searched WHERE ${allOf(period)}
    ORDER BY id DESC LIMIT 1 OFFSET ${SEARCHED - 1}), '')`;
}

/** The events whose deliveries are in a state that few are in. */
function inState(state: Exclude<ForwardState, "delivered"> | "open", schema: Sql): Sql {
  if (state === "open") return sql`${inState("pending", schema)} UNION ALL ${inState("failed", schema)}`;
  // What waits has an index of its own: with a bare column, `event` would be searched among all deliveries.
  const event = raw(state === "pending" ? "event || '' AS event" : "event");
  return sql`SELECT ${event} FROM ${schema}deliveries WHERE ${IN_STATE[state]}`;
}

/** The ids of what a text finds: by indexes, and among the newest. */
function soughtIds(sought: Sought, query: EventQuery, dialect: Dialect): Sql {
  const { text, amount, currency, card, status, words } = sought;
  const { schema, position } = dialect;
  const among = (condition: Sql): Sql =>
    sql`SELECT id FROM ${schema}events WHERE id >= ${firstSearched(query, dialect)} AND ${condition}`;
  const amongAttempts = (condition: Sql): Sql =>
    // The condition is for SQLite, which would say of the order alone that it reads the whole table.
    sql`SELECT event FROM (SELECT event, status, detail FROM ${schema}attempts
      WHERE seq > (SELECT max(seq) FROM ${schema}attempts) - ${SEARCHED} ORDER BY seq DESC LIMIT ${SEARCHED})
      AS newest_attempts WHERE ${condition}`;
  const found = [namedEvents(dialect, text, BY_INDEX)];
  if (amount !== undefined)
    found.push(
      among(sql`amount = ${amount} AND ${currency === undefined ? ALL : sql`currency = ${currency}`}`),
    );
  if (card !== undefined) found.push(among(sql`card = ${card}`));
  if (status !== undefined) found.push(amongAttempts(sql`status = ${status}`));
  if (words !== undefined) found.push(amongAttempts(sql`${position}(lower(detail), ${words}) > 0`));
  return joined(found, " UNION ");
}

/**
 * The ids of the events that a person names, by their order number, or by how their uti or id begins; at most `most` by each name. The
 * indexes of the columns find them: by `id` alone, a server without statistics would read the whole table.
 */
export function namedEvents({ schema }: Dialect, name: string, most: number): Sql {
  const number = comparableText(name);
  const beginning = (column: Sql, text: string): Sql =>
    sql`SELECT id FROM (SELECT id FROM ${schema}events WHERE ${beginsWith(column, text)}
      ORDER BY ${column}, id DESC LIMIT ${most}) AS by_${column}`;
  return joined(
    [
      beginning(sql`uti`, name),
      beginning(sql`id`, name),
      // The payments of a reusable link have a suffix behind its order number.
      beginning(sql`reference`, `${number}-`),
      sql`SELECT id FROM (SELECT id FROM ${schema}events WHERE reference = ${number}
        ORDER BY id DESC LIMIT ${most}) AS by_order`,
    ],
    " UNION ",
  );
}
