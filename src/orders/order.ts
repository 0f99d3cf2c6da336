/** An order: its number with its payments, links and booked amounts, in compact forms that every place can fill. */
import { comparableText } from "../values/comparable-text.ts";
import { signOf, type Sum } from "../domain/money.ts";
import { hasApprovedAmount, type Outcome } from "../domain/outcome.ts";
import { moneyIn, outcomeOf, textOf, type TransactionRecord } from "../domain/transaction.ts";
import type { PaymentLink } from "../domain/payment-link-shapes.ts";
import { linkEnd, type LinkEnd } from "./link-end.ts";

/** What a place knows of an order. What it does not know is left out, which is not the same as none. */
export interface Order {
  readonly number: string;
  /** The records that arrived, in the order of their arrival; of those with one uti, the last counts. */
  readonly payments?: readonly Payment[];
  readonly links?: readonly OrderLink[];
  /** What the merchant has booked as paid. */
  readonly booked?: readonly Sum[];
}

/** What an approved payment does: it takes the money, reserves it until it is taken, or only verifies the card. */
export type PaymentKind = "takes" | "reserves" | "verifies";

/** What one record says of a payment. */
export interface Payment {
  /** Empty if the record has none: such a record is a payment of its own. */
  readonly uti: string;
  readonly outcome: Outcome;
  readonly kind: PaymentKind;
  /** Undefined if the record does not say both amount and currency. */
  readonly money: Sum | undefined;
}

/** A link of an order, as the service says it is now. */
export interface OrderLink {
  readonly id: string;
  /** Undefined if the service does not say both amount and currency. */
  readonly money: Sum | undefined;
  /** Undefined while it can be paid. */
  readonly end: LinkEnd | undefined;
  readonly isReusable: boolean;
}

export const orderLink = (link: PaymentLink, id: string, now: Date): OrderLink => ({
  id,
  money:
    link.amount === undefined || link.currency === undefined
      ? undefined
      : { amount: link.amount.toString(), currency: link.currency.toUpperCase() },
  end: linkEnd(link, now),
  isReusable: link.linkOptions !== undefined,
});

/** What a record says; a body without one is unclear. */
export function paymentIn(record: TransactionRecord | null): Payment {
  const money = moneyIn(record);
  const [uti, type] = record === null ? [] : [textOf(record, "uti"), textOf(record, "transType")];
  return { uti: uti ?? "", outcome: outcomeOf(record), kind: paymentKind(type, money), money };
}

/** Who verifies a card takes nothing, whatever the amount; and nobody takes an amount of 0. */
function paymentKind(type: string | undefined, money: Sum | undefined): PaymentKind {
  if (money !== undefined && signOf(money.amount) === 0) return "verifies";
  return KINDS[comparableText(type ?? "").toUpperCase()] ?? "takes";
}

const KINDS: Readonly<Record<string, PaymentKind>> = {
  VERIFICATION: "verifies",
  AUTH: "reserves",
  "PRE-AUTH": "reserves",
};

/** A payment of an order: its last record, which counts, and the earlier ones of the same uti. */
export interface OrderPayment<P extends Payment = Payment> {
  readonly last: P;
  readonly earlier: readonly P[];
}

/** Each payment once, in the order in which they first arrived. */
export function paymentsOf<P extends Payment>(records: readonly P[]): OrderPayment<P>[] {
  const found: OrderPayment<P>[] = [];
  const places = new Map<string, number>();
  for (const last of records) {
    const place = last.uti === "" ? undefined : places.get(last.uti);
    const before = place === undefined ? undefined : found[place];
    if (place !== undefined && before !== undefined)
      found[place] = { last, earlier: [...before.earlier, before.last] };
    else {
      places.set(last.uti, found.length);
      found.push({ last, earlier: [] });
    }
  }
  return found;
}

/**
 * How many records of an order are looked at, from the first, without those that have no effect. A number with more is not one order,
 * but a reference that many payments of a merchant share. Its sums are then not known.
 */
export const MOST_RECORDS = 50;

/** What takes, reserves and verifies nothing, and leaves no question. */
export const IDLE_OUTCOMES = ["DECLINED", "CANCELLED"] as const satisfies readonly Outcome[];

/** Without the records that leave their order as it was: who tries stolen cards is declined a hundred times before a customer pays. */
export function effectiveOf<P extends Payment>(records: readonly P[]): P[] {
  const known = new Set<string>();
  return records.filter(({ outcome, uti }) => {
    const takesBack = uti !== "" && known.has(uti);
    const isEffective = takesBack || IDLE_OUTCOMES.every((idle) => idle !== outcome);
    if (isEffective) known.add(uti);
    return isEffective;
  });
}

/** Whether it pays, reserves or verifies something: it is approved, as a whole or in part. */
export const isApproved = ({ outcome }: Pick<Payment, "outcome">): boolean => hasApprovedAmount(outcome);

/** Whether it asks for nothing, as the verification of a card does. */
export const asksNothing = ({ money }: Pick<OrderLink, "money">): boolean =>
  money !== undefined && signOf(money.amount) === 0;
