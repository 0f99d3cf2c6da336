/** Finds order numbers in the texts of books: a bank has `SVWZ+RE-2026-0001 Kunde 1` where others have the number alone. */
import { comparableText } from "../values/comparable-text.ts";
import type { Sum } from "../domain/money.ts";
import { isSame } from "../orders/amounts.ts";
import type { BookedLine } from "./sides.ts";

/** Beside these, a number is a part of another one. */
const NUMBER_PART = /[\p{L}\d\-/_]/u;
const DIGITS = /\d/g;
/** Digits of a number without letters that no text has by chance. */
const ENOUGH_DIGITS = 5;

/**
 * The only known number that a text has whole; undefined if it has none, or more than one. A short number without a letter may be
 * anything: it counts if the amounts agree too.
 */
function numberInText(
  text: string,
  knows: (number: string) => boolean,
  agrees: (number: string) => boolean,
): string | undefined {
  const letters = [...comparableText(text)];
  const starts: number[] = [];
  const ends: number[] = [];
  for (const [at, letter] of letters.entries()) {
    if (letter === " ") continue;
    if (!NUMBER_PART.test(letters[at - 1] ?? " ")) starts.push(at);
    if (!NUMBER_PART.test(letters[at + 1] ?? " ")) ends.push(at + 1);
  }
  const found = new Set<string>();
  for (const start of starts)
    for (const end of ends) {
      const part = end > start ? letters.slice(start, end).join("") : "";
      if (part !== "" && knows(part)) found.add(part);
    }
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) return undefined;
  const isLong = /\p{L}/u.test(only) || (only.match(DIGITS)?.length ?? 0) >= ENOUGH_DIGITS;
  return isLong || agrees(only) ? only : undefined;
}

/** The number that each text of the books names, by the text. `known` gives the money of the links and payments of a number. */
export function numbersInTexts(
  booked: readonly BookedLine[],
  known: (number: string) => readonly Sum[] | undefined,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { orderNumber, amount, currency } of booked) {
    if (found.has(orderNumber) || known(orderNumber) !== undefined) continue;
    const number = numberInText(
      orderNumber,
      (part) => known(part) !== undefined,
      (part) =>
        known(part)?.some((sum) => isSame([sum], [{ amount, currency: currency ?? sum.currency }])) === true,
    );
    if (number !== undefined) found.set(orderNumber, number);
  }
  return found;
}
