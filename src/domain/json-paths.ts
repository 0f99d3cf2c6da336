/** Members of JSON objects by their path (`linkOptions.minAmount`): read, set, and set where there is none. */
import { isJsonObject, memberOf, type Json, type JsonObject } from "./json.ts";

/** Undefined where there is none, or something on the way is no object. */
export function valueAt(json: Json | undefined, path: string): Json | undefined {
  let value = json;
  for (const name of path.split(".")) value = isJsonObject(value) ? memberOf(value, name) : undefined;
  return value;
}

/** Makes the objects on the way that are not there; what is there and no object is replaced. */
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
