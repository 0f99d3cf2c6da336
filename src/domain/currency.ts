/** The currencies of ISO 4217; apart from money, since their list and its check are no part of `paylink/webhooks`. */
import * as z from "zod/mini";
import { data } from "currency-codes";
import { accepted, type Parsed, refused } from "./parse-result.ts";
import { must } from "./schema.ts";

/** Metals, funds, test codes: ISO 4217 gives them no minor unit ("N.A."), which the data spells as 0. */
const WITHOUT_MINOR_UNIT = new Set("XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX".split(" "));

const CURRENCIES = new Map(data.map((currency) => [currency.code, currency]));

/**
 * The number of decimals: EUR 2, JPY 0, KWD 3. Accepts either case; undefined if ISO 4217 has no such code or gives it
 * no decimals. From the standard's own list, because `Intl` knows how amounts are displayed, not how they are charged.
 */
export function exponentOf(code: string): number | undefined {
  const upper = code.toUpperCase();
  return WITHOUT_MINOR_UNIT.has(upper) ? undefined : CURRENCIES.get(upper)?.digits;
}

/** Whether ISO 4217 has the code, in either case. An unknown code gets a warning, not an error. */
export function isKnownCurrency(code: string): boolean {
  return CURRENCIES.has(code.toUpperCase());
}

const LETTERS = "must be a three-letter currency code, such as EUR";

/** A currency code in a request: three letters in either case, sent unchanged. */
/* The library has no use for it, and leaves it and zod out. */
export const currencyLetters = /* @__PURE__ */ z
  .string(must(LETTERS))
  .check(z.regex(/^[A-Za-z]{3}$/, LETTERS));

/** A currency code from a person: the same, in upper case. */
export function parseCurrency(text: string): Parsed<string> {
  const letters = currencyLetters.safeParse(text);
  return letters.success ? accepted(letters.data.toUpperCase()) : refused(LETTERS);
}
