/** JSON values as JavaScript has them: with its numbers, which applications expect. */
import { isJsonNumber, isJsonObject, type Json } from "../domain/json.ts";

export function plainJson(json: Json): unknown {
  if (isJsonNumber(json)) return Number(json.toString());
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
