/** Compares the three sides of each order: what differs, as findings, each with the facts that its words are made of. */
import { signOf, type Sum } from "../domain/money.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { DeliveryState } from "../events/event.ts";
import { isMore, isRepeated, isSame, isZero, negated, sumOf, surplus } from "../orders/amounts.ts";
import type { Order } from "./orders.ts";
import type { BookedLine, ComparedLink, ReceivedPayment, RefusedWebhook } from "./sides.ts";

/** In the order in which they are listed: where money is missing first. `unmatched` is not a difference. */
export const FINDINGS = [
  "missed",
  "refused",
  "undelivered",
  "differs",
  "twice",
  "not booked",
  "booked only",
  "unmatched",
] as const;
export type FindingName = (typeof FINDINGS)[number];

/** Of what kind a finding is, and why. */
export type FindingReason =
  | {
      readonly finding: "missed";
      readonly why: "nothing arrived" | "only others" | "other key" | "one of several" | "refusals dropped";
      /** What arrived instead of an approved payment. */
      readonly other?: Outcome | undefined;
      /** The thumbprint of the key, not of this run, that has verified what arrived. */
      readonly key?: string | undefined;
      /** Until when rejected requests were not kept, in milliseconds since 1970. */
      readonly until?: number | undefined;
    }
  | { readonly finding: "refused"; readonly refused: RefusedWebhook }
  | { readonly finding: "undelivered"; readonly event: string; readonly state: DeliveryState }
  | {
      readonly finding: "differs";
      readonly why: "webhook" | "unclear";
      readonly expected: readonly Sum[];
      readonly found: readonly Sum[];
    }
  | {
      readonly finding: "differs";
      readonly why: "books";
      readonly expected: readonly Sum[];
      /** What all lines come to. */
      readonly found: readonly Sum[];
      readonly paidIn: readonly Sum[];
      /** The negative lines, without their sign: refunds. */
      readonly paidBack: readonly Sum[];
    }
  | { readonly finding: "twice"; readonly why: "payments" | "books" | "links"; readonly count: number }
  | { readonly finding: "not booked" }
  | {
      readonly finding: "booked only";
      readonly lines: readonly number[];
      /** The thumbprint of the key, not of this run, that has verified a webhook of it. */
      readonly key: string | undefined;
    }
  | {
      readonly finding: "unmatched";
      readonly why:
        "no order number" | "not in the books" | "no link" | "verified card" | "part" | "before the store";
    };

export type Finding = FindingReason & Facts;

/** Whether records that must agree do not. */
export const isDifference = (finding: FindingName): boolean => finding !== "unmatched";

/** What every finding says. */
interface Facts {
  /** As it is spelled by the side that has it; null without one. */
  readonly orderNumber: string | null;
  /** What is missing or too much; null if it is not known. */
  readonly money: Sum | null;
  /** The id of the link; null without a link. */
  readonly link: string | null;
  readonly uti: string | null;
  /** When the service says the link was paid, in milliseconds since 1970; null if it does not. */
  readonly paidAt: number | null;
}

/** What is known besides the three sides. */
export interface Circumstances {
  /** Whether there are books. */
  readonly hasBooks: boolean;
  /** The begin of the period, in milliseconds since 1970. */
  readonly since: number;
  /** Milliseconds since 1970: what was received before may not be in the store. */
  readonly storedSince: number;
  /** Milliseconds since 1970: earlier rejected requests may not be in the store, because there was no room. */
  readonly refusalsDroppedUntil: number;
  /** By order number, as it is compared. */
  readonly refused: ReadonlyMap<string, RefusedWebhook>;
}

/** What differs in an order; empty if its sides agree. */
export function* findingsOf(order: Order, known: Circumstances): Generator<Finding> {
  const once = order.links.filter(({ isReusable }) => !isReusable);
  const asking = once.filter((one) => !isNothing(moneyOf([one])));
  const paid = asking.length > 0 ? asking : once;
  const [link] = paid;
  yield* order.payments.flatMap(undelivered);
  if (link !== undefined) {
    yield* paidOnce(order, paid, link, known);
    if (known.hasBooks) yield* bookedOnce(order, link);
    return;
  }
  if (order.payments.length > 0) {
    if (order.links.length === 0) yield* withoutLink(order);
    if (known.hasBooks) yield* bookedAsReceived(order);
    return;
  }
  if (order.booked.length > 0 && order.links.length === 0 && !order.isOfOtherTime) yield* bookedAlone(order);
}

