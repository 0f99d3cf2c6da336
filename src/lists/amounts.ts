/** Amounts as the cells of banks, spreadsheets and programs have them: signs, groups of digits, either decimal mark, binary floats. */
import { comparableText } from "../values/comparable-text.ts";
import { COMMA_ADVICE, decimalsOf, exponentOf, parseAmount } from "../domain/money.ts";
import { accepted, refused, type Parsed } from "../values/parse-result.ts";
import { splitAmount } from "./currencies.ts";

/** Around all digits: `(€10.00)`, `EUR (10.00)`; in `10.00 (EUR)` they are no sign. */
const BRACKETS = /^([^\d()]*)\(([^()]*\d[^()]*)\)([^\d()]*)$/u;

/** Of either form, first, last, or between a currency and the number; not between digits. */
const MINUS = /^[-−]\s*|\s*[-−]$|(?<=[^\d.,\s]\s*)[-−]\s*(?=[\d.,])/u;

/** Databases, banks and spreadsheets write a refund with a minus or in brackets. Two signs are more than can be read without guessing. */
function splitSign(cell: string): { readonly signs: number; readonly unsigned: string } {
  const text = comparableText(cell);
  const unbracketed = text.replace(BRACKETS, "$1$2$3");
  const unsigned = unbracketed.replace(MINUS, "");
  const signs = [unbracketed !== text, unsigned !== unbracketed].filter(Boolean).length;
  return { signs, unsigned: signs === 0 ? unsigned.replace(/^\+\s*/, "") : unsigned };
}

/** Groups of three digits as spreadsheets show them, by the decimal mark. A comma groups only where decimals follow: `1,234` may be 1.234. */
const DIGIT_GROUPS = {
  ".": /^\d{1,3}(?:(?:[ '’]\d{3})+|(?:,\d{3})+(?=\.))(?!\d)/,
  ",": /^\d{1,3}(?:[ '’]\d{3})+(?!\d)/,
} as const;

/** The number without its groups. */
export const ungrouped = (number: string, mark: keyof typeof DIGIT_GROUPS): string =>
  comparableText(number).replace(DIGIT_GROUPS[mark], (groups) => groups.replace(/\D/g, ""));

/** Banks leave out decimals that are 0. A request for so much money is not read from it: the flag may be wrong. */
const GROUPS_ALONE = /^\d{1,3}(?:\.\d{3})+$/;

function decimalIn(number: string, decimalComma: boolean): string | undefined {
  const mark = decimalComma ? "," : ".";
  const plain = ungrouped(number, mark);
  const parsed = parseAmount(
    decimalComma && GROUPS_ALONE.test(plain) ? plain.replaceAll(".", "") : plain,
    mark,
  );
  return parsed.ok ? parsed.value.value : undefined;
}

export interface CellAmount {
  /** A plain decimal, negative with a minus. */
  readonly amount: string;
  /** The currencies that a sign or code beside it may stand for. */
  readonly currencies: readonly string[] | undefined;
}

/** Reads an amount with its sign and its currency. */
export function listedAmount(cell: string, decimalComma: boolean): Parsed<CellAmount> {
  const { signs, unsigned } = splitSign(cell);
  const { amount: number, currencies } = splitAmount(unsigned);
  const amount = signs > 1 ? undefined : decimalIn(number, decimalComma);
  if (amount !== undefined) return accepted({ amount: signs === 1 ? `-${amount}` : amount, currencies });
  if (!decimalComma && decimalIn(number, true) !== undefined) return refused(COMMA_ADVICE);
  return refused(
    `must be a decimal, such as ${decimalComma ? "10,50, or -10,50" : "10.50, or -10.50"} for a refund`,
  );
}

/** More decimals than this come from a program that calculates with binary numbers. */
const MOST_TYPED = 12;
/** How far, in decimals, such a number is from the amount that it stands for. */
const NEARNESS = 9;

/**
 * The amount that a binary float stands for (19.989999999999998 is 19.99): it has more than 12 decimals, and is within 1e-9 of an amount
 * with the decimals of the currency. Undefined for any other: 19.987234567890123 is what it is.
 */
export function meantByFloat(amount: string, currency: string | undefined): string | undefined {
  if (decimalsOf(amount) <= MOST_TYPED) return undefined;
  const decimals = currency === undefined ? undefined : exponentOf(currency);
  const [sign, digits] = amount.startsWith("-") ? ["-", amount.slice(1)] : ["", amount];
  const [whole = "0", fraction = ""] = digits.split(".");
  const scaled = BigInt(whole + fraction);
  for (const places of decimals === undefined ? [2, 3] : [decimals]) {
    const unit = 10n ** BigInt(fraction.length - places);
    const rounded = (scaled + unit / 2n) / unit;
    const distance = rounded * unit - scaled;
    if ((distance < 0n ? -distance : distance) > 10n ** BigInt(fraction.length - NEARNESS)) continue;
    const text = String(rounded).padStart(places + 1, "0");
    return sign + (places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`);
  }
  return undefined;
}
