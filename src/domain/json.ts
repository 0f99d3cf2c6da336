/** JSON texts and values (RFC 8259). Numbers keep their spelling, so no amount passes through binary floating point. */

import { LosslessNumber, isLosslessNumber, parse, stringify } from "lossless-json";
import { messageOf } from "./errors.ts";
import { accepted, type Parsed, refused } from "./parse-result.ts";

/** A JSON number with its spelling: `10.00` stays `10.00`. */
export const JsonNumber = LosslessNumber;
export type JsonNumber = LosslessNumber;

export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json;
}

/** A parsed JSON text. */
export interface JsonText {
  readonly value: Json;
  /** The path of each repeated member: `amount`, `linkOptions.mode`. The last value is used. */
  readonly duplicates: readonly string[];
}

/** RFC 8259 section 9 allows a limit; it keeps every recursion over a value safe. */
export const MAX_DEPTH = 128;

export const isJsonNumber = isLosslessNumber;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** An own member of the object, never an inherited one (`constructor`). */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A path of members and indices as problems show it: `linkOptions.minAmount`, `rows[3].id`. */
export function joinPath(path: string, step: string | number): string {
  if (typeof step === "number") return `${path}[${step}]`;
  return path === "" ? step : `${path}.${step}`;
}

/**
 * Parses a JSON text and ignores one leading byte order mark (RFC 8259 8.1). The message of a refusal gives line and column.
 * The platform's parser loses the spelling of numbers. lossless-json's reports a repeated member only if the values
 * differ, has no limit on nesting, and takes two to three times as long for a record.
 */
export function parseJson(text: string): Parsed<JsonText> {
  const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  const reader = new Reader(json);
  const value = reader.whole();
  if (value !== undefined) return accepted({ value, duplicates: reader.duplicates });
  if (reader.isTooDeep) return refused(`is nested deeper than ${MAX_DEPTH} levels`);
  return refused(`is not JSON: ${whatIsWrong(json)}`);
}

/** Writes a value and keeps the spelling of its numbers; `space` indents as in `JSON.stringify`. */
export function stringifyJson(value: unknown, space?: number): string {
  return stringify(value, null, space) ?? "null";
}

const BYTE_ORDER_MARK = "\uFEFF";

/** In the words of lossless-json, which always name a position. */
function whatIsWrong(text: string): string {
  try {
    parse(text, null, { onDuplicateKey: ({ newValue }) => newValue });
    return "the text breaks the grammar";
  } catch (error) {
    return messageOf(error).replace(/ at position (\d+)/, (_, position: string) => {
      const before = text.slice(0, Number(position)).split("\n");
      return ` at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
    });
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = [
  ["true", true],
  ["false", false],
  ["null", null],
] as const;
const CONTROL = /[^\x20-\uffff]/;

/** Reads a text from its start to its end. Each method returns undefined where the text is not JSON. */
class Reader {
  /** The path of each repeated member. */
  readonly duplicates: string[] = [];
  isTooDeep = false;
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  whole(): Json | undefined {
    const value = this.value("", 0);
    return this.next() === undefined ? value : undefined;
  }

  private value(path: string, depth: number): Json | undefined {
    const first = this.next();
    if (first === '"') return this.string();
    if (first !== "{" && first !== "[") return this.wordOrNumber();
    this.isTooDeep = depth === MAX_DEPTH;
    if (this.isTooDeep) return undefined;
    return first === "{" ? this.object(path, depth + 1) : this.array(path, depth + 1);
  }

  private object(path: string, depth: number): JsonObject | undefined {
    const object: JsonObject = {};
    this.at++;
    if (this.took("}")) return object;
    do {
      const name = this.next() === '"' ? this.string() : undefined;
      if (name === undefined || !this.took(":")) return undefined;
      const value = this.value(joinPath(path, name), depth);
      if (value === undefined) return undefined;
      if (Object.hasOwn(object, name)) this.duplicates.push(joinPath(path, name));
      setMember(object, name, value);
    } while (this.took(","));
    return this.took("}") ? object : undefined;
  }

  private array(path: string, depth: number): Json[] | undefined {
    const array: Json[] = [];
    this.at++;
    if (this.took("]")) return array;
    do {
      const value = this.value(joinPath(path, array.length), depth);
      if (value === undefined) return undefined;
      array.push(value);
    } while (this.took(","));
    return this.took("]") ? array : undefined;
  }

  private string(): string | undefined {
    const start = this.at;
    const end = endOfString(this.text, start);
    if (end === undefined) return undefined;
    this.at = end + 1;
    const inside = this.text.slice(start + 1, end);
    if (inside.includes("\\")) return unescaped(this.text.slice(start, this.at));
    return CONTROL.test(inside) ? undefined : inside;
  }

  private wordOrNumber(): boolean | null | JsonNumber | undefined {
    const word = WORDS.find(([spelling]) => this.text.startsWith(spelling, this.at));
    NUMBER.lastIndex = this.at;
    const [spelling] = word ?? NUMBER.exec(this.text) ?? [];
    if (spelling === undefined) return undefined;
    this.at += spelling.length;
    return word === undefined ? new JsonNumber(spelling) : word[1];
  }

  /** Goes past the character if it is the next one. */
  private took(character: string): boolean {
    const isNext = this.next() === character;
    if (isNext) this.at++;
    return isNext;
  }

  /** The next character after white space (RFC 8259 2); undefined at the end. */
  private next(): string | undefined {
    let character = this.text[this.at];
    while (character === " " || character === "\n" || character === "\r" || character === "\t")
      character = this.text[++this.at];
    return character;
  }
}

/** The position of the quote that ends the string which starts at `start`. */
function endOfString(text: string, start: number): number | undefined {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let last = end - 1;
    while (text[last] === "\\") last--;
    if ((end - last) % 2 === 1) return end;
    end = text.indexOf('"', end + 1);
  }
  return undefined;
}

function unescaped(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

function setMember(object: JsonObject, name: string, value: Json): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
