/** Faults of delivery on request: what a service does on a bad day, so that a receiver can be shown to bear it. */
import type { Delivery } from "./ledger.ts";

export const FAULTS = ["duplicate", "late", "out-of-order", "drop-first"] as const;
export type Fault = (typeof FAULTS)[number];

/** How long a late webhook waits, in milliseconds. */
const LATE = 30_000;
/** How long every other webhook is held back, so that the one after it overtakes it, in milliseconds. */
const HELD_BACK = 2_000;

/** What is queued for one webhook; `count` tells how many payments were taken before it. */
export function queued(
  delivery: Delivery,
  fault: Fault | undefined,
  count: () => number,
  newId: () => string,
): Delivery[] {
  if (fault === "duplicate") return [delivery, { ...delivery, id: newId() }];
  if (fault === "late") return [{ ...delivery, due: delivery.due + LATE }];
  if (fault === "out-of-order" && count() % 2 === 0) return [{ ...delivery, due: delivery.due + HELD_BACK }];
  return [delivery];
}

/** Whether an attempt gets lost on its way. */
export const isDropped = (delivery: Delivery, fault: Fault | undefined): boolean =>
  fault === "drop-first" && delivery.attempts === 0;
