/** Reads the three sides of a reconciliation, each once: pages of the service, a pass over the event store, and the books. */
import { setFlagsFromString } from "node:v8";
import type { BookedLine } from "../../reconcile/sides.ts";
import type { Circumstances } from "../../reconcile/findings.ts";
import { Orders } from "../../reconcile/orders.ts";
import { numbersInTexts } from "../../reconcile/numbers-in-texts.ts";
import { refusedOf } from "../../reconcile/refused.ts";
import { comparedLink, linksOfYear } from "../../reconcile/service-links.ts";
import { comparableText } from "../../values/comparable-text.ts";
import type { RunKeys } from "../../events/event.ts";
import type { EventStore } from "../../store/event-store.ts";
import type { StoredPayment } from "../../store/payments.ts";
import type { OrderSources } from "../order-sources.ts";

export interface ComparedPeriod {
  readonly since: Date;
  /** Undefined: until now. */
  readonly until: Date | undefined;
}

export interface Collected {
  readonly orders: Orders;
  readonly known: Circumstances;
  /** Why no webhook can be found in the store; undefined if it has some that count. */
  readonly nothingReceived: "nothing was ever received" | "other keys alone" | undefined;
  /** If the run has no key: the thumbprints of the keys that verified the events, all of which count. */
  readonly keysOfAll: ReadonlySet<string>;
}

/**
 * Percent by which the heap may grow before what pages have left is collected. By default it may double and more: 100,000 links
 * then take 249 MB instead of 175, in the same time (reconcile bench).
 */
const HEAP_GROWTH = 20;

export async function collectSides(
  { year, store, keys }: Omit<OrderSources, "settings">,
  { since, until }: ComparedPeriod,
  booked: readonly BookedLine[] | undefined,
): Promise<Collected> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  const orders = new Orders();
  for (const line of booked ?? []) orders.addBooked(line);
  const period = { since: since.getTime(), until: until?.getTime() };
  const keysOfAll = new Set<string>();
  /** What other keys have verified, of which only orders that miss a webhook need to know. */
  const ofOtherKeys = new Map<string, string>();
  /** Gives those that a key of this run has verified; all without one. */
  const own = async function* (payments: AsyncIterable<StoredPayment>): AsyncGenerator<StoredPayment> {
    for await (const payment of payments) {
      if (keys === undefined) keysOfAll.add(payment.key);
      if (keys?.includes(payment.key) ?? true) yield payment;
      else ofOtherKeys.set(payment.reference, payment.key);
    }
  };
  // Parts, and first payments, may have been paid before the period, and what belongs to its orders after it.
  const outside = new Set<string>();
  let hasOwn = false;
  for await (const payment of own(store.paymentsSince(since))) {
    hasOwn = true;
    const { receivedAt, reference, hasEarlier } = payment;
    if (period.until !== undefined && receivedAt >= period.until) outside.add(reference);
    else orders.addPayment(payment);
    if (hasEarlier) outside.add(reference);
  }
  const reusable = orders.reusableNumbers();
  for await (const listed of linksOfYear(year)) {
    const link = comparedLink(listed, year.now, period);
    if (link === undefined) continue;
    const number = link.orderNumber || link.id;
    const isWanted = !link.isReusable || reusable.has(comparableText(number)) || orders.has(number);
    if (isWanted) orders.addLink(link);
  }
  const unfinished = [...outside].filter((reference) => orders.has(reference));
  for await (const payment of own(
    store.paymentsOf([...new Set([...unfinished, ...orders.withoutPayment()])]),
  ))
    orders.addPayment(payment);
  for (const [text, number] of numbersInTexts(booked ?? [], (known) => orders.moneyOf(known)))
    orders.rebook(text, number);
  for (const number of orders.bookedReusable())
    for await (const payment of own(store.paymentsOfReusable(number)))
      if (payment.receivedAt < since.getTime()) orders.addPayment(payment);
  for await (const { reference } of own(store.paymentsOf(orders.bookedAlone())))
    orders.markOfOtherTime([reference]);
  for (const [reference, key] of ofOtherKeys) orders.addOfOtherKey({ reference, key });
  const missing = new Set(orders.withoutPayment().map(comparableText));
  const keptSince = await store.keptSince();
  const isOfOtherKeys =
    !hasOwn && keys !== undefined && keptSince !== undefined && !(await hasEventsOf(store, keys));
  return {
    orders,
    nothingReceived:
      keptSince === undefined ? "nothing was ever received" : isOfOtherKeys ? "other keys alone" : undefined,
    keysOfAll,
    known: {
      hasBooks: booked !== undefined,
      isReceivingElsewhere: keptSince === undefined || isOfOtherKeys,
      since: since.getTime(),
      storedSince: keptSince?.getTime() ?? Number.NEGATIVE_INFINITY,
      refusalsDroppedUntil: (await store.refusalsDroppedUntil())?.getTime() ?? Number.NEGATIVE_INFINITY,
      refused: await refusedOf(store.rejections({ since }), missing),
    },
  };
}

/** Whether it has events, and any of them counts here. Rejected requests alone may be webhooks of this account. */
async function hasEventsOf(store: EventStore, keys: RunKeys): Promise<boolean> {
  return (await store.count({ keys }, 1)) > 0 || (await store.count({}, 1)) === 0;
}
