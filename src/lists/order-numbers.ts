/** What spreadsheets and data tools make of an order number, and what is the same of all its spellings. */
import type { Problem } from "../domain/errors.ts";

/** `1.00E+07`: the digits that are left out are lost. */
const SHORTENED = /^[+-]?\d(?:[.,]\d+)?E[+-]\d{2,}$/i;

/** `Jan-26`, `2-Feb`, `01/02/2026`, `2026-01-02 00:00:00`, `2026-01-02T00:00:00.000Z`. */
const DATE =
  /^(?:[A-Z][a-z]{2}-\d\d|\d{1,2}-[A-Z][a-z]{2}|(?:[0-2]?\d|3[01])([./-])(?:[0-2]?\d|3[01])\1(?:19|20)?\d\d|\d{4}-[01]\d-[0-3]\d(?:[ T]00:00(?::00(?:\.000)?)?(?:Z|\+00:00)?)?)$/;

/** A whole number as a data tool writes it in a column with empty cells. */
const FRACTION = /^\d+\.0$/;

const AS_TEXT = "format the column as text before the number is entered or imported, and export it again";

/** Why an order number cannot be what somebody meant. */
export const orderNumberProblem = (number: string): string | undefined =>
  SHORTENED.test(number)
    ? `is a number that a spreadsheet has shortened (got "${number}"): ${AS_TEXT}`
    : undefined;

/** What a program may have made of an order number. */
export function orderNumberWarnings(at: string, number: string): Problem[] {
  if (DATE.test(number)) {
    const kind = "looks like a date that a spreadsheet has made of an order number";
    return [{ at, message: `${kind} (got "${number}"): if so, ${AS_TEXT}`, kind }];
  }
  if (!FRACTION.test(number)) return [];
  const kind = "looks like an order number with decimals that a program has added";
  return [{ at, message: `${kind} (got "${number}")`, kind }];
}

/**
 * The same for all spellings of one order number that spreadsheets and programs make of it: a number has neither leading zeros, groups
 * nor decimals, and no apostrophe marks it as text. Case counts, and so does everything else.
 */
export function numberKey(number: string): string {
  const plain = number.replace(/^'/, "");
  const whole = wholeNumberIn(plain);
  return whole === undefined ? plain : withoutZeros(whole);
}

/** Its letters, in one case, and its digits, which alone are the same for numbers that a person may take for one. */
export const wordsAndDigits = (number: string): readonly string[] =>
  number
    .normalize("NFKD")
    .toLowerCase()
    .match(/\p{L}+|\d+/gu) ?? [];

export const withoutZeros = (part: string): string => part.replace(/^0+(?=\d)/, "");

/** The same for numbers that differ in case, spaces, punctuation and leading zeros; empty for one of punctuation alone. */
export const nearKey = (number: string): string => wordsAndDigits(number).map(withoutZeros).join(" ");

/** The digits of a whole number, however a program writes it; undefined for any other text. */
function wholeNumberIn(number: string): string | undefined {
  const [, whole] = /^\+?(\d+|\d{1,3}(?:([,.'\u2019 ])\d{3})(?:\2\d{3})*)(?:[.,]0{1,2})?$/.exec(number) ?? [];
  if (whole !== undefined) return whole.replace(/\D/g, "");
  const [, one, decimals = "", exponent] = /^(\d)(?:[.,](\d+))?E\+?(\d{1,2})$/i.exec(number) ?? [];
  if (one === undefined || decimals.length > Number(exponent)) return undefined;
  return one + decimals.padEnd(Number(exponent), "0");
}
