/** What the dashboard's pages say about a link, a payment, a delivery and an attempt. */
import { isJsonNumber, isJsonObject, memberOf } from "../../domain/json.ts";
import { parseJson } from "../../domain/parse-json.ts";
import { groupedAmount, signOf } from "../../domain/money.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import type { Attempt, Delivery, Link } from "../ledger.ts";
import { isReusable } from "../links.ts";

export const amountOf = (record: TransactionRecord): string => {
  const amount = memberOf(record, "amountTrans");
  return isJsonNumber(amount) ? groupedAmount(amount, textOf(record, "transCurrencyCode") ?? "") : "";
};

export const outcomeText = (record: TransactionRecord): string => outcomeOf(record).toLowerCase();

/** The record in a webhook's body; empty if the body is not a JSON object. */
export function recordOf({ body }: Delivery): TransactionRecord {
  const parsed = parseJson(new TextDecoder().decode(body));
  return parsed.ok && isJsonObject(parsed.value.value) ? parsed.value.value : {};
}

/** When the payment was made, by the sandbox's clock. */
export function paidAt(record: TransactionRecord): Date | undefined {
  const time = new Date(textOf(record, "transDateTime") ?? "");
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** The receiver's status, or one word that says why it is missing. */
export function statusText({ status, duration }: Attempt): string {
  if (status !== null) return String(status);
  return duration === null ? "not sent" : "no answer";
}

/** Whether the receiver accepted the webhook. */
export const succeeded = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300;

export const linkTitle = ({ id, request }: Link): string => request.description ?? request.invoiceId ?? id;

/** What a customer pays through the link. */
export function priceOf(link: Link): string {
  const { amount, currency } = link.request;
  if (!isReusable(link)) return groupedAmount(amount, currency);
  return signOf(amount) === 0
    ? `${currency.toUpperCase()}, any amount`
    : `${groupedAmount(amount, currency)}, reusable`;
}
