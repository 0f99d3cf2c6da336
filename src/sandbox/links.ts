/** Payment links: created and changed by the specification's rules, with dates and a status. */
import type { WellFormedLink } from "../domain/payment-link-shapes.ts";
import { repeatedPart } from "../domain/payment-link-values.ts";
import type { Problem } from "../domain/errors.ts";
import type { PaymentLinkUpdate } from "../domain/exchanges.ts";
import { isJsonObject, type Json } from "../values/json.ts";
import { LINK_STATUSES, LISTED_AGE, type LinkStatus } from "../domain/payment-link-reply.ts";
import { TRANSACTION_TYPES } from "../domain/known-services.ts";
import { checkRequest, pastExpiry, REUSABLE_LIFETIME, SALE } from "../domain/payment-link.ts";
import { linkIdFrom } from "../domain/reference.ts";
import { addDuration, isUtcDateTime, parseInstant } from "../values/time.ts";
import { formatLocal } from "../render/layout.ts";
import type { Merchant } from "./identity.ts";
import type { Ledger } from "./store/ledger.ts";
import { type Link, UNTOUCHED } from "./store/ledger-rows.ts";
import { ServiceProblem, unknownLink } from "./replies.ts";
import type { SandboxRuntime } from "./runtime.ts";

export const isReusable = (link: Link): boolean => link.request.linkOptions !== undefined;

