/** Small pieces that the checkout's pages share: names, amounts, times, and what became of a webhook. */
import { html } from "hono/html";
import { groupedAmount, type Amount } from "../../domain/money.ts";
import { capitalized } from "../../values/sentence.ts";
import { responseMeaning, responseText } from "../../domain/response-codes.ts";
import { formatRelative } from "../../values/time.ts";
import { textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { describeAttempt } from "../attempt-words.ts";
import { clipped } from "../../pages/components.ts";
import type { Page } from "../../pages/page.ts";
import type { SandboxRuntime } from "../runtime.ts";
import { deliveryPath, paymentPath } from "../dashboard/components.ts";
import type { PaymentRow } from "../store/ledger-rows.ts";

/** A name inside a sentence: its direction of writing does not change that of the sentence. */
export const name = (text: string): Page => html`<bdi>${text}</bdi>`;

/** The longest amount in large type. */
const LARGE = 16;

export function largeAmount(amount: Amount, currency: string): Page {
  const text = groupedAmount(amount, currency);
  return html`<p class="amount ${text.length > LARGE ? "long" : ""}">${text}</p>`;
}

const RECEIPT_DATE = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "long",
  timeStyle: "short",
  timeZone: "UTC",
});

/** `31 January 2026 at 12:00 UTC` */
export const moment = (date: Date): Page =>
  html`<time datetime="${date.toISOString()}">${RECEIPT_DATE.format(date)} UTC</time>`;

/** `•••• 1111`, as receipts show it. */
export const cardText = (masked: string): string => masked.replace(/^.*(?=.{4}$)/, "•••• ");

export const resultPath = (uti: string): string => `/pay/result?t=${encodeURIComponent(uti)}`;

/** Why the bank declined a payment: `Insufficient funds`. */
export const declineReason = (record: TransactionRecord): string =>
  capitalized(responseMeaning(textOf(record, "responseCode") ?? "") ?? "no reason was given");

/** What a developer wants to know of a payment, which no live checkout shows. The page of the result brings it up to date. */
export function sandboxStrip({ uti, record }: PaymentRow, { ledger, clock }: SandboxRuntime): Page {
  const now = clock.now();
  const delivery = ledger.deliveries({ uti, limit: 1, now }).rows[0];
  const attempt = delivery && ledger.lastAttempt(delivery.id);
  const code = textOf(record, "responseCode");
  const {
    kind,
    words,
    reason = "",
  } = delivery === undefined
    ? { kind: "waiting", words: "The link has no callback URL for this outcome." }
    : describeAttempt(delivery, attempt);
  const next =
    delivery?.state === "pending" && attempt !== undefined
      ? `Next attempt ${formatRelative(new Date(delivery.due), now)}.`
      : "";
  return html`<aside class="strip" id="strip" aria-label="Payment and webhook" aria-live="polite" data-live>
    <p>
      <b>Sandbox:</b>
      ${code === undefined ? "no response code" : `response code ${responseText(code)}`} ·
      ${dashboardLink("payment", paymentPath(uti))}
    </p>
    <p class="${kind}">
      <b>Webhook:</b> ${words} ${clipped(reason, 200)} ${next}
      ${delivery === undefined ? "" : html` · ${dashboardLink("webhook", deliveryPath(delivery.id))}`}
    </p>
  </aside>`;
}

/** A page of the dashboard. */
const dashboardLink = (what: string, path: string): Page =>
  html`<a href="${path}">View<span class="hidden"> the ${what}</span></a>`;
