/**
 * JSON values (RFC 8259), and where a value is in one. Numbers keep their spelling, so no amount passes through binary
 * floating point.
 */
import { stringify } from "lossless-json";

/** A JSON number with its spelling: `10.00` stays `10.00`. */
export class JsonNumber {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }

  toString(): string {
    return this.value;
  }
}

export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json;
}

export const isJsonNumber = (value: unknown): value is JsonNumber => value instanceof JsonNumber;

/** Undefined for text that is not JSON. Numbers are binary ones. The parser's message would quote the text. */
export function jsonOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Of what `jsonOf` gives. */
export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function isJsonObject(value: unknown): value is JsonObject {
  return isPlainObject(value) && !isJsonNumber(value);
}

/** An own member of the object, never an inherited one (`constructor`). */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets a member of any name: an assignment to `__proto__` would change the prototype. */
export function setMember(object: JsonObject, name: string, value: Json): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** A path of members and indices as problems show it: `linkOptions.minAmount`, `rows[3].id`. */
export function joinPath(path: string, step: string | number): string {
  if (typeof step === "number") return `${path}[${step}]`;
  return path === "" ? step : `${path}.${step}`;
}

/** Writes a value and keeps the spelling of its numbers; `space` indents as in `JSON.stringify`. */
export function stringifyJson(value: unknown, space?: number): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (isJsonNumber(value)) return value.value;
  return stringify(value, null, space, [{ test: isJsonNumber, stringify: String }]) ?? "null";
}

/** Levels that are indented: beyond them, a short text would become one that is mostly white space. */
const MOST_INDENTED = 16;

/** Indented by `space` for people to read; in one line if it is nested very deeply. */
export const indentedJson = (value: Json, space = 2): string =>
  stringifyJson(value, isDeeper(value, MOST_INDENTED) ? undefined : space);

function isDeeper(value: Json, levels: number): boolean {
  if (!Array.isArray(value) && !isJsonObject(value)) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** Undefined if a member of the path is missing or its parent is not an object. */
export function memberAt(json: Json | undefined, path: string): Json | undefined {
  let value = json;
  for (const name of path.split(".")) value = isJsonObject(value) ? memberOf(value, name) : undefined;
  return value;
}

/** Creates missing objects along the path, and replaces values there that are not objects. */
export function setAt(object: JsonObject, path: string, value: Json): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let target = object;
  for (const name of names) {
    const inner = memberOf(target, name);
    target = target[name] = isJsonObject(inner) ? inner : {};
  }
  target[last] = value;
}

export function setDefaultAt(object: JsonObject, path: string, value: Json): void {
  if (memberAt(object, path) === undefined) setAt(object, path, value);
}

/** As JavaScript has it, with its numbers. A number that would become Infinity stays text. */
export function plainJson(json: Json): unknown {
  if (isJsonNumber(json)) return Number.isFinite(Number(json.value)) ? Number(json.value) : json.value;
  if (Array.isArray(json)) return json.map(plainJson);
  return isJsonObject(json) ? plainObject(json) : json;
}

export function plainObject(object: Readonly<Record<string, Json>>): Record<string, unknown> {
  const plain: Record<string, unknown> = { ...object };
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (typeof value === "object") plain[name] = plainJson(value);
  }
  return plain;
}

/**
 * The document itself if it is what is looked for, or else each of its members that is: only one of them is certainly meant.
 */
export function findWrapped(document: Json, isMeant: (object: JsonObject) => boolean): readonly JsonObject[] {
  if (!isJsonObject(document)) return [];
  return isMeant(document) ? [document] : Object.values(document).filter(isJsonObject).filter(isMeant);
}
