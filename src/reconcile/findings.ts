/** Compares the three sides of each order: what differs, as findings, each with the facts that its words are made of. */
import { signOf, type Sum } from "../domain/money.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { ForwardState } from "../events/event.ts";
import { excess, isMore, isRepeated, isSame, isZero, negated, sumOf } from "../orders/amounts.ts";
import { kindOfLinks } from "../orders/order-number.ts";
import { asksNothing, isApproved, paymentsOf } from "../orders/order.ts";
import { type OrderStanding, standingOf } from "../orders/standing.ts";
import type { ComparedOrder } from "./orders.ts";
import type { BookedLine, ComparedLink, ReceivedPayment, RefusedWebhook } from "./sides.ts";

/** Whether records that must agree do not. In the order in which findings are listed: where money is missing first. */
const DIFFERS: Readonly<Record<FindingName, boolean>> = {
  missed: true,
  refused: true,
  undelivered: true,
  differs: true,
  twice: true,
  payable: true,
  "not booked": true,
  "booked only": true,
  "not known": true,
  unmatched: false,
};
export type FindingName = FindingReason["finding"];
export const FINDINGS = Object.keys(DIFFERS) as FindingName[];

export const isDifference = (finding: FindingName): boolean => DIFFERS[finding];

/** Of what kind a finding is, and why. */
export type FindingReason =
  | {
      readonly finding: "missed";
      readonly why: "nothing arrived" | "only others" | "other key" | "one of several";
      /** What arrived instead of an approved payment. */
      readonly other?: Outcome | undefined;
      /** The thumbprint of the key, not of this run, that has verified what arrived. */
      readonly key?: string | undefined;
    }
  | { readonly finding: "refused"; readonly refused: RefusedWebhook }
  | { readonly finding: "undelivered"; readonly event: string; readonly state: ForwardState }
  | {
      readonly finding: "differs";
      readonly why: "webhook" | "unclear" | "ended";
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
  | { readonly finding: "payable"; readonly standing: OrderStanding }
  | { readonly finding: "not booked" }
  | {
      readonly finding: "booked only";
      readonly lines: readonly number[];
      /** The thumbprint of the key, not of this run, that has verified a webhook of it. */
      readonly key: string | undefined;
    }
  | {
      readonly finding: "not known";
      readonly why: "no order number" | "refusals dropped";
      /** Until when rejected requests were not kept, in milliseconds since 1970. */
      readonly until?: number | undefined;
    }
  | {
      readonly finding: "unmatched";
      readonly why: "not in the books" | "no link" | "verified card" | "part" | "before the store";
    };

export type Finding = FindingReason & Facts;

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
  readonly hasBooks: boolean;
  /** Nothing that counts here was ever received: links and books are compared alone, if there are books. */
  readonly isReceivingElsewhere: boolean;
  /** The begin of the period, in milliseconds since 1970. */
  readonly since: number;
  /** Milliseconds since 1970: what was received before may not be in the store. */
  readonly storedSince: number;
  /** Milliseconds since 1970: earlier rejected requests may not be in the store, because there was no room. */
  readonly refusalsDroppedUntil: number;
  /** By order number, as it is compared. */
  readonly refused: ReadonlyMap<string, RefusedWebhook>;
}

/** How the order of a comparison stands. A reusable link asks for nothing: each of its payments is an order of its own. */
export const comparedStanding = ({ number, links, payments }: ComparedOrder): OrderStanding =>
  standingOf({ number, links, payments });

/** What differs in an order; empty if its sides agree. */
export function* findingsOf(order: ComparedOrder, known: Circumstances): Generator<Finding> {
  const compared = order.links.filter(({ isCompared }) => isCompared);
  const asking = compared.filter((one) => !asksNothing(one));
  const paid = asking.length > 0 ? asking : compared;
  const [link] = paid;
  const received = approvedOf(order);
  const standing = comparedStanding(order);
  yield* received.flatMap(undelivered);
  if (link !== undefined) yield* paidOnce(order, { paid, link, received, standing }, known);
  else if (kindOfLinks(order.links) === "reusable") yield* reusedTwice(order);
  else if (received.length > 0) yield* paymentsWithoutLink(order, received, standing);
  if (standing.isSettled)
    for (const one of order.links)
      if (standing.payable.includes(one)) yield { finding: "payable", standing, ...ofLink(one) };
  if (!known.hasBooks) return;
  if (link !== undefined) yield* bookedOnce(order, { link, received, standing });
  else if (received.length > 0) yield* bookedAsReceived(order, received);
  else if (order.booked.length > 0 && kindOfLinks(order.links) !== "reusable" && !order.isOfOtherTime)
    yield* bookedAlone(order);
}

/**
 * The approved payments, each once: what its last record says. It is delivered if that record is, or an earlier one that says the same.
 */
