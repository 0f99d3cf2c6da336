/** Single fields of a request as people type them (flags, prompt answers, CSV cells), read into what is sent. */

import { currencyCode } from "./currency.ts";
import type { Json } from "./json.ts";
import { parseAmount } from "./money.ts";
import { accepted, type Parsed } from "./parse-result.ts";
import { parseWhen } from "./when.ts";

/**
 * The value to send for a field: the amount as a number spelled as it was typed, bounds as text, the currency in upper
 * case, an expiry (ISO 8601, or a duration from `now`) as ISO 8601 UTC, all else as it stands. What can be read may
 * still break the field's rule, which is `checkRequest`'s to say.
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
      const code = currencyCode.safeParse(text.trim());
      // What is no code is left to the field's own rule.
      return accepted(code.data ?? text);
    }
    case "expirationDate": {
      const date = parseWhen(text, now);
      return date.ok ? accepted(date.value.toISOString()) : date;
    }
    default:
      return accepted(text);
  }
}
