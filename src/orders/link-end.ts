/** How a link has ended: whether it can still be paid is decided here alone. */
import type { PaymentLink } from "../domain/payment-link-shapes.ts";
import { parseInstant } from "../values/time.ts";

/** What does not change any more. */
export type LinkEnd = "paid" | "cancelled" | "expired";

type EndingLink = Pick<
  PaymentLink,
  "status" | "paidDate" | "cancelledDate" | "expirationDate" | "linkOptions"
>;

/**
 * How the link ended, by its dates or its status, whichever says so; undefined while it may still be paid. Any other word is that of a
 * link that may be. A reusable link is never paid: others can pay it after each payment.
 */
export function linkEnd(link: EndingLink, now: Date): LinkEnd | undefined {
  const said = ENDS[link.status?.trim().toLowerCase() ?? ""];
  const isReusable = link.linkOptions !== undefined;
  if (!isReusable && (hasDate(link.paidDate) || said === "paid")) return "paid";
  if (hasDate(link.cancelledDate) || said === "cancelled") return "cancelled";
  const expiry = linkExpiry(link);
  return said === "expired" || (expiry !== undefined && expiry <= now) ? "expired" : undefined;
}

const ENDS: Readonly<Record<string, LinkEnd>> = {
  paid: "paid",
  cancelled: "cancelled",
  canceled: "cancelled",
  expired: "expired",
};

/** In whatever form: a service may write the seconds since 1970. */
export const hasDate = (date: PaymentLink["paidDate"]): boolean => date !== undefined && date !== null;

/** Undefined for what is no ISO 8601 date-time. */
export const linkExpiry = ({ expirationDate }: Pick<PaymentLink, "expirationDate">): Date | undefined =>
  typeof expirationDate === "string" ? parseInstant(expirationDate) : undefined;
