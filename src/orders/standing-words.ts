/** How an order stands, as a sentence: every place says it in these words. */
import { plural, wordFor } from "../values/plural.ts";
import { groupedAmount, type Sum } from "../domain/money.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { OrderLink } from "./order.ts";
import type { OrderStanding, Standing } from "./standing.ts";

const WORDS: Readonly<Record<Standing, (standing: OrderStanding) => string>> = {
  twice: ({ paid, payments, reserved, surplus }) => {
    const much = surplus.length === 0 ? "more than is due" : `${sumsText(surplus)} too much`;
    if (payments === 0) return `Reserved twice, ${sumsText(reserved)}: ${much}`;
    return `${wordFor(payments, "Paid", "Paid twice")}, ${sumsText(paid)}: ${much}`;
  },
  unclear: ({ paid }) =>
    `Not clear whether it is paid: look at its payments${paid.length === 0 ? "" : `, ${sumsText(paid)} so far`}`,
  paid: ({ paid, payments }) =>
    `${payments > 1 ? `Paid in ${payments} parts` : "Paid once"}, ${sumsText(paid)}`,
  "in part": ({ paid, missing }) =>
    `Paid in part, ${sumsText(paid)}; ${missing.length === 0 ? "the rest is not paid yet" : `${sumsText(missing)} is missing`}`,
  reserved: ({ reserved }) => `Reserved, not taken: ${sumsText(reserved)}`,
  verified: () => "Its card was verified, and nothing was taken",
  unpaid: () => "Not paid",
};

/** In a word or two, for lists. */
export const STANDING_LABELS: Readonly<Record<Standing, string>> = {
  twice: "paid twice",
  unclear: "unclear",
  paid: "paid",
  "in part": "paid in part",
  reserved: "reserved",
  verified: "verified",
  unpaid: "not paid",
};

/** How the order of a payment stands where nothing but this payment has happened to it. */
const USUAL: Readonly<Record<Outcome, Standing>> = {
  APPROVED: "paid",
  PARTIALLY_APPROVED: "in part",
  DECLINED: "unpaid",
  CANCELLED: "unpaid",
  UNCLEAR: "unclear",
};

/** Whether the order of a payment stands otherwise than the outcome of the payment says. */
export const isTelling = ({ standing, payments }: OrderStanding, outcome: Outcome): boolean =>
  payments > 1 || standing !== USUAL[outcome];

/** Without a full stop: "Paid once, EUR 20.00; a second link can still be paid, EUR 20.00: L7". */
export function standingText(standing: OrderStanding): string {
  const links = payableText(standing);
  return WORDS[standing.standing](standing) + (links === undefined ? "" : `; ${links}`);
}

/** The links that can still be paid, each with its amount; undefined without one. */
function payableText({ isSettled, payable }: OrderStanding): string | undefined {
  const [only, ...more] = payable;
  if (only === undefined) return undefined;
  if (more.length === 0)
    return `${isSettled ? "a second link" : "its link"} can still be paid, ${linkText(only)}`;
  return `${payable.length} links can still be paid: ${payable.map(linkText).join("; ")}`;
}

const linkText = ({ id, money }: OrderLink): string =>
  `${money === undefined ? "an unknown amount" : sumsText([money])}: ${id}`;

export const sumsText = (sums: readonly Sum[]): string =>
  sums.length === 0
    ? "an unknown amount"
    : sums.map(({ amount, currency }) => groupedAmount(amount, currency).trim()).join(", ");

/** The payments of a reusable link, each of which is an order of its own. */
export const reusedText = ({ payments, paid }: OrderStanding): string =>
  payments === 0
    ? "Not paid by its reusable link"
    : `Paid ${plural(payments, "time")} by a reusable link, ${sumsText(paid)}`;
