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
 * Parses a JSON text and ignores one leading byte order mark (RFC 8259 8.1). The message of a refusal gives line and
 * column. lossless-json reports a repeated member only if the values differ, and its recursion has no limit, so `scan`
 * checks both first.
 */
export function parseJson(text: string): Parsed<JsonText> {
  const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  const { depth, duplicates } = scan(json);
  if (depth > MAX_DEPTH) return refused(`is nested deeper than ${MAX_DEPTH} levels`);
  try {
    const value = parse(json, null, { onDuplicateKey: ({ newValue }) => newValue }) as Json;
    return accepted({ value, duplicates });
  } catch (error) {
    return refused(`is not JSON: ${withLineAndColumn(messageOf(error), json)}`);
  }
}

/** Writes a value and keeps the spelling of its numbers; `space` indents as in `JSON.stringify`. */
export function stringifyJson(value: unknown, space?: number): string {
  return stringify(value, null, space) ?? "null";
}

const BYTE_ORDER_MARK = "\uFEFF";

const withLineAndColumn = (message: string, text: string): string =>
  message.replace(/ at position (\d+)/, (_, position: string) => {
    const before = text.slice(0, Number(position)).split("\n");
    return ` at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
  });

/** A string, with the colon that makes it a name, or one structural character. An open string runs to the end. */
const TOKEN = /"[^"\\]*(?:\\[^][^"\\]*)*"?(\s*:)?|[{}[\],]/g;

/** An object or array that is still open, and the place of its current value in it. */
interface Container {
  readonly path: string;
  /** Undefined for an array. */
  readonly names: Set<string> | undefined;
  step: string | number;
}

/** The depth and the repeated members of a text. What it returns for a text that is not JSON has no meaning. */
function scan(text: string): { readonly depth: number; readonly duplicates: readonly string[] } {
  const open: Container[] = [];
  const duplicates: string[] = [];
  let depth = 0;
  for (const [token, colon] of text.matchAll(TOKEN)) {
    const container = open.at(-1);
    if (token === "{" || token === "[") {
      const path = container === undefined ? "" : joinPath(container.path, container.step);
      open.push({ path, names: token === "{" ? new Set() : undefined, step: 0 });
      depth = Math.max(depth, open.length);
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ",") {
      if (typeof container?.step === "number") container.step++;
    } else if (colon !== undefined && container?.names !== undefined) {
      const name = unquoted(token.slice(0, -colon.length));
      if (container.names.has(name)) duplicates.push(joinPath(container.path, name));
      container.names.add(name);
      container.step = name;
    }
  }
  return { depth, duplicates };
}

/** The string that a token stands for; a token that is not JSON stays as it is, since the parser refuses the text. */
function unquoted(token: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}
