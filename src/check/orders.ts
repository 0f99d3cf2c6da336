/** The orders that the webhooks of `check` pay: numbers of its own, or those of an application that knows its orders. */
import { suffixFrom } from "../domain/reference.ts";
import type { EndpointCase } from "./endpoint-case.ts";
import type { Order } from "./samples.ts";

/** Of an order that no application knows. */
const OWN = { amount: "10.5", currency: "EUR" };

/** Gives each run of a case the order that its webhooks pay. */
export type OrderFor = (one: EndpointCase) => Order;

/** Numbers that no earlier check has used. */
export function ownOrders(newId: () => string): OrderFor {
  const run = suffixFrom(newId()).slice(0, 6);
  let count = 0;
  return () => {
    count += 1;
    return { number: `CHECK-${run}-${String(count).padStart(2, "0")}`, ...OWN };
  };
}

/**
 * The orders of the application. A case that needs an order which nothing was paid for yet gets the next one, as long as there
 * are some; the other cases share the last one.
 */
export function knownOrders(known: readonly [Order, ...Order[]], newId: () => string): OrderFor {
  const own = ownOrders(newId);
  let used = 0;
  return (one) => {
    if (one.order === "unknown") return own(one);
    const at = one.order === "fresh" ? used++ % Math.max(1, known.length - 1) : known.length - 1;
    return known[at] ?? known[0];
  };
}
