/** The receipt: the result of a payment, and the way back to the merchant. */
import { html } from "hono/html";
import { isJsonNumber, memberOf } from "../../domain/json.ts";
import { signOf } from "../../domain/money.ts";
import { parseInstant } from "../../domain/time.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { customerFacts } from "../customer.ts";
import type { Link, Payment } from "../ledger.ts";
import { amountText, excerpt, facts, moment, name } from "./checkout-parts.ts";
import { messagePage } from "./message-pages.ts";
import type { Page } from "./page-frame.ts";

const PAYMENT_RESULTS = {
  APPROVED: ["approved", "Payment approved", ""],
  DECLINED: ["declined", "Payment declined", "Your card was declined, and nothing was charged."],
  CANCELLED: ["cancelled", "Payment cancelled", "Nothing was charged."],
  UNCLEAR: ["unknown", "Payment unclear", "Ask the merchant whether you have paid."],
} as const;

/** For a link with amount 0, which verifies a card and charges nothing. */
const VERIFICATION_RESULTS = {
  APPROVED: ["approved", "Card verified", "Nothing was charged."],
  DECLINED: ["declined", "Card not verified", "Your card was declined. Nothing was charged."],
  CANCELLED: ["cancelled", "Verification cancelled", "Nothing was charged."],
  UNCLEAR: ["unknown", "Verification unclear", "Ask the merchant whether your card was verified."],
} as const;

/** Seconds until the merchant's page opens: WCAG 2.2.1 gives people 20 seconds to turn off a time limit. */
export const RETURN_DELAY = 20;

export interface ReturnLink {
  readonly url: string;
  /** This page without the time limit; undefined if it has none. */
  readonly stay: string | undefined;
}

interface ReceiptParts {
  readonly payment: Payment;
  readonly link: Link;
  readonly merchantName: string;
  /** The link's page, if the link can still be paid. */
  readonly payAgain: string | undefined;
  readonly returnLink: ReturnLink | undefined;
}

export function receiptPage(parts: ReceiptParts): Page {
  const { payment, link, merchantName } = parts;
  const { record, customer } = payment;
  const outcome = outcomeOf(record);
  const amount = memberOf(record, "amountTrans");
  const isPaid = isJsonNumber(amount) && signOf(amount) > 0;
  const isVerification = link.request.linkOptions === undefined && !isPaid;
  const [mark, title, advice] = (isVerification ? VERIFICATION_RESULTS : PAYMENT_RESULTS)[outcome];
  const date = parseInstant(textOf(record, "transDateTime") ?? "");
  const { description } = link.request;
  return messagePage(
    mark,
    title,
    html`${isPaid ? amountText(amount, textOf(record, "transCurrencyCode") ?? "") : ""}
    ${advice === "" ? "" : html`<p class="advice">${advice}</p>`}
    ${facts([
      ["Merchant", merchantName],
      ["Description", description === undefined ? undefined : excerpt(description)],
      ["Card", outcome === "CANCELLED" ? undefined : cardText(record)],
      ["Date", date === undefined ? undefined : moment(date)],
      ["Reference", textOf(record, "reference")],
      ...customerFacts(customer),
    ])}
    ${nextSteps(parts, mark)}`,
  );
}

/** `•••• 1111`, as receipts show it. */
const cardText = (record: TransactionRecord): string =>
  textOf(record, "cardPan")?.replace(/^\*+/, "•••• ") ?? "";

function nextSteps({ merchantName, payAgain, returnLink }: ReceiptParts, mark: string): Page | "" {
  const isApproved = mark === "approved";
  const again =
    payAgain === undefined
      ? ""
      : html`<a class="button ${isApproved ? "" : "primary"}" href="${payAgain}"
          >${isApproved ? "Pay again" : "Try again"}</a
        >`;
  const back =
    returnLink === undefined
      ? ""
      : html`<a class="button ${again === "" || isApproved ? "primary" : ""}" href="${returnLink.url}"
          >Return to ${name(merchantName)}</a
        >`;
  if (again === "" && back === "") return "";
  return html`<div class="actions">${isApproved ? [back, again] : [again, back]}</div>
    ${
      returnLink?.stay === undefined
        ? ""
        : html`<p class="hint">
            You will return to ${name(merchantName)} in ${RETURN_DELAY} seconds.
            <a href="${returnLink.stay}">Stay on this page</a>
          </p>`
    }`;
}
