/** What `listen` does if nobody reads its output any more, as in `paylink listen --json | head -1`. */
import type { Context } from "../../context.ts";
import type { ListenOptions } from "./options.ts";

export interface ReaderWatch {
  /** Fires when `listen` must stop: at an interruption, or when nothing would be done with a webhook any more. */
  readonly stop: AbortSignal;
  readonly close: () => void;
}

/**
 * Receiving continues if events are stored, forwarded or counted. Otherwise each further 200 would acknowledge a payment
 * that nobody sees.
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
