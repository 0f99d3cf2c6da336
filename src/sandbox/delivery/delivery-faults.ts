/** The delivery faults that `--deliver` simulates, which a receiver must tolerate. */
import type { Delivery } from "../ledger-types.ts";

export const FAULTS = ["duplicate", "late", "out-of-order", "drop-first"] as const;
export type Fault = (typeof FAULTS)[number];

/** How long a late webhook waits, in milliseconds. */
const LATE = 30_000;
/** How long every other webhook waits so that the next one overtakes it, in milliseconds. */
const OVERTAKEN = 2_000;

/** The deliveries to queue for one webhook; `paymentCount` counts the payments before it. */
export function withFault(
  delivery: Delivery,
  fault: Fault | undefined,
  paymentCount: () => number,
  newId: () => string,
): Delivery[] {
  if (fault === "duplicate") return [delivery, { ...delivery, id: newId() }];
  if (fault === "late") return [{ ...delivery, due: delivery.due + LATE }];
  if (fault === "out-of-order" && paymentCount() % 2 === 0)
    return [{ ...delivery, due: delivery.due + OVERTAKEN }];
  return [delivery];
}

/** Whether the next attempt is lost before it reaches the receiver. */
export const isDropped = (delivery: Delivery, fault: Fault | undefined): boolean =>
  fault === "drop-first" && delivery.attempts === 0;