const approvedOf = ({ payments }: ComparedOrder): ReceivedPayment[] =>
  paymentsOf(payments).flatMap(({ last, earlier }) => {
    if (!isApproved(last)) return [];
    const isTold = earlier.some(
      (one) =>
        one.delivery === "delivered" &&
        one.outcome === last.outcome &&
        isSame(findingMoney([one]), findingMoney([last])),
    );
    return [isTold ? { ...last, delivery: "delivered" } : last];
  });

const findingMoney = (found: readonly { readonly money: Sum | undefined }[]): Sum[] =>
  sumOf(found.flatMap(({ money }) => money ?? []));

/** What payments have taken; if none has, what they have reserved. */
function takenOf(received: readonly ReceivedPayment[]): readonly ReceivedPayment[] {
  const of = (wanted: ReceivedPayment["kind"]): ReceivedPayment[] =>
    received.filter(({ kind }) => kind === wanted);
  return [of("takes"), of("reserves"), of("verifies")].find(({ length }) => length > 0) ?? [];
}

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

interface PaidOrder {
  /** The links that were paid in the period; those that ask for something, if any does. */
  readonly paid: readonly ComparedLink[];
  readonly link: ComparedLink;
  readonly received: readonly ReceivedPayment[];
  readonly standing: OrderStanding;
}

/** Whether a paid link has one payment that arrived: whole, or in parts that add up to it. */
function* paidOnce(
  order: ComparedOrder,
  { paid, link, received, standing }: PaidOrder,
  known: Circumstances,
): Generator<Finding> {
  const facts = ofLink(link, received[0]?.uti);
  const asking = order.links.filter((one) => one.end === "paid" && !asksNothing(one));
  const surplus = standing.surplus[0] ?? null;
  const isTwiceByLinks = standing.standing === "twice" && asking.length > 1;
  if (received.length === 0) {
    if (isTwiceByLinks)
      yield { ...facts, finding: "twice", why: "links", count: asking.length, money: surplus };
    for (const one of paid)
      if (!(known.hasBooks && known.isReceivingElsewhere))
        yield { ...ofLink(one), ...notArrived(one, order, known) };
    return;
  }
  const taken = takenOf(received);
  const [expected, found] = [orderPrice(link, standing), findingMoney(taken)];
  if (asksNothing(link)) {
    // Its link has verified the card alone, as the start of a subscription does.
    if (standing.standing === "twice") yield { ...facts, ...paidTwice(taken, standing) };
    else
      for (const charge of taken.filter(({ kind }) => kind !== "verifies"))
        yield { ...ofPayment(charge), finding: "unmatched", why: "verified card" };
    return;
  }
  if (isTwiceByLinks) {
    yield { ...facts, finding: "twice", why: "links", count: asking.length, money: surplus };
    const asked = findingMoney(asking);
    if (isMore(asked, found))
      yield { ...facts, finding: "missed", why: "one of several", money: excess(asked, found)[0] ?? null };
    return;
  }
  if (standing.standing === "twice" && taken.length > 1) {
    yield { ...facts, ...paidTwice(taken, standing) };
    return;
  }
  const isKnown = taken.every(({ money }) => money !== undefined);
  if (order.payments.at(-1)?.outcome === "UNCLEAR" && standing.standing === "unclear")
    yield { ...facts, finding: "differs", why: "unclear", expected, found: [] };
  else if (!isKnown || !isSame(expected, found))
    yield { ...facts, finding: "differs", why: "webhook", expected, found: isKnown ? found : [] };
}

/** What the order of a paid link asks for: its amount, with the parts that were paid before it. */
const orderPrice = (link: ComparedLink, { due }: OrderStanding): Sum[] =>
  due === undefined || asksNothing(link) ? findingMoney([link]) : [due];

const paidTwice = (taken: readonly ReceivedPayment[], { surplus }: OrderStanding) =>
  ({ finding: "twice", why: "payments", count: taken.length, money: surplus[0] ?? null }) as const;

