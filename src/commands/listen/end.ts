/** When `listen` ends: told to stop, all that was expected has come, one was rejected, or the time has passed. */
import { PaylinkError } from "../../domain/errors.ts";
import type { Rejection, WebhookEvent } from "../../receiver/events.ts";
import type { Tally } from "./expect.ts";
import type { ListenOptions } from "./options.ts";

export interface End {
  /** Looks whether this was the last thing to wait for. */
  readonly saw: (outcome: WebhookEvent | Rejection) => void;
  /** Resolves when it is time to go; throws `signature_rejected` or `timed_out`. */
  readonly come: Promise<void>;
}

export function awaitEnd(
  signal: AbortSignal,
  { expectations, timeout, database }: Pick<ListenOptions, "expectations" | "timeout" | "database">,
  tally: Tally,
): End {
  const { promise, resolve, reject } = deferred();
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(
          () => {
            const missing = tally.missing();
            if (missing.length === 0) resolve();
            else reject(timedOut(missing));
          },
          Math.min(timeout, LONGEST_TIMER),
        );
  const stop = (): void => resolve();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", stop, { once: true });
  const come = promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  });
  // Whoever starts up meanwhile may fail first; the end is then never looked at.
  come.catch(() => undefined);
  return {
    come,
    saw: (outcome) => {
      if (expectations.length === 0) return;
      // What could not be kept comes again; it was not refused for what it is.
      if (outcome.type === "rejected" && outcome.status !== NOT_NOW)
        reject(rejected(outcome, database !== null));
      else if (tally.missing().length === 0) resolve();
    },
  };
}

const NOT_NOW = 503;
/** setTimeout takes no more milliseconds than this. */
const LONGEST_TIMER = 2 ** 31 - 1;

const timedOut = (missing: readonly string[]): PaylinkError =>
  new PaylinkError("timed_out", `The time has passed, and these did not come: ${missing.join(", ")}.`, {
    hint: "Check that the payment was made and that its callback address is the one listened on.",
    details: { missing },
  });

const rejected = ({ id, code, detail }: Rejection, kept: boolean): PaylinkError =>
  new PaylinkError("signature_rejected", `A webhook was rejected: ${code}: ${detail}`, {
    hint: kept
      ? `paylink verify --event ${id}   explains it`
      : "It was not kept. Without --no-store, paylink verify --event explains what was rejected.",
    details: { id, code },
  });

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, resolve: () => settle?.resolve(), reject: (error) => settle?.reject(error) };
}
