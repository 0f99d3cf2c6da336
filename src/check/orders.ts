/** The orders that the webhooks of `check` pay: numbers of its own, or those of an application that knows its orders. */
import { suffixFrom } from "../domain/reference.ts";
import type { EndpointCase } from "./endpoint-case.ts";
import { type SampleOrder, SAMPLE_CURRENCY } from "../sender/samples.ts";

/** Gives each run of a case the order that its webhooks pay. */
export type OrderFor = (one: EndpointCase) => SampleOrder;

/** Numbers that no earlier check has used. */
export function ownOrders(newId: () => string): OrderFor {
  const run = suffixFrom(newId()).slice(0, 6);
  let count = 0;
  return ({ amount = "10.5" }) => {
    count += 1;
    return { number: `CHECK-${run}-${String(count).padStart(2, "0")}`, amount, currency: SAMPLE_CURRENCY };
  };
}

/**
 * The orders of the application. A case that needs an unpaid one gets the next one, as long as there are some; all others have the
 * last one.
 */
export function knownOrders(known: readonly [SampleOrder, ...SampleOrder[]], newId: () => string): OrderFor {
  const own = ownOrders(newId);
  let used = 0;
  return (one) => {
    if (one.order === "unknown") return own(one);
    const at = one.order === "fresh" ? used++ % known.length : known.length - 1;
    return known[at] ?? known[0];
  };
}
