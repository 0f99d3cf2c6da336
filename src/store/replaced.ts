/** Which events no sum counts: those whose payment has a newer record. */
import type { RunKeys } from "../events/event.ts";
import type { Dialect } from "./dialects.ts";
import { isOneOf, type Row, type Sql, sql } from "./sql.ts";

/**
 * A column of `events`, for `GROUP BY`: 1 for an event that has been replaced, else 0. A newer event of the same uti has replaced it, whatever its
 * outcome and delivery, and whether or not the list finds it: so a payment counts once in all lists together. Without a uti, an event is a
 * payment of its own.
 *
 * Two keys may be of two services, where the same uti means two payments: only those `together` are compared, and each other key with itself.
 *
 * Most events have no newer one, and `events_uti` alone says so.
 */
export const replacedColumn = ({ schema, isAnother }: Dialect, together: RunKeys = []): Sql =>
  sql`CASE WHEN EXISTS (SELECT 1 FROM ${schema}events AS newer
      WHERE newer.uti = nullif(events.uti, '') ${isAnother} AND newer.id > events.id AND (newer.key = events.key
        OR (${isOneOf(sql`events.key`, together)} AND ${isOneOf(sql`newer.key`, together)}))) THEN 1 ELSE 0 END AS replaced`;

/** Of a row with this column. */
export const isReplaced = ({ replaced }: Row): boolean => Number(replaced) === 1;
