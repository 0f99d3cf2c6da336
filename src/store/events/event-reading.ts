/** What reading stored events has in common in SQLite and PostgreSQL: sizes, positions, and filters as SQL. */
import type { EventFilter } from "../../receiver/event-store.ts";
import type { Row } from "./event-rows.ts";

/** The most events, and the most rejections, that a search finds. */
export const MAX_FOUND = 20;
/** Rows in memory at once. */
export const PAGE_SIZE = 100;
/** Events deleted in one transaction, for which a `listen` on the same database may have to wait. */
export const PRUNE_SIZE = 1000;

export interface Source {
  readonly table: string;
  readonly columns: string;
}

/** A place in the order of arrival. Several programs write, so an event may be stored after one that arrived later. */
export type Position = readonly [receivedAt: number, seq: number];

export const START: Position = [0, 0];

export const positionOf = (row: Row | undefined): Position =>
  row === undefined ? START : [Number(row["received_at"]), Number(row["seq"])];

/** How the databases differ in the SQL of a filter. */
interface Dialect {
  /** The place of a value, by its number from 1. */
  readonly place: (number: number) => string;
  /** The function that finds a text in a text. */
  readonly position: string;
  readonly queue: string;
}

export function conditionsOf(
  { outcome, reference, since, until, failed }: EventFilter,
  { place, position, queue }: Dialect,
) {
  const conditions: [sql: (place: string) => string, value: string | number | undefined][] = [
    [(value) => `outcome = ${value}`, outcome],
    [(value) => `${position}(reference, ${value}) > 0`, reference],
    [(value) => `received_at >= ${value}`, since?.getTime()],
    [(value) => `received_at < ${value}`, until?.getTime()],
    [
      (value) => `id IN (SELECT event FROM ${queue} WHERE state = ${value})`,
      failed === true ? "failed" : undefined,
    ],
  ];
  const given = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  return {
    where: ["TRUE", ...given.map(({ sql }, index) => sql(place(index + 1)))].join(" AND "),
    values: given.map(({ value }) => value),
  };
}
