/** The words in the body of an error, in the spellings of services, gateways and frameworks, and whether a body is an error. */
import type { Problem } from "../domain/errors.ts";
import { isJsonNumber, isJsonObject, memberOf, type Json, type JsonObject } from "../values/json.ts";
import { parseJson, parseJsonObject } from "../values/parse-json.ts";
import type { HttpReply } from "./message.ts";

export interface ServiceWords {
  /** The text for people; empty for an empty body. */
  readonly text: string;
  /** The service's own code of the error, as text. */
  readonly code: string | undefined;
  /** The fields that the error names, each with what is wrong. */
  readonly problems: readonly Problem[];
  /** Whether a web page answered, and no API. */
  readonly isPage: boolean;
  readonly isJson: boolean;
}

const LONGEST_TEXT = 500;
/** A service may name any number of fields. */
const MOST_PROBLEMS = 50;

export function serviceWords({ body, undecoded }: Pick<HttpReply, "body" | "undecoded">): ServiceWords {
  const unreadable = { code: undefined, problems: [], isPage: false, isJson: false };
  if (undecoded !== undefined)
    return { ...unreadable, text: shortened(`a body that cannot be decoded (${undecoded})`) };
  const text = textIn(body);
  if (text === undefined) return { ...unreadable, text: `a body of ${body.length} bytes that is not text` };
  const parsed = parseJson(text);
  const value = parsed.ok ? parsed.value.value : null;
  const isPage = HTML.test(text);
  const problems = problemsIn(value);
  const otherwise = isPage ? pageTitle(text) : problems.length > 0 ? "" : text;
  return {
    text: shortened(messageIn(value) ?? otherwise),
    code: codeIn(value),
    problems,
    isPage,
    isJson: parsed.ok,
  };
}

/** The message of an error in JSON, with its code and the fields that it names; undefined if the text is no error. */
export function errorText(text: string): string | undefined {
  const parsed = parseJson(text);
  const value = parsed.ok ? parsed.value.value : null;
  const [message, code] = [messageIn(value), codeIn(value)];
  const fields = problemsIn(value).map((problem) =>
    problem.at === "" ? problem.message : `${problem.at}: ${problem.message}`,
  );
  const said = [...new Set([...(message === undefined ? [] : [message]), ...fields])].join("; ");
  // A status is shown beside it.
  const isTold = code === undefined || said.includes(code) || /^[1-5]\d\d$/.test(code);
  return said === "" ? undefined : isTold ? said : `${said} (${code})`;
}

/** Undefined for an image, or what is encoded in a way that nobody named. */
function textIn(body: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return text.includes("\0") ? undefined : text.trim();
  } catch {
    return undefined;
  }
}

