/** JSON texts and values (RFC 8259) in which a number keeps its spelling, so that no amount passes through binary. */

import { LosslessNumber, isLosslessNumber, parse, stringify } from "lossless-json";
import { accepted, type Parsed, refused } from "./parse-result.ts";

/** A JSON number as it was spelled: `10.00` stays `10.00`. */
export const JsonNumber = LosslessNumber;
export type JsonNumber = LosslessNumber;

export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json;
}

/** A JSON text, read. */
export interface JsonText {
  readonly value: Json;
  /** The path of each member that came a second time: `amount`, `linkOptions.mode`. The last value stands. */
  readonly duplicates: readonly string[];
}

/** RFC 8259 section 9 lets a reader limit nesting; this one keeps every recursion over a value safe. */
export const MAX_DEPTH = 128;

export const isJsonNumber = isLosslessNumber;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** The member itself, never what an object inherits (`constructor`). */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A path of members and indices as problems name it: `linkOptions.minAmount`, `rows[3].id`. */
export function joinPath(path: string, step: string | number): string {
  if (typeof step === "number") return `${path}[${step}]`;
  return path === "" ? step : `${path}.${step}`;
}

/**
 * Reads a JSON text; one leading byte order mark is ignored (RFC 8259 8.1). The message of a refusal names line
 * and column. The tokens are read here, because the platform's parser loses how a number was spelled, and
 * lossless-json's tells of a duplicate member only where the values differ, and recurses without bound.
 */
export function parseJson(text: string): Parsed<JsonText> {
  const json = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  const reader = new Reader(json);
  const value = reader.whole();
  if (value !== undefined) return accepted({ value, duplicates: reader.duplicates });
  try {
    JSON.parse(json);
  } catch (error) {
    return refused(`is not JSON: ${whatIsWrong(json, error)}`);
  }
  return refused(`is nested deeper than ${MAX_DEPTH} levels`);
}

/** Writes a value with its numbers as they are spelled; `space` indents as in `JSON.stringify`. */
export function stringifyJson(value: unknown, space?: number): string {
  return stringify(value, null, space) ?? "null";
}

/** lossless-json words a syntax error the same on every version of Node, and always with its position. */
function whatIsWrong(text: string, error: unknown): string {
  let message = error instanceof Error ? error.message : String(error);
  try {
    parse(text, null, { onDuplicateKey: ({ newValue }) => newValue });
  } catch (precise) {
    if (precise instanceof SyntaxError) message = precise.message;
  }
  return message.replace(/ (?:in JSON )?at position (\d+)/, (_, position: string) => {
    const before = text.slice(0, Number(position)).split("\n");
    return ` at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
  });
}

const BYTE_ORDER_MARK = 0xfeff;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Builds the value of a text; `undefined` stands for what is not JSON, or nested too deep. */
class Reader {
  readonly duplicates: string[] = [];
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  whole(): Json | undefined {
    const value = this.value("", 0);
    this.next();
    return this.at === this.text.length ? value : undefined;
  }

  private value(path: string, depth: number): Json | undefined {
    switch (this.next()) {
      case QUOTE:
        return this.string();
      case OPENING_BRACE:
        return depth < MAX_DEPTH ? this.object(path, depth + 1) : undefined;
      case OPENING_BRACKET:
        return depth < MAX_DEPTH ? this.array(path, depth + 1) : undefined;
      default:
        return this.word();
    }
  }

  private object(path: string, depth: number): JsonObject | undefined {
    const object: JsonObject = {};
    this.at++;
    if (this.took(CLOSING_BRACE)) return object;
    do {
      const name = this.next() === QUOTE ? this.string() : undefined;
      if (name === undefined || !this.took(COLON)) return undefined;
      const first = this.next();
      const deep = first === OPENING_BRACE || first === OPENING_BRACKET;
      const value = this.value(deep ? joinPath(path, name) : "", depth);
      if (value === undefined) return undefined;
      if (Object.hasOwn(object, name)) this.duplicates.push(joinPath(path, name));
      setMember(object, name, value);
    } while (this.took(COMMA));
    return this.took(CLOSING_BRACE) ? object : undefined;
  }

  private array(path: string, depth: number): Json[] | undefined {
    const array: Json[] = [];
    this.at++;
    if (this.took(CLOSING_BRACKET)) return array;
    do {
      const value = this.value(joinPath(path, array.length), depth);
      if (value === undefined) return undefined;
      array.push(value);
    } while (this.took(COMMA));
    return this.took(CLOSING_BRACKET) ? array : undefined;
  }

  /** Control characters must be escaped, and only what is escaped needs the platform to read it. */
  private string(): string | undefined {
    const start = this.at;
    let escaped = false;
    let end = start + 1;
    let code = this.text.charCodeAt(end);
    for (; code !== QUOTE && code >= 0x20; code = this.text.charCodeAt(end)) {
      if (code === BACKSLASH) escaped = true;
      end += code === BACKSLASH ? 2 : 1;
    }
    if (code !== QUOTE) return undefined;
    this.at = end + 1;
    return escaped ? unescaped(this.text.slice(start, this.at)) : this.text.slice(start + 1, end);
  }

  /** `true`, `false`, `null` or a number: what runs up to white space, a comma, a closing bracket or the end. */
  private word(): Json | undefined {
    const start = this.at;
    while (WORD[this.text.charCodeAt(this.at)] === 1) this.at++;
    const word = this.text.slice(start, this.at);
    if (word === "true") return true;
    if (word === "false") return false;
    if (word === "null") return null;
    return NUMBER.test(word) ? new JsonNumber(word) : undefined;
  }

  /** Goes past the character where it comes next. */
  private took(code: number): boolean {
    const here = this.next() === code;
    if (here) this.at++;
    return here;
  }

  /** Skips white space (RFC 8259 2) and gives the character code that follows; NaN at the end. */
  private next(): number {
    let code = this.text.charCodeAt(this.at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09)
      code = this.text.charCodeAt(++this.at);
    return code;
  }
}

function unescaped(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

/** 1 for each character of a JSON number, `true`, `false` and `null`. */
const WORD = Uint8Array.from({ length: 128 }, (_, code) =>
  /[-+.\w]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Plain assignment to `__proto__` would replace the prototype instead of adding the member. */
function setMember(object: JsonObject, name: string, value: Json): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
