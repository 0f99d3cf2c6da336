/** What spreadsheets and data tools make of an order number, and which spellings of it may have been sent before. */
import type { Problem } from "../domain/errors.ts";

/** `1.00E+07`: the digits that are left out are lost. */
const SHORTENED = /^[+-]?\d(?:[.,]\d+)?E[+-]\d{2,}$/i;

/** `Jan-26`, `2-Feb`, `01/02/2026`, `2026-01-02 00:00:00`. */
const DATE =
  /^(?:[A-Z][a-z]{2}-\d\d|\d{1,2}-[A-Z][a-z]{2}|(?:[0-2]?\d|3[01])([./-])(?:[0-2]?\d|3[01])\1(?:19|20)?\d\d|\d{4}-[01]\d-[0-3]\d(?: 00:00(?::00)?)?)$/;

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

/** The most digits of an order number whose leading zeros are tried. */
const MOST_PADDED_DIGITS = 12;

/** Other spellings of the same order number, after a program took it for a number, or for text. */
export function otherSpellings(number: string): string[] {
  const plain = number.startsWith("'") ? number.slice(1) : number;
  const [, digits] = /^\+?(\d+)(?:\.0)?$/.exec(plain) ?? [];
  if (digits === undefined) return plain === number || plain === "" ? [] : [plain];
  const shortest = digits.replace(/^0+(?=\d)/, "");
  const padded = Array.from({ length: Math.max(1, MOST_PADDED_DIGITS - shortest.length + 1) }, (_, zeros) =>
    shortest.padStart(shortest.length + zeros, "0"),
  );
  const all = [...padded, digits, plain, `+${digits}`, `+${shortest}`, `${shortest}.0`];
  return [...new Set(all)].filter((one) => one !== number);
}
