/** The history of one order: what the service and the event store have of it, in order of time, and what it comes to. */
import { comparableText } from "../domain/comparable-text.ts";
import type { Sum } from "../domain/money.ts";
import { splitReference } from "../domain/reference.ts";
import { isZero, sumOf } from "../orders/amounts.ts";
import { type Finding, findingsOf, isDifference, type Circumstances } from "./findings.ts";
import type { Order } from "./orders.ts";

/** What happened. */
export type StepName =
  | "link created"
  | "link viewed"
  | "payment attempted"
  | "link paid"
  | "link cancelled"
  | "link expired"
  | "webhook arrived"
  | "webhook repeated"
  | "webhook refused"
  | "forwarded"
  | "replayed"
  | "retry"
  | "skip"
  | "accept";

export interface Step {
  readonly at: Date;
  readonly what: StepName;
  readonly detail: string;
}

/** How the one-time link of an order stands at the service. */
export type LinkStanding = "open" | "cancelled" | "expired";

/** What an order comes to. */
export type OrderVerdict =
  | { readonly is: "different"; readonly findings: readonly Finding[] }
  | {
      readonly is: "paid";
      readonly money: readonly Sum[];
      readonly payments: number;
      readonly isReusable: boolean;
      /** Whether the service lists a link of it. */
      readonly hasLink: boolean;
      /** When the application accepted the last payment; undefined if nothing was forwarded. */
      readonly acceptedAt: Date | undefined;
      readonly arrivedAt: Date;
    }
  | { readonly is: "unsettled"; readonly findings: readonly Finding[] }
  /** A webhook says that it was paid, and the service does not. */
  | { readonly is: "approved alone"; readonly money: readonly Sum[]; readonly standing: LinkStanding }
  | { readonly is: "part"; readonly money: readonly Sum[]; readonly standing: LinkStanding | undefined }
  | { readonly is: "unpaid"; readonly standing: LinkStanding | undefined; readonly isRefused: boolean };

/** Whether a reference is that of the order: its number itself, or the number with a suffix. */
export function isOfOrder(reference: string, number: string): boolean {
  const wanted = comparableText(number);
  if (comparableText(reference) === wanted) return true;
  const { base, suffix } = splitReference(reference);
  return suffix !== null && comparableText(base) === wanted;
}

/**
 * When the application accepted an event, of its accepted attempts in order: the first by which it was forwarded. A replay may go to
 * another application, so it counts only where there is no such attempt. Undefined without any.
 */
export const acceptanceOf = (
  accepted: readonly { readonly at: Date; readonly isReplay: boolean }[],
): Date | undefined => (accepted.find(({ isReplay }) => !isReplay) ?? accepted.at(-1))?.at;

export interface OrderFacts {
  readonly order: Order;
  readonly known: Circumstances;
  /** Of a one-time link that is not paid; undefined without one. */
  readonly standing: LinkStanding | undefined;
  /** When the application accepted each event, by its id. */
  readonly accepted: ReadonlyMap<string, Date>;
}

export function verdictOf({ order, known, standing, accepted }: OrderFacts): OrderVerdict {
  const { links, payments } = order;
  const findings = [...findingsOf(order, known)];
  const differences = findings.filter(({ finding }) => isDifference(finding));
  if (differences.length > 0) return { is: "different", findings: differences };
  const money = sumOf(payments.flatMap((payment) => payment.money ?? []));
  const [first] = payments;
  if (first === undefined)
    return findings.length > 0
      ? { is: "unsettled", findings }
      : { is: "unpaid", standing, isRefused: known.refused.has(order.number) };
  const isApproved = payments.some(({ outcome }) => outcome === "APPROVED");
  if (!isApproved && links.length === 0) return { is: "part", money, standing };
  if (standing !== undefined && links.length === 0) return { is: "approved alone", money, standing };
  const last = payments.reduce((one, other) => (one.receivedAt > other.receivedAt ? one : other));
  return {
    is: "paid",
    money,
    // The verification of a card does not count as a payment beside the charges to it.
    payments: Math.max(1, payments.filter((one) => one.money === undefined || !isZero([one.money])).length),
    isReusable: links.some(({ isReusable }) => isReusable),
    hasLink: links.length > 0,
    acceptedAt: accepted.get(last.event),
    arrivedAt: new Date(last.receivedAt),
  };
}

export const isOrderDifferent = ({ is }: OrderVerdict): boolean =>
  is === "different" || is === "approved alone";
