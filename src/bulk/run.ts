/** Runs a planned list: which rows are sent, at what speed, what ends the run, and how an earlier link is cancelled. */
import { setMaxListeners } from "node:events";
import { PaylinkError } from "../domain/errors.ts";
import type { PaymentLinkRequest } from "../domain/payment-link-shapes.ts";
import { LONGEST_TIMER } from "../values/time.ts";
import { passed, type Timers } from "../values/timers.ts";
import { linkEnd } from "../orders/link-end.ts";
import type { Api } from "../service/client.ts";
import type { CheckedRow } from "./read.ts";
import { Pace, type PaceParts } from "./pace.ts";
import type { RowOutcome } from "./outcome.ts";
import { isEnded, type PlannedRow } from "./plan.ts";
import type { ListRow } from "../lists/read-list.ts";
import { requestOf, type RowContext } from "./row.ts";
import { sendRows, type DueRow, type SendingParts, type SentAnswer } from "./send.ts";

export interface ListRun
  extends Pick<SendingParts, "memory" | "concurrency">, Pick<PaceParts, "rate" | "random" | "paused"> {
  readonly rows: readonly CheckedRow[];
  readonly planned: readonly PlannedRow[];
  readonly rowContext: RowContext;
  /** Sends each request once. */
  readonly api: Pick<Api, "createLink" | "cancelLink" | "showLink">;
  readonly now: () => Date;
  readonly timers: Timers;
  /** Ends the run: requests in flight are completed. */
  readonly signal: AbortSignal;
  /** As for `sendRows`, with the row as it is in the list. */
  readonly settled: (row: ListRow, outcome: RowOutcome, request: PaymentLinkRequest | null) => void;
  readonly violated: (row: ListRow, answer: SentAnswer) => void;
}

export interface ListEnd {
  /** What stopped the run before its last row; undefined if nothing did. */
  readonly reason: unknown;
  /** Of the rows that were due, or in flight elsewhere, by their place in the list. */
  readonly outcomes: ReadonlyMap<number, RowOutcome>;
  /** Whether the next run will know all that the results of this one say. */
  readonly isDurable: boolean;
}

export async function runList({
  rows: checked,
  planned,
  rowContext,
  api,
  now,
  timers,
  signal,
  settled,
  violated,
  ...run
}: ListRun): Promise<ListEnd> {
  const outcomes = new Map<number, RowOutcome>();
  const halt = new AbortController();
  const ended = AbortSignal.any([signal, halt.signal]);
  // Every row in progress may listen for it.
  setMaxListeners(0, ended);
  const stopped = (): boolean => ended.aborted;
  // After a timer that was cut short, the caller sleeps again.
  const sleep = (milliseconds: number): Promise<void> =>
    passed(timers, Math.min(milliseconds, LONGEST_TIMER), ended);
  const rowAt = (at: number): ListRow => checked.at(at)?.row ?? NO_ROW;
  const isDurable = await sendRows({
    ...run,
    ...dueRows(checked, planned),
    pace: new Pace({ ...run, clock: timers.elapsed, sleep, stopped }),
    timers,
    requestOf: ({ at }) => requestOf(rowAt(at), rowContext, now()),
    create: api.createLink,
    cancel: (id) => cancelled(api, id, now()),
    sleep,
    stop: (reason) => halt.abort(reason),
    stopped,
    settled: ({ at }, outcome, request) => {
      outcomes.set(at, outcome);
      settled(rowAt(at), outcome, request);
    },
    violated: ({ at }, answer) => violated(rowAt(at), answer),
  });
  return { reason: ended.reason, outcomes, isDurable };
}

const NO_ROW: ListRow = { line: 0, columns: [], values: [], problems: [] };

function dueRows(
  checked: readonly CheckedRow[],
  planned: readonly PlannedRow[],
): Pick<SendingParts, "rows" | "elsewhere"> {
  const rows: DueRow[] = [];
  const elsewhere: DueRow[] = [];
  for (const [at, { isDue, state, claim, link, cancels }] of planned.entries()) {
    const identity = checked.at(at)?.identity;
    if (claim === undefined || identity === undefined) continue;
    const { key, payment, content, orderNumber } = identity;
    // What another run has in flight is its newest attempt.
    const attempt = state === "in_flight" ? claim.attempt - 1 : claim.attempt;
    const known = link?.state === "created" ? link : undefined;
    const row = {
      at,
      sent: { key, payment, content, orderNumber, ...claim, attempt },
      cancels,
      isCorrection: state === "changed" && (cancels.length > 0 || isEnded(link)),
      known,
    };
    if (isDue) rows.push(row);
    else if (state === "in_flight") elsewhere.push(row);
  }
  return { rows, elsewhere };
}

/**
 * Cancels an earlier link of a row, and resolves with why the row is left; undefined if that link can no longer be paid. A link that
 * has ended cannot be cancelled, and need not be; one whose cancellation was not answered may have ended.
 */
async function cancelled(api: ListRun["api"], id: string, now: Date): Promise<string | undefined> {
  const left = (reason: string): string =>
    `The earlier link ${id} is left, and no other was created: ${reason}`;
  try {
    await api.cancelLink(id);
    return undefined;
  } catch (error) {
    if (!(error instanceof PaylinkError)) throw error;
    if (error.isInterruption) return left(error.message);
    const found = await api.showLink(id).then(
      ({ link }) => ({ end: linkEnd(link, now) }),
      () => undefined,
    );
    if (found?.end === "paid") return left("it was paid.");
    if (found?.end !== undefined) return undefined;
    const isOpen = found === undefined && error.code === "outcome_unknown";
    return left(
      isOpen ? `${error.message} It may be cancelled: then this customer has no link.` : error.message,
    );
  }
}
