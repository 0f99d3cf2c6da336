/** Pages that state one thing: what became of a payment, why a link is closed, or what the sandbox refused. */
import { html } from "hono/html";
import { isJsonNumber, memberOf } from "../domain/json.ts";
import { formatAmount } from "../domain/money.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../domain/transaction.ts";
import type { LinkStatus } from "./links.ts";
import { page, type Page } from "./page.ts";
import type { ServiceProblem } from "./problem.ts";

const MARKS = {
  approved: "✓",
  declined: "✕",
  cancelled: "–",
  paid: "✓",
  expired: "!",
  unknown: "?",
  refused: "✕",
} as const;

function statement(mark: keyof typeof MARKS, title: string, content: Page): Page {
  return page({
    kind: "checkout",
    title,
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

/** `payAgain` is the link's own page, where it can still be paid. */
export function resultPage(
  record: TransactionRecord,
  merchantName: string,
  payAgain: string | undefined,
): Page {
  const [mark, title] = RESULTS[outcomeOf(record)];
  const amount = memberOf(record, "amountTrans");
  return statement(
    mark,
    title,
    html`<p class="amount">
        ${isJsonNumber(amount) ? formatAmount(amount, textOf(record, "transCurrencyCode") ?? "") : ""}
      </p>
      <p>${merchantName}</p>
      <p class="hint">Reference <span class="mono">${textOf(record, "reference")}</span></p>
      ${
        payAgain === undefined
          ? ""
          : html`<a class="button" href="${payAgain}">${mark === "approved" ? "Pay again" : "Try again"}</a>`
      }`,
  );
}

const CLOSED = {
  paid: ["paid", "This link has been paid", "There is nothing left to pay."],
  expired: ["expired", "This link has expired", "Ask the merchant for a new one."],
  cancelled: ["cancelled", "This link was cancelled", "The merchant no longer takes this payment."],
} as const;

export function closedPage(status: Exclude<LinkStatus, "active">, merchantName: string): Page {
  const [mark, title, advice] = CLOSED[status];
  return statement(
    mark,
    title,
    html`<p>${merchantName}</p>
      <p class="hint">${advice}</p>`,
  );
}

export const unknownPage = (): Page =>
  statement(
    "unknown",
    "There is no such payment link",
    html`<p class="hint">Check that the address was copied whole, or ask the merchant for a new one.</p>`,
  );

/** For people what programs are answered as problem details; going back gives them their form as they left it. */
export const problemPage = ({ title, message, errors }: ServiceProblem): Page =>
  statement(
    "refused",
    title,
    html`<p>The sandbox refused this: ${message}.</p>
      ${
        errors.length === 0
          ? ""
          : html`<ul>
              ${errors.map(({ at, message: fault }) => html`<li><span class="mono">${at}</span> ${fault}</li>`)}
            </ul>`
      }
      <p class="hint">Go back to mend it.</p>
      <a class="button" href="/">Dashboard</a>`,
  );
