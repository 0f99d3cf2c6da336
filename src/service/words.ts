/** The words in the body of an error, in every common shape: JSON of many kinds, an HTML page, or plain text. */
import type { Problem } from "../domain/errors.ts";
import { isJsonNumber, isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";

export interface ServiceWords {
  /** The text for people; empty for an empty body. */
  readonly text: string;
  /** The service's own code of the error, as text. */
  readonly code: string | undefined;
  readonly problems: readonly Problem[];
  /** Whether a web page answered, and no API. */
  readonly isPage: boolean;
  readonly isJson: boolean;
}

const LONGEST_TEXT = 500;

export function serviceWords(body: Uint8Array): ServiceWords {
  const text = new TextDecoder().decode(body).trim();
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const isPage = HTML.test(text);
    return {
      text: isPage ? pageTitle(text) : clip(text),
      code: undefined,
      problems: [],
      isPage,
      isJson: false,
    };
  }
  const words = wordsOf(parsed.value.value);
  return { ...words, text: clip(words.text ?? text), isPage: false, isJson: true };
}

const clip = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}… (${text.length} characters)` : text;

/** The members that hold words, codes, further objects and lists of problems; names without case, `_` and `-`. */
const TEXTS = [
  "detail",
  "message",
  "errordescription",
  "errormessage",
  "responsemessage",
  "faultstring",
  "msg",
];
const WEAK_TEXTS = ["description", "reason", "title", "error"];
const CODES = ["code", "errorcode", "responsecode", "faultcode", "reasoncode", "errorid", "errno"];
const INNER = ["error", "fault", "detail", "result"];
const PROBLEMS = ["errors", "modelstate", "violations", "details"];
/** The members that say where a problem is. */
const PLACES = ["pointer", "field", "path", "property", "param", "parameter", "name", "target"];

/** Levels of nested errors that are searched. */
const MAX_DEPTH = 3;

type Words = Pick<ServiceWords, "code" | "problems"> & { readonly text: string | undefined };

/** The words of a JSON error; `text` is undefined if no member is known to hold words. */
export function wordsOf(value: Json, depth = 0): Words {
  if (Array.isArray(value)) return wordsOf(value.find(isJsonObject) ?? null, depth);
  if (!isJsonObject(value) || depth > MAX_DEPTH) return { text: undefined, code: undefined, problems: [] };
  const members = plainNames(value);
  const inner = INNER.map((name) => members.get(name)).filter(isJsonObject);
  const nested = inner.map((object) => wordsOf(object, depth + 1));
  const detail = members.get("detail");
  const lists = [...PROBLEMS.map((name) => members.get(name)), Array.isArray(detail) ? detail : undefined];
  const problems = lists.flatMap(problemsIn);
  const [first] = problems;
  return {
    text:
      firstText(members, TEXTS) ??
      nested.find(({ text }) => text !== undefined)?.text ??
      firstText(members, WEAK_TEXTS) ??
      (first === undefined ? undefined : `${first.at} ${first.message}`.trim()),
    code:
      nested.find(({ code }) => code !== undefined)?.code ??
      codeOf(members) ??
      lists.flatMap(codeInList).find((code) => code !== undefined),
    problems: [...problems, ...nested.flatMap((words) => words.problems)],
  };
}

/** Services spell one name as `errorCode`, `error_code`, `ErrorCode`. */
const plainNames = (object: JsonObject): ReadonlyMap<string, Json> =>
  new Map(Object.entries(object).map(([name, value]) => [name.toLowerCase().replace(/[_-]/g, ""), value]));

function firstText(members: ReadonlyMap<string, Json>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = members.get(name);
    if (typeof value === "string" && value.trim() !== "") return value.trim();
  }
  return undefined;
}

function codeOf(members: ReadonlyMap<string, Json>): string | undefined {
  for (const name of CODES) {
    const value = members.get(name);
    if (isJsonNumber(value)) return value.toString();
    if (typeof value === "string" && value !== "") return value;
  }
  // A single word is a code (RFC 6749 5.2), a sentence is not.
  const error = members.get("error");
  return typeof error === "string" && /^[\w.:-]+$/.test(error) ? error : undefined;
}

const codeInList = (list: Json | undefined): readonly (string | undefined)[] =>
  Array.isArray(list) ? list.filter(isJsonObject).map((error) => codeOf(plainNames(error))) : [];

/** A list of objects or texts, or an object with the texts of each field (ASP.NET). */
function problemsIn(value: Json | undefined): Problem[] {
  if (Array.isArray(value)) return value.flatMap(problemOf);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([at, texts]) =>
    (Array.isArray(texts) ? texts : [texts])
      .filter((text) => typeof text === "string")
      .map((text) => ({ at, message: clip(text) })),
  );
}

function problemOf(error: Json): Problem[] {
  if (typeof error === "string") return [{ at: "", message: clip(error) }];
  if (!isJsonObject(error)) return [];
  const members = plainNames(error);
  const message = firstText(members, [...TEXTS, ...WEAK_TEXTS, "code"]);
  if (message === undefined) return [];
  // JSON:API names the place in an object of its own.
  const source = members.get("source");
  const place =
    firstText(members, PLACES) ?? (isJsonObject(source) ? firstText(plainNames(source), PLACES) : "");
  return [{ at: placeOf(place ?? ""), message: clip(message) }];
}

/** A JSON Pointer as a path; any other place as it is. */
const placeOf = (place: string): string =>
  /^#?\//.test(place) ? place.replace(/^#?\//, "").replaceAll("/", ".") : place;

const HTML = /^\s*(?:<!doctype html|<html|<head|<body|<h1)/i;

/** The title of a page describes the error; the rest is layout. */
function pageTitle(page: string): string {
  const [, title = ""] = /<title[^>]*>([^<]*)/i.exec(page) ?? /<h1[^>]*>([^<]*)/i.exec(page) ?? [];
  const words = title.replace(/\s+/g, " ").trim();
  return words === "" ? "an HTML page" : `an HTML page with the title "${clip(words)}"`;
}

/**
 * Whether a JSON object of a 2xx reply reports an error. The caller has found no link in it, since a link may also have
 * members of these names.
 */
export function reportsError(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const members = plainNames(value);
  const has = (name: string): boolean => isFilled(members.get(name));
  if (["error", "errors", "fault", "errorcode", "errormessage"].some(has)) return true;
  if (members.get("success") === false || members.get("ok") === false) return true;
  const status = members.get("status");
  if (typeof status === "string" && /^(?:error|fail(?:ed|ure)?)$/i.test(status)) return true;
  return has("message") && has("code") && !isSuccess(members.get("code"));
}

/** Codes that services send with a result, such as 200 or "SUCCESS". */
const isSuccess = (code: Json | undefined): boolean =>
  (isJsonNumber(code) || typeof code === "string") && /^(?:0+|20[0-2]|ok|success)$/i.test(code.toString());

/** Some services send `"errors": []` or `"errorCode": 0` without an error. */
function isFilled(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === "") return false;
  if (isJsonNumber(value)) return Number(value.toString()) !== 0;
  if (Array.isArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}