export function linkStatusAt(link: Link, now: Date): LinkStatus {
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
export const PAYABLE_STATUSES = ["active", "viewed", "attempted"] as const satisfies readonly LinkStatus[];
export type OpenStatus = (typeof PAYABLE_STATUSES)[number];

export const isOpenLink = (status: LinkStatus): status is OpenStatus =>
  PAYABLE_STATUSES.some((open) => open === status);

/** Endpoints rule 1. */
function requireOwnTerminal({ terminalId: own }: Merchant, terminalId: string): void {
  if (terminalId === own) return;
  throw new ServiceProblem(403, "the terminal is not assigned to these credentials", [
    { at: "terminalId", message: `must be ${own}` },
  ]);
}

type LinkClock = Pick<SandboxRuntime["clock"], "now" | "own">;

/** With a clock that shows another time than the client's, an expiry that looks right can be in the past. */
function invalidRequest(problems: readonly Problem[], clock?: LinkClock): ServiceProblem {
  const isOther = clock?.own === true && problems.some(({ at }) => at === "expirationDate");
  const time = isOther
    ? `; the sandbox's clock shows ${formatLocal(clock.now())}: paylink sandbox advance moves it forward, paylink sandbox --reset starts over at the present time`
    : "";
  return new ServiceProblem(400, `the request breaks the specification${time}`, problems);
}

/** The response of "Create payment link": the fields that repeat the request, and those that the service adds. */
export function linkResponse(link: Link, checkoutUrl: string, now: Date): WellFormedLink {
  const { id, request, createdDate, expirationDate, viewedDate, attemptedDate, paidDate, cancelledDate } =
    link;
  return {
    id,
    ...repeatedPart(request),
    createdDate: createdDate.toISOString(),
    expirationDate,
    viewedDate: dateOrNull(viewedDate),
    attemptedDate: dateOrNull(attemptedDate),
    paidDate: dateOrNull(paidDate),
    cancelledDate: dateOrNull(cancelledDate),
    status: linkStatusAt(link, now),
    url: linkUrl(checkoutUrl, id),
  };
}

/** Where customers pay the link; `checkout` is the address of the checkout, or its path. */
export const linkUrl = (checkout: string, id: string): string => `${checkout}?r=${encodeURIComponent(id)}`;

const dateOrNull = (date: Date | null): string | null => date?.toISOString() ?? null;

/**
 * Creates a link. Throws a 400 problem that names every invalid field, a 403 problem for a terminal of another merchant, a 422
 * problem for the number of a paid order.
 */
export function addLink(runtime: SandboxRuntime, body: Json, checkoutUrl: string): Link {
  const { merchant, newId, ledger, clock, duplicateInvoices } = runtime;
  const now = clock.now();
  const { request, problems } = checkRequest(body, now);
  if (request === null) throw invalidRequest(problems, clock);
  requireOwnTerminal(merchant, request.terminalId);
  const { transactionType = SALE } = request;
  if (!TRANSACTION_TYPES.some((type) => type === transactionType))
    throw invalidRequest([
      { at: "transactionType", message: `must be one of ${TRANSACTION_TYPES.join(", ")}` },
    ]);
  if (duplicateInvoices === "refuse") requireUnpaidOrder(ledger, request);
  const link: Link = {
    id: linkIdFrom(newId()),
    request,
    createdDate: now,
    expirationDate: request.expirationDate ?? addDuration(now, REUSABLE_LIFETIME).toISOString(),
    ...UNTOUCHED,
  };
  ledger.write(() => ledger.addLink(link));
  runtime.observe({ type: "link", link, url: linkUrl(checkoutUrl, link.id) });
  return link;
}

/** Throws a 422 problem for the number of a paid order, which cannot be used again. */
function requireUnpaidOrder(ledger: Ledger, { invoiceId }: Link["request"]): void {
  if (invoiceId === undefined || !ledger.isPaid(invoiceId)) return;
  throw new ServiceProblem(
    422,
    `the order ${JSON.stringify(invoiceId)} is paid: its number cannot be used again`,
    [{ at: "invoiceId", message: "is the number of a paid order" }],
  );
}

/** Throws a 404 problem for an unknown id. */
export function findLink(ledger: Ledger, id: string): Link {
  const link = ledger.findLink(id);
  if (link === undefined) throw unknownLink();
  return link;
}

/** Milliseconds by which a client's clock, with which it asks for the whole period, may differ from this one. */
const CLIENT_CLOCK_DIFFERENCE = 60_000;

/** The newest links first. Throws a 400 problem for an invalid query, a 403 problem for a foreign terminal. */
export function linksListed(
  { ledger, merchant, clock }: SandboxRuntime,
  query: Readonly<Record<string, string>>,
) {
  const now = clock.now();
  const asked = linksQueryIn(query);
  requireOwnTerminal(merchant, asked.terminalId);
  if (asked.from.getTime() < addDuration(now, LISTED_AGE, -1).getTime() - CLIENT_CLOCK_DIFFERENCE)
    throw invalidRequest([{ at: "from", message: "must not be more than 365 days ago" }]);
  return ledger.linksCreated(asked, now);
}

/** Throws a 400 problem for invalid changes, a 422 problem once the customer has tried to pay. */
export function changeLink(runtime: SandboxRuntime, id: string, body: Json): Link {
  const { ledger, clock } = runtime;
  const link = findLink(ledger, id);
  // The expiry of an expired link, which has to be sent again, would be refused as past.
  requireStatus(link, ["active", "viewed"], "updated", clock.now());
  const changes = updateIn(body, clock);
  const { expirationDate } = changes;
  const updated = { ...link, request: { ...link.request, ...changes }, expirationDate };
  ledger.write(() => ledger.saveLink(updated));
  runtime.observe({ type: "updated", link: updated });
  return updated;
}

/** Throws a 422 problem unless the link can still be paid. */
export function cancelLink(runtime: SandboxRuntime, id: string): Link {
  const { ledger, clock } = runtime;
  const link = findLink(ledger, id);
  const now = clock.now();
  requireStatus(link, PAYABLE_STATUSES, "cancelled", now);
  const cancelled = { ...link, cancelledDate: now };
  ledger.write(() => ledger.saveLink(cancelled));
  runtime.observe({ type: "cancelled", link: cancelled });
  return cancelled;
}

const ONE_OF = new Intl.ListFormat("en-GB", { type: "disjunction" });

function requireStatus(link: Link, statuses: readonly LinkStatus[], changed: string, now: Date): void {
  const status = linkStatusAt(link, now);
  if (statuses.includes(status)) return;
  const detail = `only a link that is ${ONE_OF.format(statuses)} can be ${changed}, and this link is ${status}`;
  throw new ServiceProblem(422, detail);
}

const LARGEST_PAGE = 5000;

export interface LinksQuery {
  readonly terminalId: string;
  readonly from: Date;
  readonly to: Date;
  readonly page: number;
  readonly size: number;
  readonly status: LinkStatus | undefined;
}

/** The parameters of a list, each as text. Throws a 400 problem that names every invalid one. */
function linksQueryIn(query: Readonly<Record<string, string>>): LinksQuery {
  const { terminalId, from, to, page = "1", size = "20", status } = query;
  const problems: Problem[] = [];
  const problem = (at: string, message: string): undefined => void problems.push({ at, message });
  const instant = (at: string, text: string | undefined): Date | undefined => {
    if (text === undefined) return problem(at, "is required");
    return (
      parseInstant(text) ??
      problem(at, "must be an ISO 8601 date-time with a zone, such as 2030-01-31T12:00:00Z")
    );
  };
  const count = (at: string, text: string, most: number, rule: string): number | undefined =>
    /^[1-9]\d{0,8}$/.test(text) && Number(text) <= most ? Number(text) : problem(at, rule);
  if (terminalId === undefined) problem("terminalId", "is required");
  const [start, end] = [instant("from", from), instant("to", to)];
  const pages = count("page", page, 999_999_999, "must be a whole number from 1");
  const sizes = count("size", size, LARGEST_PAGE, `must be a whole number from 1 to ${LARGEST_PAGE}`);
  const known = LINK_STATUSES.find((one) => one === status);
  if (status !== undefined && known === undefined)
    problem("status", `must be one of ${LINK_STATUSES.join(", ")}`);
  if (start !== undefined && end !== undefined && start > end) problem("from", "must not be later than to");
  if (problems.length > 0 || !terminalId || !start || !end || !pages || !sizes)
    throw invalidRequest(problems);
  return { terminalId, from: start, to: end, page: pages, size: sizes, status: known };
}

/** The changes of an update. Throws a 400 problem that names every invalid one. */
function updateIn(changes: Json, clock: LinkClock): PaymentLinkUpdate {
  if (!isJsonObject(changes)) throw invalidRequest([{ at: "", message: "must be a JSON object" }], clock);
  const { description, expirationDate, ...others } = changes;
  const problems: Problem[] = Object.keys(others).map((at) => ({ at, message: "cannot be changed" }));
  const isText = description === undefined || typeof description === "string";
  if (!isText) problems.push({ at: "description", message: "must be text" });
  const date =
    typeof expirationDate === "string" && isUtcDateTime(expirationDate) ? expirationDate : undefined;
  if (date === undefined) {
    const rule = "must be an ISO 8601 date-time in UTC, such as 2030-01-31T12:00:00Z";
    problems.push({ at: "expirationDate", message: expirationDate === undefined ? "is required" : rule });
  } else problems.push(...pastExpiry({ expirationDate: date }, clock.now()));
  if (problems.length > 0 || date === undefined || !isText) throw invalidRequest(problems, clock);
  return { ...(description === undefined ? {} : { description }), expirationDate: date };
}
