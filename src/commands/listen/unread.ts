/** What `listen` does once whoever read its output has gone, as in `paylink listen --json | head -1`. */
import type { Context } from "../../context.ts";
import type { ListenOptions } from "./options.ts";

export interface Readership {
  /** Fires when `listen` is to stop: at an interruption, or where nothing would come of a webhook any more. */
  readonly stop: AbortSignal;
  /** From here on nobody needs to be told. */
  readonly close: () => void;
}

/**
 * What is kept, passed on or counted goes on being so: receiving is the work, and showing is only a part of it. Where
 * showing was all, every further 200 would tell the service that somebody knows of the payment.
 */
export function watchReader(
  { out, signal }: Pick<Context, "out" | "signal">,
  { database, passOn, expectations }: Pick<ListenOptions, "database" | "passOn" | "expectations">,
  warn: (warning: string) => void,
): Readership {
  const passesOn = passOn.to !== undefined || passOn.failedTo !== undefined;
  const goesOn = database !== null || passesOn || expectations.length > 0;
  const tell = (): void => warn(goesOn ? (database === null ? UNSEEN : KEPT) : OVER);
  const unread = out.unread();
  unread.addEventListener("abort", tell, { once: true });
  return {
    stop: goesOn ? signal : AbortSignal.any([signal, unread]),
    close: () => unread.removeEventListener("abort", tell),
  };
}

const KEPT =
  "Nobody reads this output any more. Webhooks are received and kept as before: paylink events list   shows them.";
const UNSEEN =
  "Nobody reads this output any more. Webhooks are received as before, and not kept (--no-store).";
const OVER =
  "Nobody reads this output any more, and nothing is kept (--no-store): no more webhooks are received.";
