/** The links in the replies of the service: one that was created, one by its id, and a page of a list. */
import type { PaymentLink, PaymentLinkRequest } from "../domain/payment-link-shapes.ts";
import { PaylinkError, type Problem } from "../domain/errors.ts";
import type { PaymentLinkUpdate } from "../domain/exchanges.ts";
import { findWrapped, type Json, type JsonObject, memberOf } from "../values/json.ts";
import { parseJson } from "../values/parse-json.ts";
import { LINK_STATUSES, readPaymentLink } from "../domain/payment-link-reply.ts";
import { hasDate, linkExpiry } from "../orders/link-end.ts";
import { isWebAddress, parseWebAddress } from "../values/addresses.ts";
import { fieldLines, type HttpReply } from "../http/message.ts";
import { onlyObject } from "./envelopes.ts";
import { isReading, type LinkOperation } from "../domain/operations.ts";
import { type About, checkAddress, whenUnknown } from "./advice.ts";
import { reportedError } from "./failures.ts";
import { reportsError, serviceWords } from "../http/error-words.ts";
import { formatInstant } from "../values/time.ts";

export interface CreatedLink {
  /** The service's own JSON. */
  readonly text: string;
  readonly link: PaymentLink & { readonly url: string };
  readonly violations: readonly Problem[];
  /** Whether the customer would pay another amount or order, or somebody else, than was requested. */
  readonly asksForOther: boolean;
  readonly about: About;
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Throws `outcome_unknown` for a 2xx reply without the URL of one link: the link may exist. */
export function readCreated(reply: HttpReply, request: PaymentLinkRequest, about: About): CreatedLink {
  if (reply.undecoded !== undefined) throw unusableCreation(reply, about, serviceWords(reply).text);
  const text = UTF8.decode(reply.body);
  if (isEmptyReply(reply)) throw unusableCreation(reply, about, "an empty body");
  const json = parseJson(text);
  if (!json.ok) throw unusableCreation(reply, about, `a body that ${json.message}`, text);
  const body = json.value.value;
  const found = linksIn(body);
  if (found.length > 1) throw unusableCreation(reply, about, "more than one link", text);
  const { link, violations, asksForOther } = readPaymentLink(found[0] ?? body, request);
  const { id, url } = link;
  // An error may have the address of a page about it.
  if ((id === undefined || url === undefined) && reportsError(body))
    throw reportedError(reply, body, "create", about);
  if (url === undefined || !isWebAddress(url)) throw unusableCreation(reply, about, "no URL of a link", text);
  const repeated = json.value.duplicates.map((at) => ({
    at,
    message: "is given twice; the last one is shown",
  }));
  return {
    text,
    link: { ...link, url },
    violations: [...headViolations(reply), ...repeated, ...violations],
    asksForOther,
    about,
  };
}

/** The reply itself or what it wraps. An envelope may have an id and a status of its own, but no URL. */
function linksIn(document: Json): readonly JsonObject[] {
  const withUrl = findWrapped(document, (object) => memberOf(object, "url") !== undefined);
  if (withUrl.length > 0) return withUrl;
  return findWrapped(
    document,
    (object) => memberOf(object, "id") !== undefined && memberOf(object, "status") !== undefined,
  );
}

function unusableCreation(
  { status, headers }: HttpReply,
  about: About,
  what: string,
  body = "",
): PaylinkError {
  // The address of what was created (RFC 9110 10.2.2).
  const [location] = fieldLines(headers, "location");
  const named = location === undefined ? "" : `, and names the address ${location}`;
  return new PaylinkError("outcome_unknown", `The service answered ${status} with ${what}${named}.`, {
    details: {
      status,
      ...(body === "" ? {} : { body }),
      ...(location === undefined ? {} : { location }),
    },
    effect: "create",
    hints: whenUnknown("create", about),
  });
}

/** Success of "Create payment link" is 200 with JSON (Errors rule 1). */
function* headViolations({ status, headers }: HttpReply): Iterable<Problem> {
  if (status !== 200) yield { at: "", message: `the status is ${status}, not 200` };
  const [type = "missing"] = fieldLines(headers, "content-type");
  if (!/^application\/(?:[\w.-]+\+)?json(?:\s*;|\s*$)/i.test(type))
    yield { at: "", message: `the Content-Type is ${type}, not application/json` };
}

export interface ServiceLink {
  /** The service's own JSON. */
  readonly text: string;
  /** The JSON of the link in it. */
  readonly json: JsonObject;
  readonly link: PaymentLink;
  readonly violations: readonly Problem[];
}

/** What is changed: the service requires an expiry, which is the link's own by default. */
export type LinkChanges = Partial<PaymentLinkUpdate>;

/** The expiry as the service spells it. */
export function expiryIn({ json }: ServiceLink): Pick<LinkChanges, "expirationDate"> {
  const expirationDate = memberOf(json, "expirationDate");
  return typeof expirationDate === "string" ? { expirationDate } : {};
}

/** 204, or another success without a body. */
const isEmptyReply = ({ body }: HttpReply): boolean => UTF8.decode(body).trim() === "";

/** A success that does not give the link: one without a body, or JSON such as `{"success":true}`. An error is not a success. */
export function isWithoutLink(reply: HttpReply): boolean {
  if (isEmptyReply(reply)) return true;
  const json = parseJson(UTF8.decode(reply.body));
  return json.ok && linksIn(json.value.value).length === 0 && !reportsError(json.value.value);
}

/** A service may use words of its own for a link that is closed. */
const NOT_CANCELLED: ReadonlySet<string> = new Set(LINK_STATUSES.filter((status) => status !== "cancelled"));

export function requireCancelled({ link }: ServiceLink, id: string): void {
  const { status = "", cancelledDate, paidDate } = link;
  const isPaid = hasDate(paidDate);
  if (!isPaid && (hasDate(cancelledDate) || !NOT_CANCELLED.has(status.toLowerCase()))) return;
  const is = isPaid ? "paid" : status.toLowerCase();
  throw new PaylinkError(
    "outcome_unknown",
    `The service accepted the request, but the link is ${is}, not cancelled.`,
    {
      effect: "cancel",
      hints: whenUnknown("cancel", { link: id }),
      details: { link: id, linkStatus: status },
    },
  );
}

/** A service may accept a change and make none, or another one. What its answer does not hold is not known. */
export function requireUpdated({ link }: ServiceLink, id: string, changes: LinkChanges): void {
  const [asked, expires] = [linkExpiry(changes), linkExpiry(link)];
  const isOther =
    asked !== undefined && expires !== undefined && Math.abs(expires.getTime() - asked.getTime()) >= 1000;
  const { description } = changes;
  const problems = [
    ...(isOther ? [`it expires at ${formatInstant(expires)}, not at ${changes.expirationDate}`] : []),
    ...(description !== undefined && link.description !== undefined && link.description !== description
      ? [`its description is "${link.description}"`]
      : []),
  ];
  if (problems.length === 0) return;
  throw new PaylinkError(
    "outcome_unknown",
    `The service accepted the request, but the link was not changed as asked: ${problems.join(", and ")}.`,
    { effect: "update", hints: whenUnknown("update", { link: id }), details: { link: id } },
  );
}

export function readServiceLink(reply: HttpReply, id: string, effect: LinkOperation): ServiceLink {
  const { object: json } = onlyObject(reply, {
    what: "link",
    findIn: linksIn,
    isCertain: (object) => memberOf(object, "id") !== undefined && memberOf(object, "url") !== undefined,
    effect,
    about: { link: id },
  });
  const { link, violations } = readPaymentLink(json);
  const answered = linkId(link);
  if (answered !== undefined && answered !== id) throw otherLink(reply, { id, answered, effect });
  return { text: UTF8.decode(reply.body), json, link, violations };
}

/** The service may leave out the id, but it is in the URL. */
export const linkId = ({ id, url }: Pick<PaymentLink, "id" | "url">): string | undefined =>
  id ?? parseWebAddress(url ?? "")?.searchParams.get("r") ?? undefined;

interface Other {
  readonly id: string;
  readonly answered: string;
  readonly effect: LinkOperation;
}

/** The answer is about another link: what became of the one that was asked for is not known. */
const otherLink = ({ status }: HttpReply, { id, answered, effect }: Other): PaylinkError =>
  new PaylinkError(
    isReading(effect) ? "not_reached" : "outcome_unknown",
    `The service answered ${status} about link ${answered}, not about ${id}.`,
    {
      effect,
      hints: isReading(effect) ? [checkAddress(effect)] : whenUnknown(effect, { link: id }),
      details: { status, link: id, answered },
    },
  );

export interface ListQuery {
  readonly terminalId: string;
  /** When the links were created. */
  readonly from: Date;
  readonly to: Date;
  readonly status?: string | undefined;
  /** From 1; the service's default is the first page. */
  readonly page?: number | undefined;
  /** Links on a page; the service's default is 20, its maximum 5000. */
  readonly size?: number | undefined;
}

/** The address of a page. `links` is the address where links are created. */
export function pageAddress(links: URL, { from, to, ...query }: ListQuery): URL {
  const address = new URL(links);
  const parameters = { ...query, from: formatInstant(from), to: formatInstant(to) };
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) address.searchParams.set(name, String(value));
  return address;
}

/**
 * The links on a page. A service without links may answer 204, or with nothing for `records`. Any other answer without a body comes from
 * something in between, and is not the word of the service that there are no links.
 */
export function readPage(reply: HttpReply): readonly Json[] {
  if (reply.status === 204) return [];
  const { object } = onlyObject(reply, {
    what: "list of links",
    findIn: (document) => findWrapped(document, isPageOfLinks),
    isCertain: (page) => isFilled(memberOf(page, "records") ?? null),
    effect: "list",
  });
  const records = memberOf(object, "records");
  return Array.isArray(records) ? records : [];
}

const isFilled = (records: Json): boolean => Array.isArray(records) && records.length > 0;

function isPageOfLinks(value: JsonObject): boolean {
  const records = memberOf(value, "records");
  const isCounted = memberOf(value, "totalCount") !== undefined;
  return Array.isArray(records) || records === null || (records === undefined && isCounted);
}
