/** How an event stands with the application: what became of it, which attempt decided it, and what comes next. */
import { isSuccess } from "../http/message.ts";
import type { DeliveryState } from "./event.ts";
import type { StoredAttempt, StoredDelivery } from "./history.ts";

/** `received` is forwarded nowhere, of `trying` an attempt is under way, and the service sends `refused` again. */
export type EventFate = DeliveryState | "received" | "trying" | "refused";

export interface EventStanding {
  readonly fate: EventFate;
  /** The attempts so far, without replays. */
  readonly attempts: number;
  /** When the next attempt is due; null if none follows, or one is under way. */
  readonly next: Date | null;
  /** The attempt that tells why; undefined without one, and where its history is not read. */
  readonly decidedBy: StoredAttempt | undefined;
}

/** `attempts` is what is known of its attempts, in order. A replay to another application decides nothing. */
export function eventStanding(
  delivery: StoredDelivery | null,
  attempts: readonly StoredAttempt[] = [],
): EventStanding {
  const fate = fateOf(delivery);
  return {
    fate,
    attempts: delivery?.attempts ?? 0,
    next: delivery?.next ?? null,
    decidedBy: attempts.findLast(({ status }) => DECIDES[fate](isSuccess(status))),
  };
}

function fateOf(delivery: StoredDelivery | null): EventFate {
  if (delivery === null) return "received";
  const { state, isTrying, comesAgain } = delivery;
  if (comesAgain) return "refused";
  return state === "pending" && isTrying ? "trying" : state;
}

/** Whether an attempt tells why, by whether it was accepted. */
const DECIDES: Readonly<Record<EventFate, (isAccepted: boolean) => boolean>> = {
  received: () => true,
  pending: (isAccepted) => !isAccepted,
  trying: () => false,
  delivered: (isAccepted) => isAccepted,
  refused: (isAccepted) => !isAccepted,
  failed: (isAccepted) => !isAccepted,
  skipped: () => false,
};
