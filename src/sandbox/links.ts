/** Payment links as the sandbox stores them: created by the specification's rules, with dates and a status. */
import { addDuration } from "../domain/time.ts";
import type { Problem } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { Checked, LinkStatus, WellFormedLink } from "../domain/payment-link-reply.ts";
import { checkRequest, type PaymentLinkRequest, REUSABLE_LIFETIME } from "../domain/payment-link.ts";
import type { Merchant } from "./access-tokens.ts";
import { ServiceProblem } from "./service-problem.ts";

export interface Link {
  readonly id: string;
  readonly request: PaymentLinkRequest;
  readonly createdDate: Date;
  readonly expirationDate: string;
  viewedDate: Date | null;
  attemptedDate: Date | null;
  paidDate: Date | null;
  cancelledDate: Date | null;
}

/** What the sandbox does with a second link of the same `invoiceId` at the same terminal. */
export const DUPLICATE_INVOICES = ["accept", "refuse"] as const;
export type DuplicateInvoices = (typeof DUPLICATE_INVOICES)[number];

export const isReusable = (link: Link): boolean => link.request.linkOptions !== undefined;

export function statusOf(link: Link, now: Date): LinkStatus {
  const { cancelledDate, paidDate, expirationDate, attemptedDate, viewedDate } = link;
  if (cancelledDate !== null) return "cancelled";
  // A reusable link can be paid again until it expires (Endpoints rule 5).
  if (paidDate !== null && !isReusable(link)) return "paid";
  if (Date.parse(expirationDate) <= now.getTime()) return "expired";
  // An approved payment is an attempt that was completed.
  if (attemptedDate !== null && paidDate === null) return "attempted";
  return viewedDate === null ? "active" : "viewed";
}

/** A link with one of these can be paid and cancelled. */
export const OPEN_STATUSES = ["active", "viewed", "attempted"] as const satisfies readonly LinkStatus[];
export type OpenStatus = (typeof OPEN_STATUSES)[number];

export const isOpen = (status: LinkStatus): status is OpenStatus =>
  OPEN_STATUSES.some((open) => open === status);

/** Throws a 400 problem that names every invalid field, a 403 problem for a terminal of another merchant. */
export function createLink(body: Json, merchant: Merchant, newId: () => string, now: Date): Link {
  const { request, problems } = checkRequest(body, now);
  if (request === null) throw invalid(problems);
  requireOwnTerminal(merchant, request.terminalId);
  return {
    id: newId(),
    request,
    createdDate: now,
    expirationDate: request.expirationDate ?? addDuration(now, REUSABLE_LIFETIME).toISOString(),
    viewedDate: null,
    attemptedDate: null,
    paidDate: null,
    cancelledDate: null,
  };
}

/** Endpoints rule 1. */
export function requireOwnTerminal({ terminals }: Merchant, terminalId: string): void {
  if (terminals.includes(terminalId)) return;
  throw new ServiceProblem(403, "Forbidden", "the terminal is not assigned to these credentials", [
    { at: "terminalId", message: `is not one of ${terminals.join(", ")}` },
  ]);
}

/** The checked value. Throws a 400 problem that names every invalid field. */
export function validated<T>(checked: Checked<T>): T {
  if (checked.ok) return checked.value;
  throw invalid(checked.problems);
}

const invalid = (problems: readonly Problem[]): ServiceProblem =>
  new ServiceProblem(400, "Bad Request", "the request breaks the specification", problems);

/** The response of "Create payment link": the request's data, and what the service adds. */
export function linkResponse(link: Link, checkoutUrl: string, now: Date): WellFormedLink {
  const { amount, currency, invoiceId, terminalId, customerName, description, linkOptions } = link.request;
  return {
    id: link.id,
    amount,
    currency,
    ...(invoiceId === undefined ? {} : { invoiceId }),
    terminalId,
    customerName,
    ...(description === undefined ? {} : { description }),
    createdDate: link.createdDate.toISOString(),
    expirationDate: link.expirationDate,
    viewedDate: dateOrNull(link.viewedDate),
    attemptedDate: dateOrNull(link.attemptedDate),
    paidDate: dateOrNull(link.paidDate),
    cancelledDate: dateOrNull(link.cancelledDate),
    status: statusOf(link, now),
    url: `${checkoutUrl}?r=${encodeURIComponent(link.id)}`,
    ...(linkOptions === undefined ? {} : { linkOptions: linkOptionsReply(linkOptions) }),
  };
}

const dateOrNull = (date: Date | null): string | null => date?.toISOString() ?? null;

/** The mode and the bounds as they were sent (Payment link response, linkOptions). */
function linkOptionsReply({ mode, minAmount, maxAmount }: NonNullable<PaymentLinkRequest["linkOptions"]>) {
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(minAmount === undefined ? {} : { minAmount }),
    ...(maxAmount === undefined ? {} : { maxAmount }),
  };
}
