/** Compares what an application has booked with what the webhooks of `check` paid: each paid order once, and nothing else. */
import { grouped } from "../values/groups.ts";
import type { BookedLine } from "../reconcile/sides.ts";
import { isRepeated, isSame, isZero, sumOf } from "../orders/amounts.ts";
import type { Sum } from "../domain/money.ts";
import { comparableText } from "../values/comparable-text.ts";
import { splitReference } from "../domain/reference.ts";
import { isSuccess } from "../http/message.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { Payment } from "../orders/order.ts";
import { standingOf } from "../orders/standing.ts";
import type { CaseWebhook } from "./endpoint-case.ts";
import type { OrderUse } from "./endpoint.ts";
import type { SampleOrder } from "../sender/samples.ts";

export interface BookedOrder {
  readonly order: SampleOrder;
  readonly uses: readonly OrderUse[];
  /** The lines of the books, without those of parts. */
  readonly booked: readonly Sum[];
  /** What is wrong; undefined if the books are right. */
  readonly finding: BookedFinding | undefined;
}

export type BookedFinding = "not booked" | "twice" | "differs" | "not paid";

/** What was posted, and what is known of the orders. */
export interface ExpectedBookings {
  readonly uses: readonly OrderUse[];
  /** The application knows the orders, so that only a number of `check` itself can have the suffix of a reusable link. */
  readonly knowsOrders: boolean;
  /** The numbers of orders that were booked before. */
  readonly before: ReadonlySet<string>;
}

/** Every order that a webhook named. Lines of other orders are left alone. */
export function compareBooked(
  { uses, knowsOrders, before }: ExpectedBookings,
  lines: readonly BookedLine[],
): readonly BookedOrder[] {
  const numberOf = ({ order }: OrderUse): string => comparableText(order.number);
  const own = new Set(
    uses.filter((use) => !knowsOrders || use.case.order === "unknown").map((use) => numberOf(use)),
  );
  const linesOf = grouped(lines, ({ orderNumber }) => {
    const { base } = splitReference(orderNumber);
    return own.has(base) ? base : orderNumber;
  });
  return [...grouped(uses, numberOf)].flatMap(([number, ofOrder]) => {
    const [first] = ofOrder;
    if (first === undefined) return [];
    const { order } = first;
    const ofNumber = (linesOf.get(number) ?? []).map(({ amount, currency = order.currency }): Sum => ({
      amount,
      currency,
    }));
    const booked = withoutParts(ofNumber, order, ofOrder);
    const isUnknown = knowsOrders && own.has(number);
    const due = before.has(number) ? "once" : amountDueOf(ofOrder, isUnknown);
    return [{ order, uses: ofOrder, booked, finding: findingOf(order, booked, due) }];
  });
}

/** A part may be booked as what it is. It does not pay the order. */
function withoutParts(lines: readonly Sum[], order: SampleOrder, uses: readonly OrderUse[]): Sum[] {
  const left = [...lines];
  for (const { pays, sum } of uses.flatMap(({ payments }) => payments)) {
    const at = left.findIndex((line) => isSame([line], [sum]));
    if (pays === "a part" && !isSame([sum], [order]) && at >= 0) left.splice(at, 1);
  }
  return left;
}

/**
 * A payment may or may not be booked if its webhook got no answer or was refused, or if the application knows its orders and this
 * one is not among them.
 */
function amountDueOf(uses: readonly OrderUse[], isUnknown: boolean): "once" | "never" | "perhaps" {
  if (!isUnknown && arePaying(uses)) return "once";
  return uses.every(({ case: { books } }) => books === "never") ? "never" : "perhaps";
}

/** Whether the order stands as paid by what the endpoint has accepted, of cases whose payments are then booked. */
export function arePaying(uses: readonly OrderUse[]): boolean {
  const [first] = uses;
  if (first === undefined) return false;
  const { number, amount, currency } = first.order;
  const payments = uses.filter(({ case: { books } }) => books === "once").flatMap(acceptedPayments);
  const link = { id: number, money: { amount, currency }, end: undefined, isReusable: false };
  const { standing } = standingOf({ number, payments, links: [link] });
  return standing === "paid" || standing === "twice";
}

const acceptedPayments = ({ payments }: OrderUse): Payment[] =>
  payments.flatMap(({ pays, sum, status }) =>
    isSuccess(status) ? [{ uti: "", outcome: OUTCOME[pays], kind: "takes", money: sum }] : [],
  );

const OUTCOME: Readonly<Record<CaseWebhook["pays"], Outcome>> = {
  all: "APPROVED",
  "a part": "PARTIALLY_APPROVED",
  nothing: "DECLINED",
};

function findingOf(
  order: SampleOrder,
  booked: readonly Sum[],
  due: "once" | "never" | "perhaps",
): BookedFinding | undefined {
  if (booked.length === 0) return due === "once" ? "not booked" : undefined;
  if (due === "never") return "not paid";
  const isTwice = booked.length > 1 && isZero(booked) && isZero([order]);
  if (isTwice || isRepeated(booked, order)) return "twice";
  return isSame(sumOf(booked), sumOf([order])) ? undefined : "differs";
}
