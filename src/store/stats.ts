/** Whether money is being lost now: what is not delivered, with its sums, and what was rejected, read from indexes. */
import { unscaledAmount } from "../domain/money.ts";
import { hasApprovedAmount, OUTCOMES } from "../domain/outcome.ts";
import { UNITS } from "../values/time.ts";
import { idAt } from "../events/event-id.ts";
import { lastForward, waitingByKey } from "./waiting.ts";
import type { Readable } from "./dialects.ts";
import { isReplaced, replacedColumn } from "./replaced.ts";
import { IN_STATE } from "./schema.ts";
import { DAMAGED_ROWS, hasDamagedRows } from "./seal.ts";
import { damagedRow } from "./sources.ts";
import { isOneOf, type Row, type Sql, sql } from "./sql.ts";

/** What events of one currency add up to. */
export interface CurrencySum {
  readonly currency: string;
  /** A plain decimal. */
  readonly amount: string;
}

export interface StateStats {
  readonly events: number;
  /**
   * What was approved, by currency: each payment by its newest record alone. Other outcomes have no sum. Null if there are more events
   * than were asked for.
   */
  readonly sums: readonly CurrencySum[] | null;
}

/** The events that one key has verified. */
export interface KeyStats {
  /** Its thumbprint. */
  readonly key: string;
  readonly pending: StateStats;
  readonly failed: StateStats;
  /** Those of `failed` that the service sends again. */
  readonly comesAgain: StateStats;
  readonly skipped: StateStats;
  /** Of the events since a time. */
  readonly delivered: StateStats;
  /** When the oldest event that waits was received. */
  readonly oldest: Date | null;
  /** For how many milliseconds an event has been due without a receiver that claims it; 0 if none has. */
  readonly overdue: number;
}

export interface Stats {
  /** Of each key that has such events: a sum is of one key. */
  readonly keys: readonly KeyStats[];
  /** Requests in the last hour, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Since a time, by target. */
  readonly attempts: readonly {
    readonly target: string;
    readonly accepted: number;
    readonly refused: number;
    readonly unanswered: number;
  }[];
  /** When any event was last attempted. */
  readonly lastAttempt: Date | null;
}

interface StatsOptions {
  readonly since: Date;
  readonly now: Date;
  /** The most events to count in each state. */
  readonly most: number | undefined;
}

const APPROVED = isOneOf(sql`outcome`, OUTCOMES.filter(hasApprovedAmount));

export async function statsOf(
  { all, dialect, place }: Readable,
  { since, now: at, most = Number.MAX_SAFE_INTEGER }: StatsOptions,
): Promise<Stats> {
  const { schema } = dialect;
  const inState = (condition: Sql): Sql =>
    sql`SELECT event, comes_again FROM ${schema}deliveries WHERE ${condition} LIMIT ${most}`;
  const byKey = async (deliveries: Sql, among = sql`TRUE`): Promise<ReadonlyMap<string, StateStats>> => {
    // A sum is of one key.
    const rows = await all(
      sql`SELECT key, currency, ${replacedColumn(dialect)}, count(*) AS events,
         CAST(sum(CASE WHEN ${APPROVED} THEN amount END) AS text) AS sum, ${DAMAGED_ROWS}
       FROM (${deliveries}) AS found CROSS JOIN ${schema}events WHERE events.id = found.event AND ${among}
       GROUP BY key, currency, replaced ORDER BY key, currency`,
    );
    if (hasDamagedRows(rows))
      throw damagedRow(place, "the amounts of its deliveries have changed since they were stored");
    const isWhole = countOf(rows) < most;
    const keys = new Set(rows.map(({ key }) => String(key)));
    return new Map(
      [...keys].map((key) => {
        const own = rows.filter((row) => row["key"] === key);
        return [key, { events: countOf(own), sums: isWhole ? own.flatMap(currencySums) : null }] as const;
      }),
    );
  };
  const waiting = await waitingByKey({ all, dialect });
  const states = {
    pending: await byKey(inState(IN_STATE.pending)),
    failed: await byKey(inState(IN_STATE.failed)),
    comesAgain: await byKey(inState(IN_STATE.failed), sql`comes_again = 1`),
    skipped: await byKey(inState(IN_STATE.skipped)),
    delivered: await byKey(inState(sql`${IN_STATE.delivered} AND event >= ${idAt(since)}`)),
  };
  const refused = await all(
    sql`SELECT code, count(*) AS n FROM ${schema}rejections WHERE id >= ${idAt(new Date(at.getTime() - UNITS.h))}
      GROUP BY code ORDER BY n DESC, code`,
  );
  const targets = await all(
    sql`SELECT target, sum(CASE WHEN status BETWEEN 200 AND 299 THEN 1 ELSE 0 END) AS accepted,
       sum(CASE WHEN status NOT BETWEEN 200 AND 299 THEN 1 ELSE 0 END) AS refused,
       sum(CASE WHEN status IS NULL THEN 1 ELSE 0 END) AS unanswered
     FROM ${schema}attempts WHERE event >= ${idAt(since)} GROUP BY target ORDER BY target`,
  );
  const keys = new Set(Object.values(states).flatMap((found) => [...found.keys()]));
  return {
    keys: [...keys].toSorted().map((key) => {
      const { oldest, overdue = 0 } = waiting.get(key) ?? {};
      const of = (state: keyof typeof states): StateStats => states[state].get(key) ?? NO_EVENTS;
      return {
        key,
        pending: of("pending"),
        failed: of("failed"),
        comesAgain: of("comesAgain"),
        skipped: of("skipped"),
        delivered: of("delivered"),
        oldest: oldest ?? null,
        overdue,
      };
    }),
    refused: Object.fromEntries(refused.map(({ code, n }) => [String(code), Number(n)])),
    attempts: targets.map(({ target, accepted, refused, unanswered }) => ({
      target: String(target),
      accepted: Number(accepted),
      refused: Number(refused),
      unanswered: Number(unanswered),
    })),
    lastAttempt: (await lastForward({ all, dialect })) ?? null,
  };
}

export const NO_EVENTS: StateStats = { events: 0, sums: [] };

const countOf = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + Number(row["events"]), 0);

const currencySums = (row: Row): CurrencySum[] => {
  const { currency, sum } = row;
  return typeof sum === "string" && !isReplaced(row)
    ? [{ currency: String(currency), amount: unscaledAmount(BigInt(sum)) }]
    : [];
};
