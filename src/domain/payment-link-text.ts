/** Fields of a request as people type them (flag, answer, CSV cell): the value to send, and the echo of an invalid one. */

import { parseAmount, parseCurrency } from "./money.ts";
import { isJsonNumber, type Json } from "./json.ts";
import { accepted, type Parsed } from "./parse-result.ts";
import { formatInstant, parseWhen } from "./time.ts";

/**
 * The value to send for a field: the amount as a number in its spelling, bounds as text, the currency in upper case, an
 * expiry (ISO 8601, or a duration from `now`) as ISO 8601 UTC, any other text unchanged. `checkRequest` applies the
 * rules of the field afterwards.
 */
export function fieldFromText(field: string, text: string, now: Date): Parsed<Json> {
  switch (field) {
    case "amount":
      return parseAmount(text);
    case "linkOptions.minAmount":
    case "linkOptions.maxAmount": {
      const bound = parseAmount(text);
      return bound.ok ? accepted(bound.value.value) : bound;
    }
    case "currency": {
      const code = parseCurrency(text.trim());
      // The rule of the field reports a text that is not a code.
      return code.ok ? code : accepted(text);
    }
    case "expirationDate": {
      const date = parseWhen(text, now);
      return date.ok ? accepted(formatInstant(date.value)) : date;
    }
    default:
      return accepted(text);
  }
}

/** Echoes an invalid value after the message about it; a whole object or list would be too long. */
export function got(value: Json | undefined): string {
  if (typeof value === "string") return ` (got "${value}")`;
  return isJsonNumber(value) ? ` (got ${value.value})` : "";
}
