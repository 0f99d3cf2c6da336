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

/** Kinds of payments that an application must not take for the one that an order asks for. */
const WRONG_PAYMENTS = 3;

/**
 * The orders of the application. The last ones get a wrong payment alone: an application that takes it for the right one books the
 * order all the same, which shows only where no right one follows. A case that needs an unpaid order gets the next of the others, as
 * long as there are some; what is left has the last of those.
 */
export function knownOrders(known: readonly [SampleOrder, ...SampleOrder[]], newId: () => string): OrderFor {
  const own = ownOrders(newId);
  const paying = known.length - Math.min(WRONG_PAYMENTS, known.length - 1);
  const uses = { fresh: 0, alone: 0 };
  const at: Readonly<Record<Exclude<EndpointCase["order"], "unknown">, () => number>> = {
    fresh: () => uses.fresh++ % paying,
    alone: () => paying + (uses.alone++ % Math.max(1, known.length - paying)),
    paid: () => paying - 1,
    any: () => paying - 1,
  };
  return (one) => (one.order === "unknown" ? own(one) : (known[at[one.order]()] ?? known[0]));
}

/** With fewer, wrong payments share an order, or have none of their own. */
export const ENOUGH_ORDERS = WRONG_PAYMENTS + 1;
