/** Which order a reference belongs to. */
import { comparableText } from "../values/comparable-text.ts";
import type { PaymentLink } from "../domain/payment-link-shapes.ts";
import { splitReference } from "../domain/reference.ts";
import { textOf, type TransactionRecord } from "../domain/transaction.ts";

/** Of the links of an order number; undefined without any. */
export type KindOfLinks = "one-time" | "reusable" | undefined;
export type KindOfLink = (number: string) => KindOfLinks;

/** A number that a one-time link has too is the order of that link: the payments of the reusable one are orders of their own. */
export function kindOfLinks(links: readonly { readonly isReusable: boolean }[]): KindOfLinks {
  if (links.length === 0) return undefined;
  return links.every(({ isReusable }) => isReusable) ? "reusable" : "one-time";
}

/**
 * The order number of a reference, as it is compared. A suffix counts only where the link of the number before it is reusable:
 * `A-1-123456789` may be a number of its own. Each payment of a reusable link is an order of its own; this is the number of its link.
 */
export function orderNumberOf(reference: string, kindOfLink: KindOfLink): string {
  const number = comparableText(reference);
  if (kindOfLink(number) !== undefined) return number;
  return baseNumbersOf(number).find((base) => kindOfLink(base) === "reusable") ?? number;
}

/**
 * The numbers of the reusable link that a reference may belong to, by its form: of two hyphens, the first may be the end of the number.
 * Empty if it has no suffix.
 */
export function baseNumbersOf(reference: string): readonly string[] {
  const number = comparableText(reference);
  const { base, suffix } = splitReference(number);
  if (suffix === null) return [];
  const longer = number.slice(0, -suffix.length - 1);
  return longer === base ? [base] : [base, longer];
}

/** The number of a link, as it is compared. Without an order number it is the id, which some services use as the reference. */
export const linkNumber = ({ invoiceId }: Pick<PaymentLink, "invoiceId">, id: string): string =>
  comparableText(invoiceId || id);

/** The reference of a record, as it is compared; empty without one. */
export const recordNumber = (record: TransactionRecord | null): string =>
  comparableText((record && textOf(record, "reference")) ?? "");
