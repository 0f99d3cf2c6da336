/** When `listen` ends: stopped, nobody reads on, all that `--expect` names has arrived, one was rejected, or time is up. */
import { formatDuration, LONGEST_TIMER } from "../../values/time.ts";
import { isKeyText } from "../../signatures/key-text.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { type CommandLine, hint, paylink } from "../../domain/hint.ts";
import type { Rejection, WebhookEvent } from "../../events/event.ts";
import { jsonLine } from "../../events/event-json.ts";
import type { ListenOptions } from "./options.ts";
import { type Outcome, outcomeName } from "../../domain/outcome.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import type { Expectation } from "./command.ts";
import type { Context } from "../../context.ts";
import { renderHint } from "../../render/hint.ts";

/**
 * Whether it was a webhook that was refused for what it is: not a health check or a scanner (another host, path or method, no
 * HTTP), nor one that could not be stored, which the service sends again.
 */
const isRefusedWebhook = ({ request, status }: Rejection): boolean =>
  request !== null && ![404, 405, 421, 503].includes(status);

type EndOptions = Pick<ListenOptions, "expect" | "timeout" | "database" | "keySources" | "keyPlace">;

/** What ends a run. */
export interface EndWatch {
  /** Resolves when the run is over. Throws `signature_rejected`, `timed_out` or what it failed with. */
  readonly reached: Promise<void>;
  readonly fail: (error: unknown) => void;
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
  /** Stops the timer, also if the run has not ended. */
  readonly close: () => void;
}

export function watchForEnd(
  stop: AbortSignal,
  { expect, timeout, database, keySources, keyPlace }: EndOptions,
): EndWatch {
  const tally = createTally(expect);
  let resolve = (): void => undefined;
  let reject = (_error: unknown): void => undefined;
  const reached = new Promise<void>((onResolve, onReject) => {
    [resolve, reject] = [onResolve, onReject];
  });
  const timeUp = (): void => {
    const missing = tally.missing();
    if (missing.length === 0) resolve();
    else reject(webhooksMissing(missing, timeout));
  };
  const timer = timeout === undefined ? undefined : setTimeout(timeUp, Math.min(timeout, LONGEST_TIMER));
  if (stop.aborted) resolve();
  else stop.addEventListener("abort", resolve, { once: true });
  // If the start fails, nobody waits for the end.
  reached.catch(() => undefined);
  return {
    reached,
    fail: reject,
    close: () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", resolve);
    },
    observe: (outcome) => {
      if (expect.length === 0) return;
      if (outcome.type === "event") tally.count(outcome);
      if (outcome.type === "rejected" && isRefusedWebhook(outcome))
        reject(rejected(outcome, database !== null, keyPlace === "--key" ? keyFlags(keySources) : paylink``));
      else if (tally.missing().length === 0) resolve();
    },
  };
}

/**
 * The time between SIGTERM and the end, in which a load balancer sees that this receiver is not ready any more. After Ctrl-C
 * there is no wait.
 */
export async function drain({ aborted, reason }: AbortSignal, milliseconds: number): Promise<void> {
  if (!aborted || !(reason instanceof PaylinkError) || reason.code !== "terminated") return;
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const webhooksMissing = (missing: readonly string[], timeout = 0): PaylinkError =>
  new PaylinkError(
    "timed_out",
    `Timed out after ${formatDuration(timeout)}. Still missing: ${missing.join(", ")}.`,
    {
      hints: [
        hint`Check that the payment was made, and that its callback address is the one that listen serves.`,
      ],
      details: { missing },
    },
  );

/** The flags that name the keys; the text of one is too long to repeat. */
const keyFlags = (sources: readonly string[]): CommandLine =>
  paylink`${{ "--key": sources.filter((source) => !isKeyText(source)) }} ${
    sources.some(isKeyText) ? paylink`--key <key>` : []
  }`;

const rejected = ({ id, code, detail }: Rejection, isStored: boolean, keys: CommandLine): PaylinkError =>
  new PaylinkError("signature_rejected", `A webhook was rejected: ${code}: ${detail}`, {
    hints: [
      isStored
        ? hint`To see why: ${paylink`verify --event ${id} ${keys}`}`
        : hint`It was not stored (--no-store). Without that flag, ${paylink`verify --event <id> ${keys}`} explains a rejected webhook.`,
    ],
    details: { id, code },
  });

function createTally(expectations: readonly Expectation[]) {
  const counts = new Map<Outcome | null, number>();
  const add = (outcome: Outcome | null): void => void counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return {
    /** Counts an event that verified, once. */
    count: ({ content, repeated, verdict }: WebhookEvent): void => {
      if (repeated || verdict.verdict !== "valid") return;
      add(null);
      add(outcomeOf(content.record));
    },
    /** What is still missing, in words; empty once everything has arrived. */
    missing: (): string[] =>
      expectations.flatMap(({ outcome, count }) => {
        const arrived = counts.get(outcome) ?? 0;
        const name = outcome === null ? "webhooks" : outcomeName(outcome);
        return arrived >= count ? [] : [`${count - arrived} of ${count} ${name}`];
      }),
  };
}

/** Whether somebody reads what is printed. */
interface ReaderWatch {
  /** Fires when `listen` must stop: at an interruption, or when nothing would be done with a webhook any more. */
  readonly stop: AbortSignal;
  readonly close: () => void;
}

/**
 * Receiving continues if events are stored, forwarded or counted. Otherwise each further 200 would acknowledge a payment
 * that nobody sees.
 */
export function watchReader(
  { out, signal, now, named }: Pick<Context, "out" | "signal" | "now" | "named">,
  { database, forwarding, expect }: Pick<ListenOptions, "database" | "forwarding" | "expect">,
): ReaderWatch {
  const continues = database !== null || forwarding.routes.length > 0 || expect.length > 0;
  const unread = out.unread();
  const consequence = continues ? (database === null ? WITHOUT_STORE : renderHint(STORED, named)) : STOPPED;
  const warn = (): void => {
    const message = `stdout cannot be written any more (${unread.reason}). ${consequence}`;
    // With --json, warnings go to stdout, which cannot be written.
    if (out.json) out.error(jsonLine("warning", now(), { message }, "warning"));
    else out.warn(message);
  };
  unread.addEventListener("abort", warn, { once: true });
  return {
    stop: continues ? signal : AbortSignal.any([signal, unread]),
    close: () => unread.removeEventListener("abort", warn),
  };
}

const STORED = hint`Webhooks are still received and stored. To see them: ${paylink`events list`}`;
const WITHOUT_STORE = `Webhooks are still received, but not stored (--no-store).`;
const STOPPED = `Nothing is stored (--no-store), so listen stops.`;
