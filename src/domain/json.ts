/** JSON values (RFC 8259). Numbers keep their spelling, so no amount passes through binary floating point. */
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

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isJsonNumber(value);
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

/** Writes a value and keeps the spelling of its numbers; `space` indents as in `JSON.stringify`. */
export function stringifyJson(value: unknown, space?: number): string {
  return stringify(value, null, space, [{ test: isJsonNumber, stringify: String }]) ?? "null";
}
