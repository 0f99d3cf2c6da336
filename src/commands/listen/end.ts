/** When `listen` ends: it was stopped, everything expected has arrived, a webhook was rejected, or it timed out. */
import { LONGEST_TIMER } from "../../domain/time.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import type { Rejection, WebhookEvent } from "../../receiver/events.ts";
import type { Tally } from "./expectations.ts";
import type { ListenOptions } from "./options.ts";

export interface End {
  /** Ends the run if this webhook is the last that was expected, or one that was rejected. */
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
  /** Ends the run with this failure, unless it is over. */
  readonly fail: (error: PaylinkError) => void;
  /** Resolves when the run is over. Throws `signature_rejected`, `timed_out` or what it failed with. */
  readonly reached: Promise<void>;
  /** Stops the timer, also if the run has not ended. */
  readonly close: () => void;
}

/** The status of a webhook that could not be stored: the service sends it again. */
const NOT_STORED = 503;

export function watchForEnd(
  stop: AbortSignal,
  { expectations, timeout, database }: Pick<ListenOptions, "expectations" | "timeout" | "database">,
  tally: Tally,
): End {
  const { promise, resolve, reject } = deferred();
  const timeUp = (): void => {
    const missing = tally.missing();
    if (missing.length === 0) resolve();
    else reject(timedOut(missing));
  };
  const timer = timeout === undefined ? undefined : setTimeout(timeUp, Math.min(timeout, LONGEST_TIMER));
  if (stop.aborted) resolve();
  else stop.addEventListener("abort", resolve, { once: true });
  // If the start fails, nobody waits for the end.
  promise.catch(() => undefined);
  return {
    reached: promise,
    fail: reject,
    close: () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", resolve);
    },
    observe: (outcome) => {
      if (expectations.length === 0) return;
      if (outcome.type === "rejected" && outcome.status !== NOT_STORED)
        reject(rejected(outcome, database !== null));
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

const timedOut = (missing: readonly string[]): PaylinkError =>
  new PaylinkError("timed_out", `Timed out. Still missing: ${missing.join(", ")}.`, {
    hints: [
      hint`Check that the payment was made, and that its callback address is the one that listen serves.`,
    ],
    details: { missing },
  });

const rejected = ({ id, code, detail }: Rejection, isStored: boolean): PaylinkError =>
  new PaylinkError("signature_rejected", `A webhook was rejected: ${code}: ${detail}`, {
    hints: [
      isStored
        ? hint`To see why: ${paylink("verify", "--event", id)}`
        : hint`It was not stored (--no-store). Without that flag, ${paylink("verify", "--event", "<id>")} explains a rejected webhook.`,
    ],
    details: { id, code },
  });

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let resolve = (): void => undefined;
  let reject = (_error: unknown): void => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