const moneyOf = (found: readonly { readonly money: Sum | undefined }[]): Sum[] =>
  sumOf(found.flatMap(({ money }) => money ?? []));

function undelivered(payment: ReceivedPayment): Finding[] {
  const { delivery: state, event } = payment;
  if (state === null || state === "delivered") return [];
  return [{ finding: "undelivered", event, state, ...ofPayment(payment) }];
}

const ofPayment = ({ reference, money, uti }: ReceivedPayment): Facts => ({
  orderNumber: reference === "" ? null : reference,
  money: money ?? null,
  link: null,
  uti: uti === "" ? null : uti,
  paidAt: null,
});

const ofLink = ({ orderNumber, money, id, paidAt }: ComparedLink, uti?: string): Facts => ({
  orderNumber: orderNumber === "" ? null : orderNumber,
  money: money ?? null,
  link: id,
  uti: uti ?? null,
  paidAt: paidAt ?? null,
});

/** Whether a paid link has one payment that arrived: whole, or in parts that add up to it. */
function* paidOnce(
  { payments, number, other, otherKey }: Order,
  links: readonly ComparedLink[],
  link: ComparedLink,
  known: Circumstances,
): Generator<Finding> {
  const facts = ofLink(link, payments[0]?.uti);
  if (payments.length === 0) {
    const refused = known.refused.get(number);
    for (const one of links)
      yield { ...ofLink(one), ...notArrived(one, { other, otherKey, refused }, known) };
    return;
  }
  const [expected, received] = [moneyOf([link]), moneyOf(payments)];
  const due = moneyOf(links);
  if (isNothing(due)) {
    // Its link has verified the card alone, as the start of a subscription does: what is charged to the card later is no second payment.
    for (const charge of payments.filter(({ money }) => money === undefined || !isZero([money])))
      yield { ...ofPayment(charge), finding: "unmatched", why: "verified card" };
    return;
  }
  const isKnown = payments.every(({ money }) => money !== undefined);
  if (links.length > 1) {
    yield {
      ...facts,
      finding: "twice",
      why: "links",
      count: links.length,
      money: surplus(due, expected) ?? null,
    };
    if (isMore(due, received))
      yield { ...facts, finding: "missed", why: "one of several", money: surplus(due, received) ?? null };
    return;
  }
  if (isKnown && isSame(expected, received)) return;
  const approved = payments.filter(({ outcome }) => outcome === "APPROVED").length;
  if (isKnown && (approved > 1 || (payments.length > 1 && isMore(received, expected))))
    yield {
      ...facts,
      finding: "twice",
      why: "payments",
      count: payments.length,
      money: surplus(received, expected) ?? null,
    };
  else yield { ...facts, finding: "differs", why: "webhook", expected, found: isKnown ? received : [] };
}

interface Instead extends Pick<Order, "other" | "otherKey"> {
  readonly refused: RefusedWebhook | undefined;
}

function notArrived(
  { orderNumber, paidAt, paidAfter, money }: ComparedLink,
  { other, otherKey: key, refused }: Instead,
  { storedSince, refusalsDroppedUntil: until }: Circumstances,
): FindingReason {
  if (other === "UNCLEAR")
    return { finding: "differs", why: "unclear", expected: money === undefined ? [] : [money], found: [] };
  if (refused !== undefined) return { finding: "refused", refused };
  if (orderNumber === "") return { finding: "unmatched", why: "no order number" };
  if (key !== undefined) return { finding: "missed", why: "other key", key };
  if (other !== undefined) return { finding: "missed", why: "only others", other };
  const earliest = paidAt ?? paidAfter;
  if (earliest !== undefined && earliest < storedSince)
    return { finding: "unmatched", why: "before the store" };
  return (earliest ?? Number.NEGATIVE_INFINITY) < until
    ? { finding: "missed", why: "refusals dropped", until }
    : { finding: "missed", why: "nothing arrived" };
}

