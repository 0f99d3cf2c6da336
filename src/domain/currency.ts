/** Currencies of ISO 4217: which codes there are and how many decimals each has. */

import currencies from "currency-codes/data";
import * as z from "zod/mini";
import { must } from "./schema.ts";

/** Metals, funds, test codes: ISO 4217 gives them no minor unit ("N.A."), which the data spells as 0. */
const WITHOUT_MINOR_UNIT = new Set("XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX".split(" "));

/** Looked through as it comes: few runs ask for more than one currency. */
const find = (code: string) => currencies.find((currency) => currency.code === code);

/**
 * How many decimals the currency has: EUR 2, JPY 0, KWD 3. Takes the code in either case; undefined where ISO 4217
 * lacks the code or gives it none. From the standard's own list: `Intl` answers what is displayed, not what is charged.
 */
export function exponentOf(code: string): number | undefined {
  const upper = code.toUpperCase();
  return WITHOUT_MINOR_UNIT.has(upper) ? undefined : find(upper)?.digits;
}

/** Whether ISO 4217 has the code, in either case. One that it lacks is worth a warning, never an error. */
export function isKnownCurrency(code: string): boolean {
  return find(code.toUpperCase()) !== undefined;
}

const LETTERS = "must be a three-letter currency code, such as EUR";

/** A currency code as it may stand in a request: three letters, in either case, sent as it is spelled. */
export const currencyLetters = z.string(must(LETTERS)).check(z.regex(/^[A-Za-z]{3}$/, LETTERS));

/** A currency code as a person gives it: the same, upper-cased. */
export const currencyCode = currencyLetters.check(z.toUpperCase());
