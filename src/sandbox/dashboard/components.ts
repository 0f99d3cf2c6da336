/** What every page of the dashboard shows and carries, its addresses and forms, and the values of links and payments. */
import { checkoutUrl } from "../access.ts";
import type { Context } from "hono";
import { html } from "hono/html";
import { withoutPassword } from "../../values/url-passwords.ts";
import { groupedAmount, signOf } from "../../domain/money.ts";
import { boundWords } from "../../domain/payment-link.ts";
import { outcomeName } from "../../domain/outcome.ts";
import { parseInstant } from "../../values/time.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { answerText, answerWords } from "../../http/answer-words.ts";
import { actionForm, clipped, localPath } from "../../pages/components.ts";
import type { Page } from "../../pages/page.ts";
import { isReusable } from "../links.ts";
import type { SandboxRuntime } from "../runtime.ts";
import type { DeliveryAttempt, Link } from "../store/ledger-rows.ts";

export type DashboardView = Readonly<ReturnType<typeof viewOf>>;

/** `here` is the page's address, if it is not that of the request. */
export function viewOf(c: Context, runtime: SandboxRuntime, here?: string) {
  const { merchant, clock, keys, ledger, counts, requests, faults } = runtime;
  const { pathname, search } = new URL(c.req.url);
  return {
    merchantName: merchant.merchantName,
    terminalId: merchant.terminalId,
    ledger,
    counts,
    requests,
    faults,
    /** Where customers open links. */
    checkoutUrl: checkoutUrl(c, runtime),
    now: clock.now(),
    clock: clock.running ? (clock.own ? "moved" : "running") : "stopped",
    /** The id of the signing key. */
    keyid: keys.current().keyid ?? "",
    failed: ledger.failedCount(),
    /** The path and query of this page; actions return to it. */
    here: here ?? localPath(pathname + search, HOME),
    /** The action that led to this page. */
    done: c.req.query("done"),
  };
}

/** The first page, for an address that the dashboard does not have. */
export const HOME = "/deliveries";

export const linkPath = (id: string): string => `/links/${encodeURIComponent(id)}`;
export const paymentPath = (uti: string): string => `/payments/${encodeURIComponent(uti)}`;
export const apiRequestPath = (number: number): string => `/requests/${number}`;
export const deliveryPath = (id: string): string => `/deliveries/${encodeURIComponent(id)}`;

/** Text that leads to a page of the dashboard. */
export const pageLink = (path: string, text: string): Page => html`<a href="${path}" dir="auto">${text}</a>`;

/** A form for an action, which leads back to the page. */
export const controlForm = (view: DashboardView, action: string, content: Page): Page =>
  actionForm(action, view.here, content);

/** Without the scheme, to save space. */
export const shortUrl = (url: string): string => clipped(withoutPassword(url).replace(/^https?:\/\//, ""));

/** What a payment, and a webhook about it, is called. */
export const recordReference = (record: TransactionRecord, uti: string): string =>
  clipped(textOf(record, "reference") ?? uti);

export const recordOutcome = (record: TransactionRecord): string => outcomeName(outcomeOf(record));

/** When the payment was made, by the sandbox's clock. */
export const paidAt = (record: TransactionRecord): Date | undefined =>
  parseInstant(textOf(record, "transDateTime") ?? "");

/** What the receiver answered. */
export const attemptText = ({ status, duration, answerHeaders, answer }: DeliveryAttempt): string =>
  answerText({ status, ms: duration, detail: answerWords(answerHeaders, answer) });

export const linkTitle = ({ id, request }: Link): string => request.description ?? request.invoiceId ?? id;

/** What a customer pays through the link. */
export function priceOf(link: Link): string {
  const { amount, currency } = link.request;
  if (!isReusable(link)) return groupedAmount(amount, currency);
  return signOf(amount) === 0
    ? (boundWords(link.request, groupedAmount) ?? `${currency.toUpperCase()}, any amount`)
    : `${groupedAmount(amount, currency)}, reusable`;
}
