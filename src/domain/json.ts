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

const NOT_JSON = "is not JSON";

/** Parses as `readJson` does; the message of a refusal gives line and column. */
export function parseJson(text: string): Parsed<JsonText> {
  const read = readJson(text);
  return read.ok || read.message !== NOT_JSON
    ? read
    : refused(`${NOT_JSON}: ${whatIsWrong(withoutMark(text))}`);
}

/**
 * Parses a JSON text and ignores one leading byte order mark (RFC 8259 8.1). The platform's parser loses the spelling of
 * numbers and repeated members, so a text that it would write differently is scanned for both. lossless-json, which keeps
 * the spelling, takes four times as long for a record (verify and listen bench).
 */
export function readJson(text: string): Parsed<JsonText> {
  const json = withoutMark(text);
  let value: Json;
  try {
    value = JSON.parse(json);
  } catch {
    return refused(NOT_JSON);
  }
  if (nestsDeeper(value, MAX_DEPTH)) return refused(`is nested deeper than ${MAX_DEPTH} levels`);
  const { duplicates, numbers } = JSON.stringify(value) === json ? NOTHING_LOST : scan(json);
  return accepted({ value: spellNumbers(value, numbers), duplicates });
}

/** Writes a value and keeps the spelling of its numbers; `space` indents as in `JSON.stringify`. */
export function stringifyJson(value: unknown, space?: number): string {
  return stringify(value, null, space) ?? "null";
}

const BYTE_ORDER_MARK = "\uFEFF";

const withoutMark = (text: string): string => (text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);

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

function nestsDeeper(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) if (nestsDeeper(member, levels - 1)) return true;
  return false;
}

/** The spelling of a number, or those of the numbers in an object or array by name or index. */
type Spelling = string | Map<string | number, Spelling>;

/** What a parse lost. */
interface Lost {
  /** The path of each repeated member. */
  readonly duplicates: readonly string[];
  /** Undefined where JavaScript spells every number as the text does. */
  readonly numbers: Spelling | undefined;
}

const NOTHING_LOST: Lost = { duplicates: [], numbers: undefined };

/** Puts a `JsonNumber` in the place of each number that `JSON.parse` left. */
function spellNumbers(value: Json, spelling: Spelling | undefined): Json {
  if (typeof value === "number")
    return new JsonNumber(typeof spelling === "string" ? spelling : String(value));
  if (typeof value !== "object" || value === null) return value;
  const inner = typeof spelling === "string" ? undefined : spelling;
  if (Array.isArray(value)) return value.map((item, at) => spellNumbers(item, inner?.get(at)));
  if (!isJsonObject(value)) return value;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (typeof member === "number" || typeof member === "object")
      value[name] = spellNumbers(member, inner?.get(name));
  }
  return value;
}

/** A string, with the colon that makes it a name, a number, or one structural character. */
const TOKEN = /"[^"\\]*(?:\\[^][^"\\]*)*"(\s*:)?|-?\d[-+.\deE]*|[{}[\],]/g;

/** An object or array that is still open, and the place of its current value in it. */
interface Container {
  readonly path: string;
  /** Undefined for an array. */
  readonly names: Set<string> | undefined;
  readonly numbers: Map<string | number, Spelling>;
  step: string | number;
}

/** Only for text that parsed. */
function scan(text: string): Lost {
  const root: Container = { path: "", names: undefined, numbers: new Map(), step: 0 };
  const open = [root];
  const duplicates: string[] = [];
  for (const [token, colon] of text.matchAll(TOKEN)) {
    const container = open.at(-1) ?? root;
    const { path, names, numbers, step } = container;
    if (token === "{" || token === "[") {
      const inner = new Map<string | number, Spelling>();
      numbers.set(step, inner);
      const innerPath = container === root ? "" : joinPath(path, step);
      open.push({ path: innerPath, names: token === "{" ? new Set() : undefined, numbers: inner, step: 0 });
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ",") {
      if (typeof step === "number") container.step = step + 1;
    } else if (colon !== undefined && names !== undefined) {
      const name = unquoted(token.slice(0, -colon.length));
      if (names.has(name)) duplicates.push(joinPath(path, name));
      names.add(name);
      container.step = name;
    } else if (!token.startsWith('"')) numbers.set(step, token);
  }
  return { duplicates, numbers: root.numbers.get(0) };
}

const unquoted = (token: string): string =>
  token.includes("\\") ? String(JSON.parse(token)) : token.slice(1, -1);