function notArrived(
  { orderNumber, paidAt, paidAfter, money }: ComparedLink,
  { number, payments, otherKey: key }: ComparedOrder,
  { storedSince, refusalsDroppedUntil: until, refused: refusals }: Circumstances,
): FindingReason {
  const other = payments.at(-1)?.outcome;
  const refused = refusals.get(number);
  if (other === "UNCLEAR")
    return { finding: "differs", why: "unclear", expected: money === undefined ? [] : [money], found: [] };
  if (refused !== undefined) return { finding: "refused", refused };
  if (key !== undefined) return { finding: "missed", why: "other key", key };
  if (other !== undefined) return { finding: "missed", why: "only others", other };
  const earliest = paidAt ?? paidAfter;
  if (earliest !== undefined && earliest < storedSince)
    return { finding: "unmatched", why: "before the store" };
  if (orderNumber === "") return { finding: "not known", why: "no order number" };
  return (earliest ?? Number.NEGATIVE_INFINITY) < until
    ? { finding: "not known", why: "refusals dropped", until }
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

/** Whether the books have a paid link once: its amount, or all that was taken for it. */
function* bookedOnce(
  { booked }: ComparedOrder,
  { link, received, standing }: Omit<PaidOrder, "paid">,
): Generator<Finding> {
  const facts = ofLink(link, received[0]?.uti);
  const taken = received.filter(({ kind }) => kind === "takes");
  // A link that was paid has an order that is not paid where a later webhook has taken the payment back.
  const isUntaken = taken.length === 0 && (received.length > 0 || standing.standing === "unpaid");
  const expected = asksNothing(link) || isUntaken ? findingMoney(taken) : orderPrice(link, standing);
  if (booked.length === 0) {
    if (isUntaken || (asksNothing(link) && taken.length === 0)) return;
    if (link.orderNumber !== "") yield { ...facts, finding: "not booked", money: expected[0] ?? null };
    // Without a payment, it is said already that it has no order number.
    else if (received.length > 0) yield { ...facts, finding: "unmatched", why: "not in the books" };
    return;
  }
  const lines = bookedMoney(booked, link.money?.currency ?? "");
  const found = sumOf(lines);
  if (isSame(expected, found) || isSame(findingMoney(taken), found)) return;
  if (expected.length === 0 && isZero(found)) return;
  const [due] = orderPrice(link, standing);
  if (due !== undefined && isRepeated(lines, due))
    yield {
      ...facts,
      finding: "twice",
      why: "books",
      count: lines.length,
      money: excess(found, expected)[0] ?? null,
    };
  else {
    const nothing = isUntaken && due !== undefined ? [{ ...due, amount: "0" }] : [];
    yield { ...facts, ...inBooks(lines, expected.length > 0 ? expected : nothing) };
  }
}

/** Payments that no paid link of the period has. */
function* paymentsWithoutLink(
  { isOfOtherTime, links, payments }: ComparedOrder,
  received: readonly ReceivedPayment[],
  standing: OrderStanding,
): Generator<Finding> {
  const [first] = received;
  const taken = takenOf(received);
  if (first !== undefined && first.reference !== "" && standing.standing === "twice")
    yield { ...ofPayment(first), ...paidTwice(taken, standing) };
  else if (standing.standing === "unclear" && payments.at(-1)?.outcome === "UNCLEAR" && first !== undefined)
    yield {
      ...ofPayment(first),
      finding: "differs",
      why: "unclear",
      expected: findingMoney(received),
      found: [],
    };
  else if (standing.standing === "unclear" && first !== undefined && standing.due !== undefined)
    yield {
      ...ofPayment(first),
      finding: "differs",
      why: "webhook",
      expected: [standing.due],
      found: findingMoney(taken),
    };
  else if (standing.standing === "paid" && first !== undefined && hasEndedUnpaid(links))
    yield { ...ofPayment(first), finding: "differs", why: "ended", expected: [], found: findingMoney(taken) };
  else if (!isOfOtherTime && !(standing.isSettled && standing.payable.length > 0))
    for (const payment of received)
      yield {
        ...ofPayment(payment),
        finding: "unmatched",
        why: payment.outcome === "APPROVED" && standing.standing !== "in part" ? "no link" : "part",
      };
}

/** Whether the service has links of the order, and says of all that they were not paid and cannot be. */
function hasEndedUnpaid(links: readonly ComparedLink[]): boolean {
  const asking = links.filter((link) => !link.isReusable && !asksNothing(link));
  return asking.length > 0 && asking.every(({ end }) => end === "cancelled" || end === "expired");
}

/** Payments of a reusable link that have one reference. */
function* reusedTwice({ payments }: ComparedOrder): Generator<Finding> {
  for (const number of new Set(payments.map(({ reference }) => reference))) {
    const own = payments.filter(({ reference }) => reference === number);
    const [first] = own;
    const standing = standingOf({ number, payments: own });
    if (first !== undefined && standing.standing === "twice")
      yield { ...ofPayment(first), ...paidTwice(own.filter(isApproved), standing) };
  }
}

/** Payments of a reusable link, or of no link that is known, against the books. */
function* bookedAsReceived(
  { booked, links, isOfOtherTime }: ComparedOrder,
  received: readonly ReceivedPayment[],
): Generator<Finding> {
  const [first] = received;
  const link = links.find(({ isReusable }) => isReusable);
  if (first === undefined) return;
  const expected = findingMoney(received.filter(({ kind }) => kind === "takes"));
  const facts = {
    ...ofPayment(first),
    ...(link === undefined ? {} : { orderNumber: link.orderNumber, link: link.id }),
    money: expected[0] ?? null,
  };
  if (booked.length === 0) {
    if (received.some(({ kind }) => kind === "takes")) yield { ...facts, finding: "not booked" };
  } else if (!isOfOtherTime) {
    const lines = bookedMoney(booked, first.money?.currency ?? "");
    if (!isSame(expected, sumOf(lines)) && !(expected.length === 0 && isZero(sumOf(lines))))
      yield { ...facts, ...inBooks(lines, expected) };
  }
}

/** What was booked and taken back needs no payment. */
function* bookedAlone({ booked, otherKey: key }: ComparedOrder): Generator<Finding> {
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
