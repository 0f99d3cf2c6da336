/** What the service answers about payment links, with every rule of the specification that it breaks. */
import { problemWith, type Problem } from "./errors.ts";
import { isJsonNumber, isJsonObject, type Json, type JsonObject, memberAt } from "../values/json.ts";
import { linkFieldsOf } from "./payment-link-field-lookup.ts";
import { isDate, isSameValue } from "./payment-link-types.ts";
import type { PaymentLink, PaymentLinkRequest } from "./payment-link-shapes.ts";
import { problemsOfReply, shownPart, withoutNulls } from "./payment-link-values.ts";
import { parseWebAddress } from "../values/addresses.ts";
import { duration, isUtcDateTime } from "../values/time.ts";

/** The status on creation (States rule 1). */
export const ACTIVE = "active";
/** Those of a link that can still be paid. */
export const OPEN_STATUSES = [ACTIVE, "viewed", "attempted"] as const;
export const LINK_STATUSES = [...OPEN_STATUSES, "paid", "expired", "cancelled"] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/** Older links are not listed. */
export const LISTED_AGE = duration(365, "d");

interface ReadLink {
  readonly link: PaymentLink;
  readonly violations: readonly Problem[];
  /** Whether the customer would pay another amount or order, or somebody else, than was requested. */
  readonly asksForOther: boolean;
}

/**
 * Reads the body of a link and never refuses it, so that the URL is shown whatever else is wrong. With `requested`, it
 * also checks the fields that the service must echo.
 */
export function readPaymentLink(reply: Json, requested?: PaymentLinkRequest): ReadLink {
  if (!isJsonObject(reply))
    return {
      link: {},
      violations: [{ at: "", message: "must be a JSON object" }],
      asksForOther: false,
    };
  const given = withoutNulls(reply);
  const violations = problemsOfReply(given);
  const link = shownPart(given);
  const isShown = (name: string): boolean => Object.hasOwn(link, name);
  const echo = requested === undefined ? [] : [...brokenEcho(given, requested)];
  for (const violation of [...brokenDates(given), ...brokenUrl(link), ...echo]) {
    // A field that is missing is not echoed either; an amount as text may also be another amount.
    if (isShown(violation.at) || !violations.some(({ at }) => at === violation.at))
      violations.push(violation);
  }
  return { link, violations, asksForOther: echo.some(({ at }) => PAID_FIELDS.has(at) && isShown(at)) };
}

const DATES = linkFieldsOf("reply").flatMap(([path, { type }]) => (isDate(type) ? [path] : []));

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

const ECHOED = linkFieldsOf("reply").filter(([, { echoed }]) => echoed === true);

/** What decides how much the customer pays, to whom, and for what. A gateway that gives one answer to two requests is noticed by it. */
const PAID_FIELDS: ReadonlySet<string> = new Set(["amount", "currency", "terminalId", "invoiceId"]);

/** The fields that must equal the request's (Endpoints rules 2 and 3), and the first status (States rule 1). */
function* brokenEcho(reply: JsonObject, requested: PaymentLinkRequest): Iterable<Problem> {
  const request = isJsonObject(requested) ? requested : {};
  for (const [at, { type }] of ECHOED) {
    const [sent, received] = [memberAt(request, at), memberAt(reply, at)];
    if (sent === undefined) {
      // Present only for reusable links (Payment link response, linkOptions).
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
