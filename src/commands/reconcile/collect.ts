/** Reads the three sides of a reconciliation, each once: pages of the service, a pass over the event store, and the books. */
import { setFlagsFromString } from "node:v8";
import type { BookedLine, ComparedLink } from "../../reconcile/sides.ts";
import type { Circumstances } from "../../reconcile/findings.ts";
import { Orders } from "../../reconcile/orders.ts";
import { numbersInTexts } from "../../reconcile/numbers-in-texts.ts";
import { refusedOf } from "../../reconcile/refused.ts";
import { paidLinks, reusableLinks } from "../../reconcile/service-links.ts";
import { comparableText } from "../../domain/comparable-text.ts";
import type { StoredPayment } from "../../store/payments.ts";
import type { ReconcileSources } from "./account.ts";

export interface ComparedPeriod {
  readonly since: Date;
  /** Undefined: until now. */
  readonly until: Date | undefined;
}

export interface Collected {
  readonly orders: Orders;
  readonly known: Circumstances;
  /** Nothing was ever received into the store. */
  readonly isStoreEmpty: boolean;
  /** If the run has no key: the thumbprints of the keys that verified the events, all of which count. */
  readonly keysOfAll: ReadonlySet<string>;
}

/**
 * Percent by which the heap may grow before what pages have left is collected. By default it may double and more: 100,000 links
 * then take 249 MB instead of 175, in the same time (reconcile bench).
 */
const HEAP_GROWTH = 20;

export async function collectSides(
  { year, store, keys }: Omit<ReconcileSources, "settings">,
  { since, until }: ComparedPeriod,
  booked: readonly BookedLine[] | undefined,
): Promise<Collected> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  const orders = new Orders();
  for (const line of booked ?? []) orders.addBooked(line);
  /** Without the time of its payment, a link may have been paid at any time since its creation. */
  const isInPeriod = ({ paidAt, paidAfter }: ComparedLink): boolean => {
    const earliest = paidAt ?? paidAfter;
    const isSince = paidAt === undefined || paidAt >= since.getTime();
    return isSince && (until === undefined || earliest === undefined || earliest < until.getTime());
  };
  for await (const link of paidLinks(year)) {
    if (isInPeriod(link)) orders.addLink(link);
    else orders.addLinkOfOtherTime(link);
  }
  const keysOfAll = new Set<string>();
  /** Gives those that a key of this run has verified; all without one. */
  const own = async function* (payments: AsyncIterable<StoredPayment>): AsyncGenerator<StoredPayment> {
    for await (const payment of payments) {
      if (keys === undefined) keysOfAll.add(payment.key);
      if (keys?.includes(payment.key) ?? true) yield payment;
      else orders.addOfOtherKey(payment);
    }
  };
  const earlier: string[] = [];
  for await (const payment of own(store.paymentsSince(since))) {
    const { receivedAt, reference, hasEarlier } = payment;
    if (until !== undefined && receivedAt >= until.getTime() && !orders.has(reference)) continue;
    orders.addPayment(payment);
    if (hasEarlier) earlier.push(reference);
  }
  // Parts, and first payments, may have been paid before the period.
  for await (const payment of own(store.paymentsOf([...new Set(earlier), ...orders.withoutPayment()])))
    if (payment.receivedAt < since.getTime()) orders.addPayment(payment);
  const numbers = orders.reusableNumbers();
  if (numbers.size > 0) for await (const link of reusableLinks(year, numbers)) orders.addLink(link);
  for (const [text, number] of numbersInTexts(booked ?? [], (known) => orders.moneyOf(known)))
    orders.rebook(text, number);
  for (const number of orders.bookedReusable())
    for await (const payment of own(store.paymentsOfReusable(number)))
      if (payment.receivedAt < since.getTime()) orders.addPayment(payment);
  for await (const { reference } of own(store.paymentsOf(orders.bookedAlone())))
    orders.markOfOtherTime([reference]);
  const missing = new Set(orders.withoutPayment().map(comparableText));
  const keptSince = await store.keptSince();
  return {
    orders,
    isStoreEmpty: keptSince === undefined,
    keysOfAll,
    known: {
      hasBooks: booked !== undefined,
      since: since.getTime(),
      storedSince: keptSince?.getTime() ?? Number.NEGATIVE_INFINITY,
      refusalsDroppedUntil: (await store.refusalsDroppedUntil())?.getTime() ?? Number.NEGATIVE_INFINITY,
      refused: await refusedOf(store.rejections({ since }), missing),
    },
  };
}
