/** What waits and what failed by the target that was tried last, with the next attempt, and how fast each target takes events. */
import { OUTCOMES } from "../domain/outcome.ts";
import { UNITS } from "../values/time.ts";
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

/** What one target has accepted lately. */
export interface TargetRate {
  readonly target: string;
  readonly accepted: number;
}

export interface TargetReport {
  readonly answers: readonly TargetAnswer[];
  readonly rates: readonly TargetRate[];
  /** The milliseconds that the rates cover: `RATE_PERIOD`, or less if there were very many attempts. */
  readonly period: number;
}

/** Milliseconds. */
const RATE_PERIOD = 10 * UNITS.m;
/** The most attempts that rates are read from: the newest ones. */
const RATED = 10_000;

/** Looks at no more than `most` events of each state: those that are due first, and the newest that failed. */
export async function targetsOf(
  readable: Readable,
  { now, most, keys }: { readonly now: Date; readonly most: number; readonly keys: RunKeys | undefined },
): Promise<TargetReport> {
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
  const since = now.getTime() - RATE_PERIOD;
  const attempts = await all(
    sql`SELECT target, count(*) AS n, min(at) AS oldest,
       sum(CASE WHEN at >= ${since} AND status BETWEEN 200 AND 299 THEN 1 ELSE 0 END) AS accepted
     FROM (SELECT target, at, status FROM ${schema}attempts ORDER BY seq DESC LIMIT ${RATED}) AS newest
     GROUP BY target ORDER BY target`,
  );
  const rated = attempts.reduce((sum, { n }) => sum + Number(n), 0);
  const oldest = Math.min(...attempts.map(({ oldest }) => Number(oldest)));
  return {
    answers: [
      ...waiting.map((row) => ({ ...targetAnswer(row), waiting: Number(row["n"]), failed: 0 })),
      ...failed.map((row) => ({ ...targetAnswer(row), waiting: 0, failed: Number(row["n"]) })),
    ],
    rates: attempts.map(({ target, accepted }) => ({ target: String(target), accepted: Number(accepted) })),
    period: rated < RATED ? RATE_PERIOD : Math.max(1, Math.min(RATE_PERIOD, now.getTime() - oldest)),
  };
}

const targetAnswer = ({ target, status, next }: Row) => ({
  target: typeof target === "string" ? target : null,
  status: status === null ? null : Number(status),
  next: next === null ? null : new Date(Number(next)),
});
