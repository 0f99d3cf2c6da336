/** JSON values as JavaScript has them: with its numbers, which applications expect. */
import { isJsonNumber, isJsonObject, type Json } from "../domain/json.ts";

export function plainJson(json: Json): unknown {
  if (isJsonNumber(json)) return plainNumber(json.value);
  if (Array.isArray(json)) return json.map(plainJson);
  return isJsonObject(json) ? plainObject(json) : json;
}

/** A number that would become Infinity stays text; in a field of the specification it is a violation. */
function plainNumber(text: string): number | string {
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

export function plainObject(object: Readonly<Record<string, Json>>): Record<string, unknown> {
  const plain: Record<string, unknown> = { ...object };
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (typeof value === "object") plain[name] = plainJson(value);
  }
  return plain;
}
