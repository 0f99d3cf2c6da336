/** The links in the replies of the service: one that was created, one by its id, and a page of a list. */
import { type Effect, hint, type Hint, paylink, PaylinkError, type Problem } from "../domain/errors.ts";
import {
  formatJsonPointer,
  isJsonNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  parseJsonPointer,
  type PointerSteps,
  stringifyJson,
  valueAt,
  valueAtPointer,
} from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { LINK_STATUSES, type PaymentLink, readPaymentLink } from "../domain/payment-link-reply.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import { isWebAddress } from "../domain/addresses.ts";
import { fieldLines, type HttpReply } from "../http/message.ts";
import { checkAddress, reportedError, UnusableAnswer, whenUnknown } from "./failures.ts";
import { reportsError, serviceWords } from "./words.ts";
import { formatInstant } from "../domain/time.ts";

export interface CreatedLink {
  /** The service's own JSON. */
  readonly text: string;
  readonly link: PaymentLink & { readonly url: string };
  readonly violations: readonly Problem[];
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Throws `outcome_unknown` for a 2xx reply without a link: the link may exist. `linkAt` is the setting. */
export function readCreated(
  reply: HttpReply,
  request: PaymentLinkRequest,
  linkAt: string | undefined,
): CreatedLink {
  const text = UTF8.decode(reply.body);
  const json = parseJson(text);
  if (!json.ok) throw unusable(reply, `a body that ${json.message}`, text);
  const body = json.value.value;
  const { link, violations } = readPaymentLink(
    linkAt === undefined ? body : valueOfLink(body, linkAt),
    request,
  );
  const { url } = link;
  if (url === undefined || !isWebAddress(url)) {
    const seen = urlIn(body, stringifyJson(request));
    if (seen === undefined && reportsError(body)) throw reportedError(reply, "create");
    throw unusable(reply, whatIsMissing(body, linkAt), text, seen);
  }
  const repeated = json.value.duplicates.map((at) => ({
    at,
    message: "is given twice; the last one is shown",
  }));
  return { text, link: { ...link, url }, violations: [...headViolations(reply), ...repeated, ...violations] };
}

/** The link at the pointer. A text there is its URL, and the object around it has the other fields. */
export function valueOfLink(body: Json, linkAt: string): Json {
  const steps = parseJsonPointer(linkAt);
  if (!steps.ok) return null;
  const value = valueAtPointer(body, steps.value) ?? null;
  if (typeof value !== "string") return value;
  const around = valueAtPointer(body, steps.value.slice(0, -1));
  return { ...(isJsonObject(around) ? around : {}), url: value };
}

function whatIsMissing(body: Json, linkAt: string | undefined): string {
  if (linkAt !== undefined) return `no URL of a link at ${linkAt} (linkAt)`;
  return isJsonObject(body) ? "no URL of a link" : "JSON that is not an object";
}

/** Members that can hold the URL of a link, in the order of preference. */
const URL_NAMES = [/^url$/i, /(?:url|link|href|uri)$/i];

/** Where a URL is that was not in the request: a pointer for `linkAt`. */
function urlIn(body: Json, sent: string): string | undefined {
  for (const name of URL_NAMES) {
    const steps = findMember(body, (member, value) => {
      return name.test(member) && typeof value === "string" && isWebAddress(value) && !sent.includes(value);
    });
    // The object that contains a member with the specified name is the link.
    if (steps !== undefined) return formatJsonPointer(steps.at(-1) === "url" ? steps.slice(0, -1) : steps);
  }
  return undefined;
}

function findMember(value: Json, isWanted: (name: string, value: Json) => boolean): PointerSteps | undefined {
  if (!isJsonObject(value) && !Array.isArray(value)) return undefined;
  const members = Object.entries(value);
  const [found] = members.find(([name, member]) => isWanted(name, member)) ?? [];
  if (found !== undefined) return [found];
  for (const [name, member] of members) {
    const deeper = findMember(member, isWanted);
    if (deeper !== undefined) return [name, ...deeper];
  }
  return undefined;
}

function unusable({ status }: HttpReply, what: string, body: string, seen?: string): PaylinkError {
  return new PaylinkError("outcome_unknown", `The service answered ${status} with ${what}.`, {
    details: { status, body, ...(seen === undefined ? {} : { linkAt: seen }) },
    effect: "create",
    hints: hintsFor(status, seen),
  });
}

function hintsFor(status: number, seen: string | undefined): readonly Hint[] | undefined {
  if (seen !== undefined)
    return [
      hint`The answer has a URL. If it is the link's, set where it is before you create more links: ${paylink("config", "set", "linkAt", seen)}`,
    ];
  if (status === 202)
    return [
      hint`The service accepted the request and may create the link later. Look for it there before you create it again.`,
    ];
  return undefined;
}

/** Success of "Create payment link" is 200 with JSON (Errors rule 1). */
function* headViolations({ status, headers }: HttpReply): Iterable<Problem> {
  if (status !== 200) yield { at: "", message: `the status is ${status}, not 200` };
  const [type = "missing"] = fieldLines(headers, "content-type");
  if (!/^application\/(?:[\w.-]+\+)?json(?:\s*;|\s*$)/i.test(type))
    yield { at: "", message: `the Content-Type is ${type}, not application/json` };
}

export type LinkEffect = Extract<Effect, "show" | "update" | "cancel">;

export interface ServiceLink {
  /** The service's own JSON. */
  readonly text: string;
  /** The JSON of the link in it: `linkAt`, or all of it. */
  readonly json: JsonObject;
  readonly link: PaymentLink;
  readonly violations: readonly Problem[];
}

/** What an update can change. */
export interface LinkChanges {
  readonly description?: string;
  readonly expirationDate?: string;
}

/** The expiry as the service spells it. */
export function expiryIn({ json }: ServiceLink): Pick<LinkChanges, "expirationDate"> {
  const expirationDate = memberOf(json, "expirationDate");
  return typeof expirationDate === "string" ? { expirationDate } : {};
}

/** 204, or another success without a body. */
export const isEmpty = ({ body }: HttpReply): boolean => UTF8.decode(body).trim() === "";

/** A service may use words of its own for a link that is closed. */
const NOT_CANCELLED: ReadonlySet<string> = new Set(LINK_STATUSES.filter((status) => status !== "cancelled"));

export function requireCancelled({ link: { status = "" } }: ServiceLink, id: string): void {
  if (!NOT_CANCELLED.has(status.toLowerCase())) return;
  throw new PaylinkError(
    "outcome_unknown",
    `The service accepted the request, but the link is ${status.toLowerCase()} and not cancelled.`,
    { effect: "cancel", hints: whenUnknown("cancel", id), details: { link: id, linkStatus: status } },
  );
}

/** `links` is the address where links are created; its query is kept. */
export function linkAddress(links: URL, id: string, action: string): URL {
  const address = new URL(links);
  address.pathname = `${links.pathname.replace(/\/$/, "")}/${encodeURIComponent(id)}${action}`;
  return address;
}

interface Expected {
  readonly id: string;
  /** The setting. */
  readonly linkAt: string | undefined;
  readonly effect: LinkEffect;
}

/** Throws `outcome_unknown` for a 2xx reply without a link to a change, which may have had its effect. */
export function readServiceLink(reply: HttpReply, { id, linkAt, effect }: Expected): ServiceLink {
  const text = UTF8.decode(reply.body);
  const parsed = parseJson(text);
  const body = parsed.ok ? parsed.value.value : null;
  const json = linkAt === undefined ? body : valueOfLink(body, linkAt);
  const { link, violations } = readPaymentLink(json);
  const seen = isLink(json) ? undefined : placeOf(body, isLink);
  if (!isJsonObject(json) || (link.id === undefined && link.url === undefined) || seen !== undefined) {
    if (reportsError(body)) throw reportedError(reply, effect);
    throw noLink(reply, effect, id, seen);
  }
  const other = link.id === undefined || link.id === id ? [] : [{ at: "id", message: `must be ${id}` }];
  return { text, json, link, violations: [...other, ...violations] };
}

/** An envelope may have an id, or a status, of its own. */
const isLink = (value: Json): boolean =>
  isJsonObject(value) &&
  (memberOf(value, "url") !== undefined ||
    (memberOf(value, "id") !== undefined && memberOf(value, "status") !== undefined));

/** Where such a value is inside the document, as a JSON Pointer. */
function placeOf(document: Json, isWanted: (value: Json) => boolean): string | undefined {
  const steps = findMember(document, (_, value) => isWanted(value));
  return steps === undefined ? undefined : formatJsonPointer(steps);
}

function noLink({ status, body }: HttpReply, effect: LinkEffect, id: string, seen?: string): PaylinkError {
  const { text: service, code } = serviceWords(body);
  const message = `The service answered ${status}, but not with a link: ${service || "an empty body"}`;
  const details = {
    status,
    service,
    link: id,
    ...(code === undefined ? {} : { code }),
    ...(seen === undefined ? {} : { linkAt: seen }),
  };
  const isHarmless = effect === "show";
  const usual = isHarmless ? [checkAddress("baseUrl", "linksPath", "linkAt")] : whenUnknown(effect, id);
  return new PaylinkError(isHarmless ? "not_reached" : "outcome_unknown", message, {
    effect,
    hints: [...(seen === undefined ? [] : [seenAt(seen)]), ...usual],
    details,
  });
}

const seenAt = (place: string): Hint =>
  hint`The link seems to be at ${place}: ${paylink("config", "set", "linkAt", place)}`;

export interface LinksQuery {
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

export interface LinksPage {
  /** On all pages; undefined if the service does not give the number. */
  readonly totalCount: number | undefined;
  readonly records: readonly Json[];
}

/** The address of a page. `links` is the address where links are created; its query is kept. */
export function pageAddress(links: URL, { from, to, ...query }: LinksQuery): URL {
  const address = new URL(links);
  const parameters = { ...query, from: formatInstant(from), to: formatInstant(to) };
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) address.searchParams.set(name, String(value));
  return address;
}

/**
 * A service without links may answer with nothing, or with nothing for `records`. Throws `not_reached` if a 2xx reply is not a
 * list of links: something else answers at the address. `linkAt` is the setting: a service that wraps a link may wrap a list.
 */
export function readPage(reply: HttpReply, linkAt: string | undefined): LinksPage {
  const { status, body } = reply;
  if (isEmpty(reply)) return { records: [], totalCount: undefined };
  const parsed = parseJson(UTF8.decode(body));
  const document = parsed.ok ? parsed.value.value : undefined;
  const wrapped = linkAt === undefined || document === undefined ? undefined : valueAt(document, linkAt);
  const page = [document, wrapped].find((value) => value !== undefined && isPage(value));
  if (page !== undefined && isJsonObject(page)) {
    const [records, totalCount] = [memberOf(page, "records"), memberOf(page, "totalCount")];
    return {
      records: Array.isArray(records) ? records : [],
      totalCount: isJsonNumber(totalCount) ? Number(totalCount.toString()) : undefined,
    };
  }
  if (document !== undefined && reportsError(document)) throw reportedError(reply, "list");
  const seen = document === undefined ? undefined : placeOf(document, isPage);
  const said = serviceWords(body);
  const words = parsed.ok ? { ...said, text: "JSON without records" } : said;
  throw new UnusableAnswer(
    "not_reached",
    `The service answered ${status}, but not with a list of links: ${words.text}`,
    { status, words },
    {
      effect: "list",
      hints: [...(seen === undefined ? [] : [seenAt(seen)]), checkAddress("baseUrl", "linksPath")],
      details: seen === undefined ? {} : { linkAt: seen },
    },
  );
}

function isPage(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const records = memberOf(value, "records");
  const isCounted = memberOf(value, "totalCount") !== undefined;
  return Array.isArray(records) || records === null || (records === undefined && isCounted);
}