/** Without a currency of their own, books are in that of the payment. */
const bookedMoney = (booked: readonly BookedLine[], currency: string): Sum[] =>
  booked.map((line) => ({ amount: line.amount, currency: line.currency ?? currency }));

const inBooks = (lines: readonly Sum[], expected: readonly Sum[]) =>
  ({
    finding: "differs",
    why: "books",
    expected,
    found: sumOf(lines),
    paidIn: sumOf(lines.filter(({ amount }) => signOf(amount) > 0)),
    paidBack: sumOf(
      lines.flatMap(({ amount, currency }) =>
        signOf(amount) < 0 ? [{ amount: negated(amount), currency }] : [],
      ),
    ),
  }) as const satisfies FindingReason;

/** A verification, such as the start of a subscription: nobody books it. An amount that is not known may be any. */
const isNothing = (paid: readonly Sum[]): boolean => paid.length > 0 && isZero(paid);

/** Whether the books have a paid link once: its amount, or all that was received for it. */
function* bookedOnce({ booked, payments }: Order, link: ComparedLink): Generator<Finding> {
  const { money } = link;
  const facts = ofLink(link, payments[0]?.uti);
  const paid = moneyOf([link]);
  const expected = isNothing(paid) && payments.length > 0 ? moneyOf(payments) : paid;
  if (booked.length === 0) {
    if (isNothing(expected)) return;
    if (link.orderNumber !== "") yield { ...facts, finding: "not booked", money: expected[0] ?? null };
    // Without a payment, it is said already that it has no order number.
    else if (payments.length > 0) yield { ...facts, finding: "unmatched", why: "not in the books" };
    return;
  }
  const lines = bookedMoney(booked, money?.currency ?? "");
  const found = sumOf(lines);
  if (isSame(expected, found) || isSame(moneyOf(payments), found)) return;
  if (money !== undefined && isRepeated(lines, money))
    yield {
      ...facts,
      finding: "twice",
      why: "books",
      count: lines.length,
      money: surplus(found, expected) ?? null,
    };
  else yield { ...facts, ...inBooks(lines, expected) };
}

/** Payments that no paid link of the period has. */
function* withoutLink({ payments, isOfOtherTime }: Order): Generator<Finding> {
  const [first] = payments;
  const approved = payments.filter(({ outcome }) => outcome === "APPROVED");
  const [once, ...more] = approved;
  if (first !== undefined && once !== undefined && more.length > 0 && first.reference !== "")
    yield {
      ...ofPayment(first),
      finding: "twice",
      why: "payments",
      count: approved.length,
      money: moneyOf(more)[0] ?? null,
    };
  else if (!isOfOtherTime)
    for (const payment of payments)
      yield {
        ...ofPayment(payment),
        finding: "unmatched",
        why: payment.outcome === "APPROVED" ? "no link" : "part",
      };
}

/** Payments of a reusable link, or of no link that is known, against the books. */
function* bookedAsReceived({ booked, payments, links, isOfOtherTime }: Order): Generator<Finding> {
  const [first] = payments;
  const [link] = links;
  if (first === undefined) return;
  const expected = moneyOf(payments);
  const facts = {
    ...ofPayment(first),
    ...(link === undefined ? {} : { orderNumber: link.orderNumber, link: link.id }),
    money: expected[0] ?? null,
  };
  if (booked.length === 0) {
    if (!isNothing(expected)) yield { ...facts, finding: "not booked" };
  } else if (!isOfOtherTime) {
    const lines = bookedMoney(booked, expected[0]?.currency ?? "");
    if (!isSame(expected, sumOf(lines))) yield { ...facts, ...inBooks(lines, expected) };
  }
}

/** What was booked and taken back needs no payment. */
function* bookedAlone({ booked, otherKey: key }: Order): Generator<Finding> {
  const found = sumOf(bookedMoney(booked, ""));
  const [first] = booked;
  if (first === undefined || isZero(found)) return;
  yield {
    finding: "booked only",
    lines: booked.map(({ line }) => line),
    key,
    orderNumber: first.orderNumber,
    money: found[0] ?? null,
    link: null,
    uti: null,
    paidAt: null,
  };
}
