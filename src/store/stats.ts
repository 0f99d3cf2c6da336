/** Whether money is being lost now: what is not delivered, with its sums, and what was rejected, read from indexes. */
import { unscaledAmount } from "../domain/money.ts";
import { UNITS } from "../values/time.ts";
import { idAt } from "../events/event-id.ts";
import { lastForward, waitingByKey } from "./deliveries.ts";
import type { Readable, Row } from "./dialects.ts";
import { isReplaced, replacedColumn } from "./replaced.ts";
import { IN_STATE } from "./schema.ts";
import { DAMAGED_ROWS, hasDamagedRows } from "./seal.ts";
import { damagedRow } from "./selection.ts";

/** What events of one currency add up to. */
export interface CurrencySum {
  readonly currency: string;
  /** A plain decimal. */
  readonly amount: string;
}

/** The events of one key in one state. */
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

export async function statsOf(
  { all, dialect, place }: Readable,
  { since, now: at, most = Number.MAX_SAFE_INTEGER }: StatsOptions,
): Promise<Stats> {
  const { schema } = dialect;
  // A sum is of one key.
  const replaced = replacedColumn(dialect, {
    id: "found.event",
    uti: `(SELECT uti FROM ${schema}events WHERE id = found.event)`,
    key: "found.key",
  });
  const byKey = async (
    where: string,
    values: readonly string[] = [],
    among = "TRUE",
  ): Promise<ReadonlyMap<string, StateStats>> => {
    const rows = await all(
      `SELECT key, currency, ${replaced.sql}, count(*) AS events, CAST(sum(amount) AS text) AS sum,
         ${DAMAGED_ROWS}
       FROM (SELECT * FROM ${schema}deliveries WHERE ${where} LIMIT ?) AS found WHERE ${among}
       GROUP BY key, currency, replaced ORDER BY key, currency`,
      [...replaced.values, ...values, most],
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
    pending: await byKey(IN_STATE.pending),
    failed: await byKey(IN_STATE.failed),
    comesAgain: await byKey(IN_STATE.failed, [], "comes_again = 1"),
    skipped: await byKey(IN_STATE.skipped),
    delivered: await byKey(`${IN_STATE.delivered} AND event >= ?`, [idAt(since)]),
  };
  const refused = await all(
    `SELECT code, count(*) AS n FROM ${schema}rejections WHERE id >= ? GROUP BY code ORDER BY n DESC, code`,
    [idAt(new Date(at.getTime() - UNITS.h))],
  );
  const targets = await all(
    `SELECT target, sum(CASE WHEN status BETWEEN 200 AND 299 THEN 1 ELSE 0 END) AS accepted,
       sum(CASE WHEN status NOT BETWEEN 200 AND 299 THEN 1 ELSE 0 END) AS refused,
       sum(CASE WHEN status IS NULL THEN 1 ELSE 0 END) AS unanswered
     FROM ${schema}attempts WHERE event >= ? GROUP BY target ORDER BY target`,
    [idAt(since)],
  );
  const keys = new Set(Object.values(states).flatMap((found) => [...found.keys()]));
  return {
    keys: [...keys].toSorted().map((key) => {
      const { oldest, overdue = 0 } = waiting.get(key) ?? {};
      const inState = (state: keyof typeof states): StateStats => states[state].get(key) ?? NO_EVENTS;
      return {
        key,
        pending: inState("pending"),
        failed: inState("failed"),
        comesAgain: inState("comesAgain"),
        skipped: inState("skipped"),
        delivered: inState("delivered"),
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
