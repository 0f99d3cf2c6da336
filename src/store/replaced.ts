/** Which events no sum counts: those whose payment has a newer record. */
import type { RunKeys } from "../events/event.ts";
import { type Dialect, isOneOf, type Row, type Sql } from "./dialects.ts";

/** How a statement names what is asked of its events. */
interface NamedColumns {
  readonly id: string;
  readonly uti: string;
  readonly key: string;
}

/**
 * A column for `GROUP BY`: 1 for an event that has been replaced, else 0. A newer event of the same uti has replaced it, whatever its
 * outcome and delivery, and whether or not the list finds it: so a payment counts once in all lists together. Without a uti, an event is a
 * payment of its own.
 *
 * Two keys may be of two services, where the same uti means two payments: only those `together` are compared, and each other key with itself.
 *
 * Most events have no newer one, and `events_uti` alone says so.
 */
export function replacedColumn(
  { schema }: Dialect,
  { id, uti, key }: NamedColumns,
  together: RunKeys = [],
): Sql {
  const [older, newer] = [isOneOf(key, together), isOneOf("newer.key", together)];
  return {
    sql: `CASE WHEN EXISTS (SELECT 1 FROM ${schema}events AS newer
      WHERE newer.uti = nullif(${uti}, '') AND newer.id > ${id}
        AND (newer.key = ${key} OR (${older.sql} AND ${newer.sql}))) THEN 1 ELSE 0 END AS replaced`,
    values: [...older.values, ...newer.values],
  };
}

/** Of a row with this column. */
export const isReplaced = ({ replaced }: Row): boolean => Number(replaced) === 1;
