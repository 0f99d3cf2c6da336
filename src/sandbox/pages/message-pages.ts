/** Pages with one message: the result of a payment, why a link is closed, or why a request was refused. */
import { html } from "hono/html";
import { isJsonNumber, memberOf } from "../../domain/json.ts";
import { formatAmount } from "../../domain/money.ts";
import type { LinkStatus } from "../../domain/payment-link-reply.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import type { OpenStatus } from "../links.ts";
import { page, type Page } from "./page-frame.ts";
import type { ServiceProblem } from "../service-problem.ts";

const MARKS = {
  approved: "✓",
  declined: "✕",
  cancelled: "–",
  paid: "✓",
  expired: "!",
  unknown: "?",
  refused: "✕",
} as const;

function messagePage(mark: keyof typeof MARKS, title: string, content: Page, next?: string): Page {
  return page({
    kind: "checkout",
    title,
    next,
    content: html`<main>
      <div class="card result">
        <div class="mark ${mark}" aria-hidden="true">${MARKS[mark]}</div>
        <div role="status"><h1>${title}</h1></div>
        ${content}
      </div>
    </main>`,
  });
}

const RESULTS = {
  APPROVED: ["approved", "Payment approved"],
  DECLINED: ["declined", "Payment declined"],
  CANCELLED: ["cancelled", "Payment cancelled"],
  UNCLEAR: ["unknown", "Payment unclear"],
} as const;

interface ResultParts {
  readonly record: TransactionRecord;
  readonly merchantName: string;
  /** The link's page, if the link can still be paid. */
  readonly payAgain: string | undefined;
  /** The merchant's page, which opens by itself. */
  readonly returnUrl: string | undefined;
}

export function resultPage({ record, merchantName, payAgain, returnUrl }: ResultParts): Page {
  const [mark, title] = RESULTS[outcomeOf(record)];
  const amount = memberOf(record, "amountTrans");
  return messagePage(
    mark,
    title,
    html`<p class="amount">
        ${isJsonNumber(amount) ? formatAmount(amount, textOf(record, "transCurrencyCode") ?? "") : ""}
      </p>
      <p>${merchantName}</p>
      <p class="hint">Reference <span class="mono">${textOf(record, "reference")}</span></p>
      ${returnUrl === undefined ? "" : html`<a class="button" href="${returnUrl}">Return to ${merchantName}</a>`}
      ${
        payAgain === undefined || returnUrl !== undefined
          ? ""
          : html`<a class="button" href="${payAgain}">${mark === "approved" ? "Pay again" : "Try again"}</a>`
      }`,
    returnUrl,
  );
}

const CLOSED = {
  paid: ["paid", "This link has been paid", "No further payment is due."],
  expired: ["expired", "This link has expired", "Ask the merchant for a new link."],
  cancelled: ["cancelled", "This link was cancelled", "The merchant does not accept this payment any more."],
} as const;

export function closedPage(status: Exclude<LinkStatus, OpenStatus>, merchantName: string): Page {
  const [mark, title, advice] = CLOSED[status];
  return messagePage(
    mark,
    title,
    html`<p>${merchantName}</p>
      <p class="hint">${advice}</p>`,
  );
}

export const unknownPage = (): Page =>
  messagePage(
    "unknown",
    "Payment link not found",
    html`<p class="hint">Check that the address is complete, or ask the merchant for a new link.</p>`,
  );

/** The page for browsers; programs get problem details. */
export const problemPage = ({ title, message, errors }: ServiceProblem): Page =>
  messagePage(
    "refused",
    title,
    html`<p>The sandbox refused this: ${message}.</p>
      ${
        errors.length === 0
          ? ""
          : html`<ul>
              ${errors.map(({ at, message: detail }) => html`<li><span class="mono">${at}</span> ${detail}</li>`)}
            </ul>`
      }
      <p class="hint">Go back to correct it.</p>
      <a class="button" href="/">Dashboard</a>`,
  );
