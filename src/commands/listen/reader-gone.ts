/** What `listen` does when nobody reads its output any more, as in `paylink listen --json | head -1`. */
import type { Context } from "../../context.ts";
import type { ListenOptions } from "./options.ts";

export interface ReaderWatch {
  /** Fires when `listen` is to stop: at an interruption, or when a webhook would have no further use. */
  readonly stop: AbortSignal;
  readonly close: () => void;
}

/**
 * Receiving continues if events are stored, forwarded or counted: showing them is only a part of the work. If showing
 * them was all, each further 200 would tell the service that somebody knows of the payment.
 */
export function watchReader(
  { out, signal }: Pick<Context, "out" | "signal">,
  { database, forwarding, expectations }: Pick<ListenOptions, "database" | "forwarding" | "expectations">,
): ReaderWatch {
  const continues = database !== null || forwarding.routes.length > 0 || expectations.length > 0;
  const message = continues ? (database === null ? NOT_STORED : STORED) : STOPPED;
  // With --json, warnings go to stdout, which nobody reads.
  const warn = (): void =>
    out.error(
      out.json ? JSON.stringify({ type: "warning", message }) : `${out.notePaint.yellow("!")} ${message}`,
    );
  const unread = out.unread();
  unread.addEventListener("abort", warn, { once: true });
  return {
    stop: continues ? signal : AbortSignal.any([signal, unread]),
    close: () => unread.removeEventListener("abort", warn),
  };
}

const GONE = "Nobody reads this output any more";
const STORED = `${GONE}. Webhooks are still received and stored: paylink events list   shows them.`;
const NOT_STORED = `${GONE}. Webhooks are still received, but not stored (--no-store).`;
const STOPPED = `${GONE}, and nothing is stored (--no-store): listen stops.`;
