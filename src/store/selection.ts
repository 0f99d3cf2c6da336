/** Which events a statement is about, and what it reads of them. */
import { idAt } from "../receiver/events.ts";
import type { Dialect, Value } from "./dialects.ts";
import type { Selection } from "./writes.ts";

/** Subqueries, not joins: a server without statistics would join all deliveries. */
export const selectEvents = ({ schema }: Dialect): string =>
  `SELECT events.*,
     (SELECT state FROM ${schema}deliveries WHERE deliveries.event = events.id) AS state,
     (SELECT due FROM ${schema}deliveries WHERE deliveries.event = events.id) AS due,
     (SELECT count(*) FROM ${schema}attempts WHERE attempts.event = events.id AND replay = 0) AS attempts,
     (SELECT count(*) FROM ${schema}arrivals WHERE arrivals.event = events.id) AS repeats
   FROM ${schema}events`;

/** The events that may be deleted: none that waits to be forwarded, and none that the application has not accepted. */
export const oldEvents = ({ schema }: Dialect): string =>
  `events WHERE id < ? AND NOT EXISTS (SELECT 1 FROM ${schema}deliveries
     WHERE event = events.id AND (due IS NOT NULL OR state = 'failed'))`;

export interface Conditions {
  readonly where: string;
  readonly values: readonly Value[];
}

/** The condition that a selection is, on the columns of `events`. */
export function conditionsOf(
  { outcome, reference, order, since, until }: Selection,
  { position }: Dialect,
): Conditions {
  const conditions: readonly [sql: string, ...values: (string | undefined)[]][] = [
    ["outcome = ?", outcome],
    [`${position}(reference, ?) > 0`, reference],
    [
      "(reference = ? OR (reference >= ? AND reference < ?))",
      order,
      order && `${order}-`,
      order && `${order}-\u{10ffff}`,
    ],
    ["id >= ?", since && idAt(since)],
    ["id < ?", until && idAt(until)],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  return {
    where: ["TRUE", ...given.map(([sql]) => sql)].join(" AND "),
    values: given.flatMap(([, ...values]) => values.map((value) => value ?? "")),
  };
}
