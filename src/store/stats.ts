/** Whether money is being lost now: what is not delivered, with its sums, and what was refused, read from indexes. */
import { formatAmount, unscaledAmount } from "../domain/money.ts";
import { idAt } from "../receiver/event-id.ts";
import { backlogOf } from "./deliveries.ts";
import type { Readable, Row } from "./dialects.ts";
import { IN_STATE } from "./schema.ts";

export type Stats = Awaited<ReturnType<typeof statsOf>>;
export type StateStats = Stats["pending"];

const HOUR = 3_600_000;

interface StatsOptions {
  readonly since: Date;
  readonly now: Date;
  /** The most events to count in each state. */
  readonly most: number | undefined;
}

export async function statsOf(
  { all, dialect }: Readable,
  { since, now: at, most = Number.MAX_SAFE_INTEGER }: StatsOptions,
) {
  const { schema } = dialect;
  const byState = async (where: string, ...values: string[]) => {
    const rows = await all(
      `SELECT currency, count(*) AS events, CAST(sum(amount) AS text) AS sum
       FROM (SELECT currency, amount FROM ${schema}deliveries WHERE ${where} LIMIT ?) AS found
       GROUP BY currency ORDER BY currency`,
      [...values, most],
    );
    const events = rows.reduce((sum, row) => sum + Number(row["events"]), 0);
    if (events >= most) return { events, sums: null };
    return {
      events,
      /** What was approved, by currency: "EUR 152.80". Other outcomes have no sum. Null if there are more events than were asked for. */
      sums: rows.flatMap(({ currency, sum }: Row) =>
        typeof sum === "string" ? [formatAmount(unscaledAmount(BigInt(sum)), String(currency)).trim()] : [],
      ),
    };
  };
  const { oldest, overdue, lastForward } = await backlogOf({ all, dialect });
  const refused = await all(
    `SELECT code, count(*) AS n FROM ${schema}rejections WHERE id >= ? GROUP BY code ORDER BY n DESC, code`,
    [idAt(new Date(at.getTime() - HOUR))],
  );
  const targets = await all(
    `SELECT target, sum(CASE WHEN status BETWEEN 200 AND 299 THEN 1 ELSE 0 END) AS accepted,
       sum(CASE WHEN status NOT BETWEEN 200 AND 299 THEN 1 ELSE 0 END) AS refused,
       sum(CASE WHEN status IS NULL THEN 1 ELSE 0 END) AS unanswered
     FROM ${schema}attempts WHERE event >= ? GROUP BY target ORDER BY target`,
    [idAt(since)],
  );
  return {
    pending: await byState(IN_STATE.pending),
    failed: await byState(IN_STATE.failed),
    skipped: await byState(IN_STATE.skipped),
    /** Of the events since a time. */
    delivered: await byState(`${IN_STATE.delivered} AND event >= ?`, idAt(since)),
    /** When the oldest event that waits was received. */
    oldest: oldest ?? null,
    /** Something has been due for so many milliseconds, and no receiver has claimed it. */
    overdue,
    /** In the last hour, by reason. */
    refused: Object.fromEntries(refused.map(({ code, n }) => [String(code), Number(n)])),
    /** Since a time, by target. */
    attempts: targets.map(({ target, accepted, refused, unanswered }) => ({
      target: String(target),
      accepted: Number(accepted),
      refused: Number(refused),
      unanswered: Number(unanswered),
    })),
    /** When any event was last attempted. */
    lastAttempt: lastForward ?? null,
  };
}
