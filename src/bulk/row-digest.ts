/** The digest of a row: equal for two rows that ask the same customer for the same payment, however they are written. */
import { hash } from "node:crypto";
import { isJsonNumber, isJsonObject, joinPath, type Json, type JsonObject } from "../domain/json.ts";
import { amountKey } from "../domain/money.ts";

/** Hexadecimal digits: as many as a JavaScript number holds exactly. */
const DIGITS = 13;

/** The digest of a row that cannot be read, which is never sent; no other row has it. */
export const NO_DIGEST = 0;

/**
 * How long a link is valid and where it leads: with another expiry or callback it is still the same payment. A default
 * expiry counts from the time of the run, and would make each run a new list.
 */
const IGNORED: ReadonlySet<string> = new Set(["expirationDate", "paymentSettings"]);

/** Bounds are sent as text. */
const BOUNDS: ReadonlySet<string> = new Set(["linkOptions.minAmount", "linkOptions.maxAmount"]);

export function digestOf(draft: JsonObject): number {
  const facts: string[] = [];
  addFacts(facts, draft, "");
  return Number.parseInt(hash("sha256", facts.toSorted().join("\n")).slice(0, DIGITS), 16);
}

function addFacts(facts: string[], object: JsonObject, path: string): void {
  for (const [name, value] of Object.entries(object)) {
    const at = joinPath(path, name);
    if (IGNORED.has(at)) continue;
    if (isJsonObject(value)) addFacts(facts, value, at);
    else facts.push(JSON.stringify([at, canonical(at, value)]));
  }
}

function canonical(at: string, value: Json): unknown {
  if (isJsonNumber(value)) return amountKey(value);
  if (typeof value === "string" && BOUNDS.has(at)) return amountKey(value);
  return value;
}
