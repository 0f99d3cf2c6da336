/** The words in the body of an error: `code` and `message`, problem details, an OAuth error, an HTML page, or plain text. */
import type { Problem } from "../domain/errors.ts";
import { isJsonNumber, isJsonObject, memberOf, type Json, type JsonObject } from "../domain/json.ts";
import { parseJson, parseJsonObject } from "../domain/parse-json.ts";

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
  const value = parsed.ok ? parsed.value.value : null;
  const isPage = HTML.test(text);
  return {
    text: clip(messageIn(value) ?? (isPage ? pageTitle(text) : text)),
    code: codeIn(value),
    problems: problemsIn(value),
    isPage,
    isJson: parsed.ok,
  };
}

const clip = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}… (${text.length} characters)` : text;

/** The service's own name first, then those of RFC 9457 3.1 and RFC 6749 5.2. */
const TEXTS = ["message", "detail", "error_description", "title", "error"];

/** The message of a JSON error; undefined if none of these members holds one. */
export function messageIn(value: Json): string | undefined {
  if (!isJsonObject(value)) return undefined;
  return TEXTS.map((name) => textAt(value, name)).find((text) => text !== "");
}

/** Empty for a member that is missing or no text. */
function textAt(object: JsonObject, name: string): string {
  const value = memberOf(object, name);
  return typeof value === "string" ? value.trim() : "";
}

function codeIn(value: Json): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const code = memberOf(value, "code");
  const text = isJsonNumber(code) ? code.toString() : textAt(value, "code") || textAt(value, "error");
  // An error code (RFC 6749 5.2) is one word; a sentence is not a code.
  return /^[\w.:-]+$/.test(text) ? text : undefined;
}

/** Whether an error has the form that the service documents: a number as `code`, and `message`. Gateways use other forms. */
export function isOwnError(body: Uint8Array): boolean {
  const error = parseJsonObject(new TextDecoder().decode(body)) ?? {};
  return isJsonNumber(memberOf(error, "code")) && typeof memberOf(error, "message") === "string";
}

/** The extension of RFC 9457 that its section 3 shows: `errors`, each with a pointer. */
function problemsIn(value: Json): Problem[] {
  const errors = isJsonObject(value) ? memberOf(value, "errors") : undefined;
  if (!Array.isArray(errors)) return [];
  return errors.filter(isJsonObject).flatMap((error) => {
    const message = textAt(error, "detail");
    const at = textAt(error, "pointer").replace(/^#?\//, "").replaceAll("/", ".");
    return message === "" ? [] : [{ at, message: clip(message) }];
  });
}

const HTML = /^\s*(?:<!doctype html|<html|<head|<body|<h1)/i;

/** The title of a page describes the error; the rest is layout. */
function pageTitle(page: string): string {
  const [, title = ""] = /<title[^<>]*>([^<]*)/i.exec(page) ?? [];
  const words = title.replace(/\s+/g, " ").trim();
  return words === "" ? "an HTML page" : `an HTML page with the title "${words}"`;
}

/**
 * Whether a JSON object of a 2xx reply reports an error. The caller has found no link in it, since a link may also have
 * members of these names.
 */
export function reportsError(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  if ((memberOf(value, "error") ?? false) !== false) return true;
  const code = codeIn(value) ?? "0";
  return !/^(?:0+|20[0-2]|ok|success)$/i.test(code) && memberOf(value, "message") !== undefined;
}
