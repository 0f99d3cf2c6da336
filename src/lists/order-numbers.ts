/** What spreadsheets and data tools make of an order number, and which spellings of it may have been sent before. */
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
  return wholeNumberIn(plain)?.replace(/^0+(?=\d)/, "") ?? plain;
}

/** Other spellings of the same order number, after a program took it for a number, for a date, or for text. */
export function otherSpellings(number: string): string[] {
  const plain = number.startsWith("'") ? number.slice(1) : number;
  const all = [plain, ...numberSpellings(plain), ...dateSpellings(plain)];
  return [...new Set(all)].filter((one) => one !== number && one !== "");
}

/** The most digits of an order number whose leading zeros are tried. */
const MOST_PADDED_DIGITS = 12;

/** What stands between thousands, in the languages of spreadsheets. */
const THOUSANDS = [",", ".", "'", "\u2019", " "];

const DECIMALS = [".0", ".00", ",00"];

function numberSpellings(number: string): string[] {
  const digits = wholeNumberIn(number);
  if (digits === undefined) return [];
  const shortest = digits.replace(/^0+(?=\d)/, "");
  const withZeros = Array.from(
    { length: Math.max(1, MOST_PADDED_DIGITS - shortest.length + 1) },
    (_, zeros) => shortest.padStart(shortest.length + zeros, "0"),
  );
  const plain = [digits, `+${digits}`, `+${shortest}`];
  const grouped = THOUSANDS.map((mark) => shortest.replace(/\B(?=(?:\d{3})+$)/g, mark));
  const [, ones = "", zeros = ""] = /^([1-9]\d*?)(0+)$/.exec(shortest) ?? [];
  const short = zeros === "" ? [] : [`${ones}E${zeros.length}`, `${ones}e${zeros.length}`];
  return [...withZeros, ...plain, ...DECIMALS.map((end) => shortest + end), ...grouped, ...short];
}

/** The digits of a whole number, however a program writes it; undefined for any other text. */
function wholeNumberIn(number: string): string | undefined {
  const [, whole] = /^\+?(\d+|\d{1,3}(?:([,.'\u2019 ])\d{3})(?:\2\d{3})*)(?:[.,]0{1,2})?$/.exec(number) ?? [];
  if (whole !== undefined) return whole.replace(/\D/g, "");
  const [, one, decimals = "", exponent] = /^(\d)(?:[.,](\d+))?E\+?(\d{1,2})$/i.exec(number) ?? [];
  if (one === undefined || decimals.length > Number(exponent)) return undefined;
  return one + decimals.padEnd(Number(exponent), "0");
}

/** What may have been typed where a spreadsheet shows this date, or a program has written it. */
function dateSpellings(number: string): string[] {
  const [, monthName = "", ofYear] = /^([A-Z][a-z]{2})-(\d\d)$/.exec(number) ?? [];
  if (ofYear !== undefined) return inEitherOrder(spelledYear(ofYear), monthNamed(monthName));
  const [, dayNumber, ofMonth = ""] = /^(\d{1,2})-([A-Z][a-z]{2})$/.exec(number) ?? [];
  if (dayNumber !== undefined) return inEitherOrder(twoSpellings(dayNumber), monthNamed(ofMonth));
  const [, first, , second = "", year = ""] = /^(\d{1,2})([./-])(\d{1,2})\2(?:20)?(\d\d)$/.exec(number) ?? [];
  if (first !== undefined) {
    const [one, two] = [twoSpellings(first), twoSpellings(second)];
    return [
      [one, two],
      [one, two, spelledYear(year)],
      [spelledYear(year), two, one],
      [spelledYear(year), one, two],
    ].flatMap(datesOf);
  }
  const [, inYear, inMonth = "", day = ""] =
    /^20(\d\d)-(\d\d)-(\d\d)(?:[ T]00:00(?::00(?:\.000)?)?(?:Z|\+00:00)?)?$/.exec(number) ?? [];
  if (inYear === undefined) return [];
  return [
    ...datesOf([spelledYear(inYear), twoSpellings(inMonth), twoSpellings(day)]),
    ...inEitherOrder(twoSpellings(inMonth), twoSpellings(day)),
    // A month alone begins on its first day.
    ...(day === "01" ? inEitherOrder(spelledYear(inYear), twoSpellings(inMonth)) : []),
  ];
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

const monthNamed = (name: string): string[] => twoSpellings(String(MONTHS.indexOf(name) + 1));
const spelledYear = (twoDigits: string): string[] => [`20${twoDigits}`, twoDigits];
const twoSpellings = (number: string): string[] => [String(Number(number)), number.padStart(2, "0")];

/** The parts in their order, with each mark that stands in a date, by every spelling of each part. */
const datesOf = (parts: readonly (readonly string[])[]): string[] =>
  ["-", "/", "."].flatMap((mark) =>
    parts.reduce<string[]>(
      (texts, spellings, place) =>
        texts.flatMap((text) =>
          spellings.map((spelling) => (place === 0 ? spelling : text + mark + spelling)),
        ),
      [""],
    ),
  );

const inEitherOrder = (one: readonly string[], other: readonly string[]): string[] => [
  ...datesOf([one, other]),
  ...datesOf([other, one]),
];
