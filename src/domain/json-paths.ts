/** Reads and sets members of JSON objects by their path (`linkOptions.minAmount`). */
import { isJsonObject, memberOf, type Json, type JsonObject } from "./json.ts";

/** Undefined if a member of the path is missing or its parent is not an object. */
export function valueAt(json: Json | undefined, path: string): Json | undefined {
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
  if (valueAt(object, path) === undefined) setAt(object, path, value);
}
