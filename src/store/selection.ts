/** Which events, or rejections, a statement is about, and what it reads of them. */
import { comparableText } from "../values/comparable-text.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import type { DeliveryState, Rejection, RunKeys } from "../events/event.ts";
import { idAt } from "../events/event-id.ts";
import {
  type Dialect,
  type Readable,
  type Row,
  type Sql,
  type Value,
  beginsWith,
  isNoneOf,
  isOneOf,
} from "./dialects.ts";
import type { StoredEvent } from "../events/history.ts";
import { damageOf, eventFromRow, rejectionFromRow } from "./rows.ts";
import { IN_STATE } from "./schema.ts";

/** Which events, by the columns that lists filter by. */
export interface Selection {
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
}

export interface EventFilter extends Selection {
  /** Only events whose delivery is in this state. */
  readonly state?: DeliveryState | undefined;
  /** Only the newest ones, at most this many. */
  readonly limit?: number | undefined;
  /** In place of the order of arrival. */
  readonly newestFirst?: boolean | undefined;
}

export type RejectionFilter = Pick<EventFilter, "since" | "until" | "limit" | "newestFirst">;

/** Where rows are read from, and what they become. */
export interface Source<T> {
  readonly table: "events" | "rejections";
  readonly select: string;
  /** The condition, on the columns of the table. */
  readonly where: string;
  readonly values: readonly Value[];
  readonly convert: (row: Row) => T;
}

/** Subqueries, not joins: a server without statistics would join all deliveries. */
export const selectEvents = ({ schema }: Dialect): string =>
  `SELECT events.*,
     (SELECT state FROM ${schema}deliveries WHERE deliveries.event = events.id) AS state,
     (SELECT due FROM ${schema}deliveries WHERE deliveries.event = events.id) AS due,
     (SELECT comes_again FROM ${schema}deliveries WHERE deliveries.event = events.id) AS comes_again,
     (SELECT count(*) FROM ${schema}attempts WHERE attempts.event = events.id AND replay = 0) AS attempts,
     (SELECT count(*) FROM ${schema}arrivals WHERE arrivals.event = events.id) AS repeats
   FROM ${schema}events`;

/** The events that may be deleted: none that waits to be forwarded, and none that the application has not accepted. */
export const oldEvents = ({ schema }: Dialect): string =>
  `events WHERE id < ? AND NOT EXISTS (SELECT 1 FROM ${schema}deliveries
     WHERE event = events.id AND (due IS NOT NULL OR state = 'failed'))`;

export function eventsOf({ state, ...filter }: EventFilter, readable: Readable): Source<StoredEvent> {
  const { dialect } = readable;
  const { where, values } = selectionConditions(filter, dialect);
  const ofState =
    state === undefined
      ? ""
      : state === "delivered"
        ? // Nearly all are: a list of them would take longer than a look at each row of a page.
          ` AND EXISTS (SELECT 1 FROM ${dialect.schema}deliveries WHERE event = events.id AND ${IN_STATE.delivered})`
        : ` AND id IN (SELECT event FROM ${dialect.schema}deliveries WHERE ${IN_STATE[state]})`;
  return {
    table: "events",
    select: selectEvents(dialect),
    where: where + ofState,
    values,
    convert: checked(eventFromRow, readable),
  };
}

export const rejectionsOf = ({ since, until }: RejectionFilter, readable: Readable): Source<Rejection> => ({
  table: "rejections",
  select: `SELECT * FROM ${readable.dialect.schema}rejections`,
  ...selectionConditions({ since, until }, readable.dialect),
  convert: checked(rejectionFromRow, readable),
});

/** Says of a row that it cannot be read back. */
export const checked =
  <T>(convert: (row: Row) => T, { place }: Readable) =>
  (row: Row): T => {
    try {
      return convert(row);
    } catch (error) {
      throw damagedRow(place, damageOf(error));
    }
  };

export const damagedRow = (place: string, reason: string): PaylinkError =>
  new PaylinkError(
    "file_unreadable",
    `The event store ${place} is damaged, with a row that paylink did not write: ${reason}.`,
    { hints: [hint`Restore it from a backup, or name another one with --db.`] },
  );

type Selected = { readonly [Name in keyof Selection]-?: NonNullable<Selection[Name]> };

/** On the columns of `events`. A member of a selection without its condition does not compile: it would select everything. */
const CONDITIONS: {
  readonly [Name in keyof Selected]: (value: Selected[Name], dialect: Dialect) => Sql;
} = {
  outcome: (outcome) => ({ sql: "outcome = ?", values: [outcome] }),
  reference: (part, { position }) => ({
    sql: `${position}(reference, ?) > 0`,
    values: [comparableText(part)],
  }),
  order: (order) => {
    const number = comparableText(order);
    const { sql, values } = beginsWith("reference", `${number}-`);
    return { sql: `(reference = ? OR (${sql}))`, values: [number, ...values] };
  },
  since: (since) => ({ sql: "id >= ?", values: [idAt(since)] }),
  until: (until) => ({ sql: "id < ?", values: [idAt(until)] }),
  keys: (keys) => isOneOf("key", keys),
  otherThan: (keys) => isNoneOf("key", keys),
};

const SELECTION = Object.keys(CONDITIONS) as (keyof Selection)[];

/** The condition of a selection without members. */
export const EVERYTHING = "TRUE";

/** The condition that a selection is, on the columns of `events`. */
export function selectionConditions(
  selection: Selection,
  dialect: Dialect,
): { readonly where: string; readonly values: readonly Value[] } {
  const conditions = SELECTION.flatMap((name) => conditionOf(name, selection[name], dialect));
  return {
    where: [EVERYTHING, ...conditions.map(({ sql }) => sql)].join(" AND "),
    values: conditions.flatMap(({ values }) => values),
  };
}

const conditionOf = <Name extends keyof Selected>(
  name: Name,
  value: Selected[Name] | undefined,
  dialect: Dialect,
): readonly Sql[] => (value === undefined ? [] : [CONDITIONS[name](value, dialect)]);
