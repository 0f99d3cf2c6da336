/** The pages of the checkout that show one message: the receipt of a payment, a link that cannot be paid, and errors. */
import { html } from "hono/html";
import type { JsonNumber } from "../../values/json.ts";
import { groupedAmount, signOf } from "../../domain/money.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { capitalized } from "../../values/sentence.ts";
import type { LinkStatus } from "../../domain/payment-link-reply.ts";
import { parseInstant } from "../../values/time.ts";
import { amountIn, outcomeOf, textOf } from "../../domain/transaction.ts";
import { customerFacts } from "../customer.ts";
import { isReusable, type OpenStatus } from "../links.ts";
import { facts } from "../../pages/components.ts";
import type { Page } from "../../pages/page.ts";
import { checkoutFrame } from "../banner.ts";
import type { ServiceProblem } from "../replies.ts";
import type { Link, PaymentRow } from "../store/ledger-rows.ts";
import { largeAmount, cardText, moment, name, declineReason, resultPath } from "./components.ts";

/** The mark, and the titles of a payment and of the verification of a card. */
const RECEIPTS = {
  APPROVED: ["approved", "Payment approved", "Card verified"],
  PARTIALLY_APPROVED: ["unknown", "Payment partially approved", "Card partially verified"],
  DECLINED: ["declined", "Payment declined", "Card not verified"],
  CANCELLED: ["cancelled", "Payment cancelled", "Verification cancelled"],
  UNCLEAR: ["unknown", "Payment unclear", "Verification unclear"],
} as const;

interface ReceiptParts {
  readonly payment: PaymentRow;
  readonly link: Link;
  /** What is left to pay of the link. */
  readonly left: JsonNumber;
  readonly merchantName: string;
  /** The link's page, if the link can still be paid. */
  readonly payAgain: string | undefined;
  /** The merchant's page. */
  readonly returnUrl: string | undefined;
  readonly strip: Page;
}

export function receiptPage(parts: ReceiptParts): Page {
  const { payment, link, merchantName } = parts;
  const { record } = payment;
  const outcome = outcomeOf(record);
  const amount = amountIn(record, "amountTrans");
  const isPaid = amount !== undefined && signOf(amount) > 0;
  const isVerification = link.request.linkOptions === undefined && !isPaid;
  const [mark, paid, verified] = RECEIPTS[outcome];
  const title = isVerification ? verified : paid;
  const date = parseInstant(textOf(record, "transDateTime") ?? "");
  const { description } = link.request;
  const advice = adviceFor(parts, outcome, isPaid);
  return messagePage(
    mark,
    title,
    html`${isPaid ? largeAmount(amount, textOf(record, "transCurrencyCode") ?? "") : ""}
    ${advice === "" ? "" : html`<p class="advice">${advice}</p>`}
    ${facts([
      ["Merchant", merchantName],
      ["Description", description],
      ["Card", outcome === "CANCELLED" ? undefined : cardText(textOf(record, "cardPan") ?? "")],
      ["Date", date === undefined ? undefined : moment(date)],
      ["Reference", textOf(record, "reference")],
      ...customerFacts(link.request),
    ])}
    ${nextButtons(parts, mark)}`,
    { strip: parts.strip, page: resultPath(payment.uti) },
  );
}

/** What was charged, and what is left to pay: after a part of the amount, the link is open for the rest. */
function adviceFor(
  { payment, link, left, payAgain }: ReceiptParts,
  outcome: Outcome,
  isPaid: boolean,
): string {
  if (outcome === "DECLINED") return `${declineReason(payment.record)}. Nothing was charged.`;
  if (outcome === "CANCELLED" || !isPaid) return "Nothing was charged.";
  if (outcome !== "PARTIALLY_APPROVED") return "";
  const rest = `${groupedAmount(left, link.request.currency)} is left to pay.`;
  return `Only part of the amount was charged. ${payAgain === undefined || isReusable(link) ? "" : rest}`;
}

function nextButtons({ payment, merchantName, payAgain, returnUrl }: ReceiptParts, mark: string): Page | "" {
  const isApproved = mark === "approved";
  const isPartly = outcomeOf(payment.record) === "PARTIALLY_APPROVED";
  const again =
    payAgain === undefined
      ? ""
      : html`<a class="button ${isApproved ? "" : "primary"}" href="${payAgain}"
          >${isApproved ? "Pay again" : isPartly ? "Pay the rest" : "Try again"}</a
        >`;
  const back =
    returnUrl === undefined
      ? ""
      : html`<a class="button ${again === "" || isApproved ? "primary" : ""}" href="${returnUrl}"
          >Return to ${name(merchantName)}</a
        >`;
  return again === "" && back === ""
    ? ""
    : html`<div class="actions">${isApproved ? [back, again] : [again, back]}</div>`;
}

/** Drawn as paths, since fonts draw such characters in different sizes. */
const CHECK = "M5 12.5l4.5 4.5L19 7.5";
const CROSS = "M7 7l10 10M17 7L7 17";
const EXCLAMATION = "M12 6v7.5M12 17.5v.01";
const MESSAGE_MARKS = {
  approved: CHECK,
  declined: CROSS,
  cancelled: "M6.5 12h11",
  paid: CHECK,
  expired: EXCLAMATION,
  unknown: EXCLAMATION,
  refused: CROSS,
} as const;

/** `below` is what stays up to date, with the address of the page that has it. */
const messagePage = (
  mark: keyof typeof MESSAGE_MARKS,
  title: string,
  content: Page,
  below?: { readonly strip: Page; readonly page: string },
): Page =>
  checkoutFrame({
    title,
    content: html`<main ${below === undefined ? "" : html`data-page="${below.page}"`}>
      <div class="card message">
        <svg class="mark ${mark}" viewBox="0 0 24 24" aria-hidden="true">
          <path d="${MESSAGE_MARKS[mark]}" />
        </svg>
        <div role="status"><h1>${title}</h1></div>
        ${content}
      </div>
      ${below?.strip ?? ""}
    </main>`,
  });

const CLOSED = {
  paid: ["paid", "This link has been paid", "There is nothing left to pay."],
  expired: ["expired", "This link has expired", "Ask the merchant for a new link."],
  cancelled: ["cancelled", "This link was cancelled", "The merchant no longer accepts this payment."],
} as const;

export function closedPage(status: Exclude<LinkStatus, OpenStatus>, merchantName: string): Page {
  const [mark, title, advice] = CLOSED[status];
  return messagePage(
    mark,
    title,
    html`<p>${name(merchantName)}</p>
      <p class="advice">${advice}</p>`,
  );
}

export const unknownPage = (): Page =>
  messagePage(
    "unknown",
    "Payment link not found",
    html`<p class="advice">Check that the address is complete, or ask the merchant for a new link.</p>`,
  );

/** The page for browsers; programs get problem details. To who may not see the dashboard, a link to it would show this page again. */
export const problemPage = ({ title, message, errors, status }: ServiceProblem): Page =>
  messagePage(
    "refused",
    title,
    html`<p>${capitalized(message)}.</p>
      ${
        errors.length === 0
          ? ""
          : html`<ul>
                ${errors.map(({ at, message: detail }) => html`<li><span class="mono">${at}</span> ${detail}</li>`)}
              </ul>
              <p class="hint">Go back to correct this.</p>`
      }
      ${status === 403 ? "" : html`<a class="button" href="/">Dashboard</a>`}`,
  );
