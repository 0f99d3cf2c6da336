/** What waits and what failed by the target that was tried last, with the next attempt. */
import { OUTCOMES } from "../domain/outcome.ts";
import type { RunKeys } from "../events/event.ts";
import type { Readable } from "./dialects.ts";
import { dueFirst, waitingKeys } from "./waiting.ts";
import { IN_STATE } from "./schema.ts";
import { eventCondition } from "./event-query.ts";
import { type Row, type Sql, sql } from "./sql.ts";

/** Events whose last attempt went to one target and had one answer. */
export interface TargetAnswer {
  /** Null for events that were not attempted yet. */
  readonly target: string | null;
  /** Null if it did not answer. */
  readonly status: number | null;
  readonly waiting: number;
  readonly failed: number;
  /** When the first of those that wait is attempted next. */
  readonly next: Date | null;
}

/** Looks at no more than `most` events of each state: those that are due first, and the newest that failed. */
export async function targetsOf(
  readable: Readable,
  most: number,
  keys: RunKeys | undefined,
): Promise<TargetAnswer[]> {
  const { all, dialect } = readable;
  const { schema } = dialect;
  const grouped = (events: Sql): Promise<readonly Row[]> =>
    all(
      sql`SELECT target, status, count(*) AS n, min(due) AS next FROM (
         SELECT event, due, (SELECT max(seq) FROM ${schema}attempts WHERE attempts.event = found.event) AS last
         FROM (${events}) AS found) AS last_attempts
       LEFT JOIN ${schema}attempts ON seq = last GROUP BY target, status`,
    );
  const waitingOf = keys ?? (await waitingKeys(readable));
  const first = dueFirst(dialect, {
    keys: waitingOf,
    outcomes: OUTCOMES,
    until: Number.MAX_SAFE_INTEGER,
    limit: most,
  });
  const waiting =
    waitingOf.length === 0
      ? []
      : await grouped(sql`SELECT event, due FROM ${schema}deliveries WHERE event IN (${first})`);
  const failed = await grouped(
    sql`SELECT event, due FROM ${schema}deliveries WHERE ${IN_STATE.failed} AND ${eventCondition({ keys }, dialect)}
      ORDER BY event DESC LIMIT ${most}`,
  );
  return [
    ...waiting.map((row) => ({ ...targetAnswer(row), waiting: Number(row["n"]), failed: 0 })),
    ...failed.map((row) => ({ ...targetAnswer(row), waiting: 0, failed: Number(row["n"]) })),
  ];
}

const targetAnswer = ({ target, status, next }: Row) => ({
  target: typeof target === "string" ? target : null,
  status: status === null ? null : Number(status),
  next: next === null ? null : new Date(Number(next)),
});
