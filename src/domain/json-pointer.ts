/** JSON Pointers (RFC 6901): where a value stands in a JSON document. */
import { isJsonObject, memberOf, type Json } from "./json.ts";
import { accepted, refused, type Parsed } from "./parse-result.ts";

/** The names and indices from the document to the value, unescaped. */
export type PointerSteps = readonly string[];

/** The empty pointer is refused: without a pointer, the whole document is read anyway. */
export function parseJsonPointer(text: string): Parsed<PointerSteps> {
  if (!text.startsWith("/")) return refused("must be a JSON Pointer, which starts with /, such as /data");
  if (/~(?![01])/.test(text)) return refused("must escape ~ as ~0 and / as ~1, as JSON Pointers do");
  return accepted(text.slice(1).split("/").map(unescaped));
}

/** `~1` first: the other order would turn `~01` into `/` (RFC 6901 4). */
const unescaped = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");

export const formatJsonPointer = (steps: PointerSteps): string =>
  steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The value that a setting such as `recordAt` points to; undefined if it leads nowhere. */
export function valueAt(document: Json, pointer: string): Json | undefined {
  const steps = parseJsonPointer(pointer);
  return steps.ok ? valueAtPointer(document, steps.value) : undefined;
}

/** Undefined if the pointer leads nowhere. */
export function valueAtPointer(document: Json, steps: PointerSteps): Json | undefined {
  let value: Json | undefined = document;
  for (const step of steps) {
    if (Array.isArray(value)) value = /^(?:0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined;
    else value = isJsonObject(value) ? memberOf(value, step) : undefined;
  }
  return value;
}