const shortened = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}… (${text.length} characters)` : text;

/** The member of this name in any of its spellings: `errorCode`, `ErrorCode`, `error_code`, `error-code`. */
function memberLike(object: JsonObject, name: string): Json | undefined {
  const own = memberOf(object, name);
  if (own !== undefined) return own;
  const key = Object.keys(object).find((one) => plain(one) === plain(name));
  return key === undefined ? undefined : memberOf(object, key);
}

const plain = (name: string): string => name.replace(/[_-]/g, "").toLowerCase();

/** What says what is wrong: the service's own name first, then those of RFC 9457 3.1 and RFC 6749 5.2, and of frameworks. */
const TEXTS = [
  "message",
  "detail",
  "defaultMessage",
  "errorDescription",
  "errorMessage",
  "msg",
  "title",
  "error",
  "description",
  "reason",
  "issue",
];

/** The message of a JSON error; undefined if none of these members holds one. An error may be an object, or a list of texts. */
export function messageIn(value: Json): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const own = TEXTS.map((name) => textAt(value, name)).find((text) => text !== "");
  if (own !== undefined) return own;
  const inner = [memberLike(value, "error"), memberLike(value, "fault")].find(isJsonObject);
  return inner === undefined ? undefined : messageIn(inner);
}

/** Empty for a member that is missing or no text. */
function textAt(object: JsonObject, name: string): string {
  const value = memberLike(object, name);
  return typeof value === "string" ? value.trim() : "";
}

function codeIn(value: Json): string | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const name of ["code", "errorCode", "error"]) {
    const code = memberLike(value, name);
    if (isJsonObject(code)) return codeIn(code);
    const text = isJsonNumber(code) ? code.toString() : textAt(value, name);
    // An error code (RFC 6749 5.2) is one word; a sentence is not a code.
    if (/^[\w.:-]+$/.test(text)) return text;
  }
  return undefined;
}

/**
 * Whether an error has the form that the service documents: a number as `code`, and `message`. Most gateways use other forms; gRPC and
 * Envoy use this one, also for a connection to the service that broke while it was working.
 */
export function isOwnError({ body }: Pick<HttpReply, "body">): boolean {
  const error = parseJsonObject(new TextDecoder().decode(body)) ?? {};
  const message = memberOf(error, "message");
  return isJsonNumber(memberOf(error, "code")) && typeof message === "string" && !leavesOpen(message);
}

/**
 * Whether the words of an error leave open what the service has done: those of a layer before it of its connection to it, and those of a
 * service that has failed on the way.
 */
export const leavesOpen = (words: string): boolean => OF_GATEWAY.test(words) || OF_A_FAULT.test(words);

const OF_GATEWAY = /upstream|gateway|backend|proxy|transport|connect|\breset\b|timed?[ -]?out|deadline/i;

const OF_A_FAULT = /internal (?:server )?error|unexpected error|exception/i;

/** What names the field of an entry, the most exact first. */
const PLACES = [
  "pointer",
  "field",
  "propertyPath",
  "path",
  "instancePath",
  "loc",
  "property",
  "param",
  "parameter",
  "fieldName",
  "name",
  "location",
  "target",
  "source",
];

/** Where texts without a place are about the request. */
const ABOUT_FIELDS = /error|detail|violation|invalid|issue|^message$/i;

/** Every text beside a place, each once: the entries of lists, and what is said by the name of a field. */
function problemsIn(value: Json): Problem[] {
  const unique = new Map(problemsOf(value).map((problem) => [`${problem.at}\0${problem.message}`, problem]));
  return [...unique.values()].slice(0, MOST_PROBLEMS);
}

/** Those of an error, whose members are lists, or an error inside it. */
function problemsOf(error: Json): Problem[] {
  if (!isJsonObject(error)) return [];
  return Object.entries(error).flatMap(([name, member]) => {
    const isNamed = ABOUT_FIELDS.test(name);
    if (Array.isArray(member))
      return member.flatMap((entry) =>
        isNamed || isJsonObject(entry) ? problemOfEntry("", entry, isNamed) : [],
      );
    if (/^(?:error|fault)$/i.test(name)) return problemsOf(member);
    return isNamed && isJsonObject(member) ? problemsByField(member) : [];
  });
}

const problemsByField = (fields: JsonObject): Problem[] =>
  Object.entries(fields).flatMap(([field, said]) =>
    [said].flat().flatMap((one) => problemOfEntry(field, one, true)),
  );

/** `field` is where the entry stands; one that names no field counts where it is allowed to. */
function problemOfEntry(field: string, entry: Json, isAllowed: boolean): Problem[] {
  const message = typeof entry === "string" ? entry.trim() : isJsonObject(entry) ? sayingIn(entry) : "";
  const at = field || (isJsonObject(entry) ? placeIn(entry) : "");
  return message === "" || (at === "" && !isAllowed) ? [] : [clippedProblem(at, message)];
}

const sayingIn = (entry: JsonObject): string =>
  [...TEXTS, "code"].map((name) => textAt(entry, name)).find((text) => text !== "") ?? "";

/** A path may be a list of its parts, and the pointer of JSON:API is in an object of its own. */
function placeIn(entry: JsonObject): string {
  const named = PLACES.map((name) => memberLike(entry, name) ?? null).map((place) => {
    if (typeof place === "string") return place.trim();
    if (isJsonObject(place)) return textAt(place, "pointer") || textAt(place, "parameter");
    if (!Array.isArray(place)) return "";
    return place
      .map((part) => (typeof part === "string" || isJsonNumber(part) ? String(part) : ""))
      .join(".");
  });
  return named.find((place) => place !== "") ?? "";
}

/** `#/customer/name`, `/body/amount` and `$.amount` are fields of the request. */
const clippedProblem = (at: string, message: string): Problem => ({
  at: shortened(at.replace(/^(?:#|\$(?=\.))?[/.]?/, "").replaceAll("/", ".")),
  message: shortened(message),
});

const HTML = /^\s*(?:(?:<!--.*?-->|<\?xml[^>]*>)\s*)*(?:<!doctype html|<html|<head|<body|<h1)/is;

/** The title of a page describes the error; the rest is layout. */
function pageTitle(page: string): string {
  const [, title = ""] = /<title[^<>]*>([^<]*)/i.exec(page) ?? [];
  const words = title.replace(/\s+/g, " ").trim();
  return words === "" ? "an HTML page" : `an HTML page with the title "${words}"`;
}

/** Members that report a failure, unless they are empty, zero, or say that there was none. */
const FAULT_NAMES = ["error", "errors", "errorCode", "errorMessage", "fault", "fieldErrors", "violations"];
/** Members that say how the request ended. */
const RESULT_NAMES = ["success", "status", "ok", "result", "outcome"];

/**
 * Whether a JSON object of a 2xx reply reports an error. The caller has found no link in it, since a link may also have
 * members of these names.
 */
export function reportsError(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  if (FAULT_NAMES.some((name) => saysSomething(memberLike(value, name) ?? null))) return true;
  if (
    RESULT_NAMES.some((name) => saysFailure(memberLike(value, name) ?? null)) ||
    reportedStatus(value) !== undefined
  )
    return true;
  const code = codeIn(value) ?? "0";
  return !/^(?:0+|20[0-2]|ok|success)$/i.test(code) && memberLike(value, "message") !== undefined;
}

const NO_FAULT = /^(?:|0+|none|null|false|no|ok|success)$/i;

function saysSomething(value: Json): boolean {
  if (value === null || value === false) return false;
  if (typeof value === "string") return !NO_FAULT.test(value.trim());
  if (isJsonNumber(value)) return Number(value.value) !== 0;
  return value === true || Object.keys(value).length > 0;
}

const saysFailure = (value: Json): boolean =>
  value === false ||
  (typeof value === "string" &&
    /^(?:false|error|errors|fail|failed|failure|rejected|refused)$/i.test(value.trim()));

/** The status of HTTP that a body names as the one of its error, as gateways do that answer 200; undefined for none. */
export function reportedStatus(value: Json): number | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const name of ["status", "statusCode", "httpStatus"]) {
    const status = memberLike(value, name);
    const text = isJsonNumber(status) ? status.value : typeof status === "string" ? status : "";
    if (/^[45]\d\d$/.test(text)) return Number(text);
  }
  return undefined;
}
