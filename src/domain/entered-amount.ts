/** Amounts as customers type them, with a comma or a point: accepted if they can mean only one number. */
import { exponentOf } from "./currency.ts";
import { JsonNumber } from "./json.ts";
import { decimalsProblem, isDecimal, signOf } from "./money.ts";
import { accepted, refused, type Parsed } from "./parse-result.ts";

/** Groups of three digits between spaces or apostrophes, as in `1 234.50`. */
const SPACED = /^\d{1,3}(?:([ \u00A0\u202F'’])\d{3})(?:\1\d{3})*(?=[.,]|$)/;
/** Groups of three digits between commas or points, then the other one as decimal mark. */
const GROUPED = /^[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})$/;
/** Thousands, or three decimals. */
const EITHER = /^[1-9]\d{0,2},\d{3}$/;

/**
 * Parses `10`, `10.5`, `10,50`, `1 234.50`, `1,234.50` and `1.234,50`. `1,000` is one thousand or one with three
 * decimals, so it is refused unless the currency has no decimals. The message completes "The amount …".
 */
export function parseEnteredAmount(text: string, currency: string): Parsed<JsonNumber> {
  const trimmed = text.trim().replace(SPACED, (groups) => groups.replace(/\D/g, ""));
  if (EITHER.test(trimmed) && exponentOf(currency) !== 0) {
    const [thousands, decimal] = [trimmed.replace(",", ""), trimmed.replace(",", ".")];
    return refused(`could mean ${thousands} or ${decimal}: write it without a comma`);
  }
  const plain = GROUPED.test(trimmed) ? withoutGroups(trimmed) : trimmed.replace(/^(\d*),(\d+)$/, "$1.$2");
  const decimal = plain.startsWith(".") ? `0${plain}` : plain;
  if (!isDecimal(decimal) || signOf(decimal) <= 0)
    return refused(`must be a number above 0, such as ${exponentOf(currency) === 0 ? "10" : "10.50"}`);
  const tooFine = decimalsProblem(decimal, currency);
  return tooFine === undefined ? accepted(new JsonNumber(decimal)) : refused(tooFine);
}

/** The first mark groups thousands. */
function withoutGroups(text: string): string {
  const [mark = ""] = /[.,]/.exec(text) ?? [];
  return text.replaceAll(mark, "").replace(",", ".");
}
