/** What the service answers about payment links, with every rule of the specification that it breaks, and what its other
 * operations accept: the query of a list, and the changes of an update. */
import { problemWith, type Problem } from "./errors.ts";
import { isJsonNumber, isJsonObject, type Json, type JsonObject, memberAt } from "./json.ts";
import { pastExpiry } from "./payment-link.ts";
import { fieldsOf } from "./payment-link-fields.ts";
import { isDate, isSameValue } from "./payment-link-types.ts";
import {
  type PaymentLink,
  type PaymentLinkRequest,
  problemsOfReply,
  shownPart,
  withoutNulls,
} from "./payment-link-values.ts";
import { parseWebAddress } from "./addresses.ts";
import { duration, isUtcDateTime, parseInstant } from "./time.ts";

/** The status on creation (States rule 1). */
export const ACTIVE = "active";
export const LINK_STATUSES = [ACTIVE, "viewed", "attempted", "paid", "expired", "cancelled"] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/**
 * Reads the body of a link and never refuses it, so that the URL is shown whatever else is wrong. With `requested`, it
 * also checks the fields that the service must echo.
 */
export function readPaymentLink(
  reply: Json,
  requested?: PaymentLinkRequest,
): { readonly link: PaymentLink; readonly violations: readonly Problem[] } {
  if (!isJsonObject(reply)) return { link: {}, violations: [{ at: "", message: "must be a JSON object" }] };
  const given = withoutNulls(reply);
  const violations = problemsOfReply(given);
  const link = shownPart(given);
  const isShown = (name: string): boolean => Object.hasOwn(link, name);
  const echo = requested === undefined ? [] : brokenEcho(given, requested);
  for (const violation of [...brokenDates(given), ...brokenUrl(link), ...echo]) {
    // A field that is missing is not echoed either; an amount as text may also be another amount.
    if (isShown(violation.at) || !violations.some(({ at }) => at === violation.at))
      violations.push(violation);
  }
  return { link, violations };
}

const DATES = fieldsOf("reply").flatMap(([path, { type }]) => (isDate(type) ? [path] : []));

function* brokenDates(reply: JsonObject): Iterable<Problem> {
  for (const at of DATES) {
    const date = memberAt(reply, at);
    if (typeof date === "string" && !isUtcDateTime(date))
      yield { at, message: "must be an ISO 8601 date-time in UTC" };
  }
}

function* brokenUrl({ url, id }: PaymentLink): Iterable<Problem> {
  if (url === undefined) return;
  const address = parseWebAddress(url);
  if (address === undefined) yield { at: "url", message: "must be an absolute http or https URL" };
  else if (id !== undefined && address.searchParams.get("r") !== id) {
    yield { at: "url", message: "must have the link's id as query parameter r" };
  }
}

const ECHOED = fieldsOf("reply").filter(([, { echoed }]) => echoed === true);

/** The fields that must equal the request's (Endpoints rules 2 and 3), and the first status (States rule 1). */
function* brokenEcho(reply: JsonObject, requested: PaymentLinkRequest): Iterable<Problem> {
  const request = isJsonObject(requested) ? requested : {};
  for (const [at, { type }] of ECHOED) {
    const [sent, received] = [memberAt(request, at), memberAt(reply, at)];
    if (sent === undefined) {
      // Present only for multi-use links (Payment link response, linkOptions).
      if (type === "object" && received !== undefined)
        yield { at, message: "must be absent, as it was not sent" };
    } else if (type === "object") {
      if (received === undefined) yield { at, message: "is missing" };
    } else if (hasParent(reply, at) && (received === undefined || !isSameValue(type, sent, received)))
      yield isJsonNumber(sent) || typeof sent === "string"
        ? problemWith(sent.toString(), at, "must be as sent")
        : { at, message: "must be as sent" };
  }
  if (reply["status"] !== ACTIVE) yield { at: "status", message: `must be ${ACTIVE} on creation` };
}

/** Of an object that is missing, nothing is said of its members. */
const hasParent = (reply: JsonObject, at: string): boolean =>
  !at.includes(".") || memberAt(reply, at.slice(0, at.lastIndexOf("."))) !== undefined;

export type Checked<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly Problem[] };

/** Older links are not listed. */
export const LISTED_AGE = duration(365, "d");
export const LARGEST_PAGE = 5000;

export interface LinksQuery {
  readonly terminalId: string;
  readonly from: Date;
  readonly to: Date;
  readonly page: number;
  readonly size: number;
  readonly status: LinkStatus | undefined;
}

/** The parameters of a list, each as text. */
export function checkLinksQuery(query: Readonly<Record<string, string>>): Checked<LinksQuery> {
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
    return { ok: false, problems };
  return { ok: true, value: { terminalId, from: start, to: end, page: pages, size: sizes, status: known } };
}

/** What can be changed of a link. */
export interface PaymentLinkUpdate {
  readonly description?: string;
  readonly expirationDate: string;
}

export function checkUpdate(changes: Json, now: Date): Checked<PaymentLinkUpdate> {
  if (!isJsonObject(changes)) return { ok: false, problems: [{ at: "", message: "must be a JSON object" }] };
  const { description, expirationDate, ...others } = changes;
  const problems: Problem[] = Object.keys(others).map((at) => ({ at, message: "cannot be changed" }));
  const isText = description === undefined || typeof description === "string";
  if (!isText) problems.push({ at: "description", message: "must be text" });
  const date =
    typeof expirationDate === "string" && isUtcDateTime(expirationDate) ? expirationDate : undefined;
  if (date === undefined) {
    const rule = "must be an ISO 8601 date-time in UTC, such as 2030-01-31T12:00:00Z";
    problems.push({ at: "expirationDate", message: expirationDate === undefined ? "is required" : rule });
  } else problems.push(...pastExpiry({ expirationDate: date }, now));
  if (problems.length > 0 || date === undefined || !isText) return { ok: false, problems };
  return { ok: true, value: { ...(description === undefined ? {} : { description }), expirationDate: date } };
}
