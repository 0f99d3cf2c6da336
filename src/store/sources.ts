/** Where events and rejections are read from, and what their rows become. */
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import type { Rejection } from "../events/event.ts";
import type { StoredEvent } from "../events/history.ts";
import type { Dialect, Readable } from "./dialects.ts";
import { eventCondition, type EventQuery, rejectionCondition } from "./event-query.ts";
import { damageOf, eventFromRow, rejectionFromRow } from "./event-rows.ts";
import { type Row, type Sql, sql } from "./sql.ts";

export interface Source<T> {
  readonly table: Sql;
  readonly select: Sql;
  /** The condition, on the columns of the table. */
  readonly where: Sql;
  readonly convert: (row: Row) => T;
}

/** Subqueries, not joins: a server without statistics would join all deliveries. */
export const selectEvents = ({ schema }: Dialect): Sql =>
  sql`SELECT events.*,
     (SELECT state FROM ${schema}deliveries WHERE deliveries.event = events.id) AS state,
     (SELECT due FROM ${schema}deliveries WHERE deliveries.event = events.id) AS due,
     (SELECT comes_again FROM ${schema}deliveries WHERE deliveries.event = events.id) AS comes_again,
     (SELECT count(*) FROM ${schema}attempts WHERE attempts.event = events.id AND replay = 0) AS attempts,
     (SELECT count(*) FROM ${schema}arrivals WHERE arrivals.event = events.id) AS repeats
   FROM ${schema}events`;

export const eventsOf = (
  query: EventQuery,
  readable: Readable,
  where = eventCondition(query, readable.dialect),
): Source<StoredEvent> => ({
  table: sql`events`,
  select: selectEvents(readable.dialect),
  where,
  convert: checked(eventFromRow, readable),
});

export const rejectionsOf = (query: EventQuery, readable: Readable): Source<Rejection> => ({
  table: sql`rejections`,
  select: sql`SELECT * FROM ${readable.dialect.schema}rejections`,
  where: rejectionCondition(query, readable.dialect),
  convert: checked(rejectionFromRow, readable),
});

/** The events that may be deleted: none that waits to be forwarded, and none that the application has not accepted. */
export const oldEvents = ({ schema }: Dialect, before: string): Sql =>
  sql`${schema}events WHERE id < ${before} AND NOT EXISTS (SELECT 1 FROM ${schema}deliveries
     WHERE event = events.id AND (due IS NOT NULL OR state = 'failed'))`;

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
