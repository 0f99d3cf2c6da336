/** How an event stands with the application: what became of it, which attempt decided it, and what comes next. */
import { isSuccess } from "../http/message.ts";
import type { ForwardState } from "./event.ts";
import type { StoredAttempt, StoredDelivery } from "./history.ts";

/** `received` is forwarded nowhere, of `trying` an attempt is under way, and the service sends `refused` again. */
export type EventFate = ForwardState | "received" | "trying" | "refused";

export interface EventStanding extends Pick<StoredDelivery, "attempts" | "next"> {
  readonly fate: EventFate;
  /** The attempt that tells why; undefined without one, and where the attempts are not read. */
  readonly decidedBy: StoredAttempt | undefined;
}

/** A replay to another application decides nothing. */
export function eventStanding(
  delivery: StoredDelivery | null,
  attempts: readonly StoredAttempt[] = [],
): EventStanding {
  if (delivery === null) return { fate: "received", attempts: 0, next: null, decidedBy: attempts.at(-1) };
  const { state, comesAgain, isTrying } = delivery;
  const fate = comesAgain ? "refused" : isTrying ? "trying" : state;
  const isTold = fate !== "trying" && fate !== "skipped";
  const tells = ({ status }: StoredAttempt): boolean =>
    isTold && isSuccess(status) === (fate === "delivered");
  return { fate, attempts: delivery.attempts, next: delivery.next, decidedBy: attempts.findLast(tells) };
}
