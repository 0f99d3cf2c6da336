/** Amounts of money as exact decimals, without binary floating point, and the currencies of ISO 4217. */
import { CURRENCIES } from "./currencies.ts";
import { JsonNumber } from "../values/json.ts";
import { accepted, refused, type Parsed } from "../values/parse-result.ts";

/** A decimal in major units (10.50 euros), as a JSON number or, as bounds of a link are sent, as text. */
export type Amount = JsonNumber | string;

/** A plain decimal of 0 or more in JSON's spelling: no sign, exponent, leading zero, separator or trailing point. */
export const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;

const NUMBER_FORM = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Characters of a number that is read as an amount: exact arithmetic takes more than proportional time for longer ones. */
export const LONGEST_NUMBER = 40;

/** Whether it is a number in any spelling that an amount is received in: with a sign, an exponent or more decimals too. */
export const isNumeral = (text: string): boolean => text.length <= LONGEST_NUMBER && NUMBER_FORM.test(text);

/** A larger exponent is shown unchanged: 1e999999999 must not become a gigabyte of zeros. */
const MAX_SHIFT = 100;

export function isDecimal(text: string): boolean {
  return DECIMAL.test(text);
}

/** By the decimal mark. Points group thousands only where decimals follow: `1.234` may be a thousand or have three decimals. */
const TYPED = {
  ".": { form: /^(\d*)(?:\.(\d+))?$/, example: "10.50" },
  ",": { form: /^(\d{1,3}(?:\.\d{3})+(?=,)|\d*)(?:,(\d+))?$/, example: "10,50" },
} as const;

/** The problem of an amount that could be read with a decimal comma, where decimal commas are not read. */
export const COMMA_ADVICE =
  "has a comma: if it is the decimal mark, add --decimal-comma; otherwise leave it out";

/**
 * Parses what a person types: `10`, `10.5`, `10.50`, and `.5` for 0.5; with a comma as the mark `10,50` and `1.234,50`. White
 * space around it is ignored. It refuses what is ambiguous or probably a typing error: signs, exponents, leading zeros, the other
 * mark, a trailing mark, a currency sign.
 */
export function parseAmount(text: string, mark: keyof typeof TYPED = "."): Parsed<JsonNumber> {
  const { form, example } = TYPED[mark];
  const trimmed = text.trim();
  const [, whole = "", fraction = ""] = form.exec(trimmed) ?? [];
  const digits = whole === "" && fraction !== "" ? "0" : whole.replaceAll(".", "");
  const plain = fraction === "" ? digits : `${digits}.${fraction}`;
  if (isDecimal(plain)) return accepted(new JsonNumber(plain));
  const meant = mark === "." && /^\d+,\d{1,2}$/.test(trimmed) ? trimmed.replace(",", ".") : example;
  return refused(`must be a plain decimal of 0 or more, such as ${meant}`);
}

/** How many decimals the amount is spelled with: 10 has none, 10.00 two, 1e-3 three. */
export function decimalsOf(amount: Amount): number {
  const [, , , fraction = "", exponent = "0"] = NUMBER_FORM.exec(amount.toString()) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

/** The parts of a number: the same for two spellings of it (`10`, `1.00e1`). */
interface NumberParts {
  readonly sign: -1 | 0 | 1;
  /** Without zeros at either end. */
  readonly digits: string;
  /** How many places the first digit stands before the decimal point. */
  readonly magnitude: number;
}

function numberParts(amount: Amount): NumberParts {
  const [, minus = "", whole = "", fraction = "", exponent = "0"] = NUMBER_FORM.exec(amount.toString()) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  if (digits === "") return { sign: 0, digits, magnitude: 0 };
  const magnitude = digits.length - fraction.length + Number(exponent);
  // A regular expression would look for the end from each zero: minutes for a number of a hundred thousand.
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return { sign: minus === "" ? 1 : -1, digits: digits.slice(0, end), magnitude };
}

/** How many decimals a number needs. */
const finestDecimals = ({ digits, magnitude }: NumberParts): number => Math.max(0, digits.length - magnitude);

/** A number in units of its last decimal, of which it needs no more than these. */
const unitsOf = ({ sign, digits, magnitude }: NumberParts, decimals: number): bigint =>
  BigInt(sign) * BigInt(digits.padEnd(magnitude + decimals, "0") || "0");

/** The same text for every spelling of a number: `10`, `10.00`, `1e1`. */
export function amountKey(amount: Amount): string {
  const { sign, digits, magnitude } = numberParts(amount);
  return `${sign} ${digits} ${magnitude}`;
}

/** -1, 0 or 1: whether the amount, which must be a number, is less than, equal to or more than 0. */
export const signOf = (amount: Amount): -1 | 0 | 1 => numberParts(amount).sign;

/** -1, 0 or 1: whether the first amount is less than, equal to or more than the second; both must be numbers. */
export function compareAmounts(first: Amount, second: Amount): -1 | 0 | 1 {
  const [one, other] = [numberParts(first), numberParts(second)];
  if (one.sign !== other.sign) return one.sign > other.sign ? 1 : -1;
  const [less, more] = one.sign < 0 ? ([1, -1] as const) : ([-1, 1] as const);
  if (one.magnitude !== other.magnitude) return one.magnitude < other.magnitude ? less : more;
  // From the same place on, digits compare as text does.
  if (one.digits === other.digits) return 0;
  return one.digits < other.digits ? less : more;
}

/**
 * The amount in the smallest unit of its currency: 1050 for EUR 10.50. Undefined if that cannot be determined: not a number, a currency
 * that ISO 4217 does not have, or a part of a unit.
 */
export function minorUnitsOf(amount: Amount, currency: string): bigint | undefined {
  const decimals = exponentOf(currency);
  if (decimals === undefined || !isNumeral(amount.toString())) return undefined;
  const parts = numberParts(amount);
  return finestDecimals(parts) > decimals || parts.magnitude + decimals > MAX_SHIFT
    ? undefined
    : unitsOf(parts, decimals);
}

/** The problem of an amount with more decimals than its currency has. Zeros count, since 10.000 may mean 10000. */
export function decimalsProblem(amount: Amount, currency: string): string | undefined {
  const allowed = exponentOf(currency);
  if (allowed === undefined || decimalsOf(amount) <= allowed) return undefined;
  const code = currency.toUpperCase();
  const example = formatAmount(new JsonNumber("1000"), currency).slice(code.length + 1);
  const decimals = allowed === 0 ? "no decimals" : `at most ${allowed} decimals`;
  return `must have ${decimals} in ${code}, such as ${example}`;
}

/**
 * The amount with its currency's decimals: `EUR 10.00`, `JPY 1000`, `KWD 1.500`. Further decimals are kept, never
 * rounded; with an unknown currency the amount keeps its own. A text that is not a number is shown unchanged.
 */
export function formatAmount(amount: Amount, currency: string): string {
  const code = currency.toUpperCase();
  const text = withoutExponent(amount.toString());
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) return `${code} ${text}`;
  const [whole = "", fraction = ""] = text.split(".");
  const decimals = fraction.padEnd(exponentOf(currency) ?? 0, "0");
  return decimals === "" ? `${code} ${whole}` : `${code} ${whole}.${decimals}`;
}

/** The same for people to read, in groups of three digits: `EUR 1,234,567.00`. */
export const groupedAmount = (amount: Amount, currency: string): string =>
  formatAmount(amount, currency).replace(/\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ","));

function withoutExponent(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent] = NUMBER_FORM.exec(text) ?? [];
  const shift = Number(exponent ?? 0);
  if (exponent === undefined || Math.abs(shift) > MAX_SHIFT) return text;
  const point = whole.length + shift;
  const digits = `${"0".repeat(Math.max(0, -point))}${whole}${fraction}`.padEnd(Math.max(point, 0), "0");
  const before = digits.slice(0, Math.max(point, 0)).replace(/^0+(?=\d)/, "");
  const after = digits.slice(Math.max(point, 0));
  return `${sign}${before === "" ? "0" : before}${after === "" ? "" : `.${after}`}`;
}

/** A part of an amount, as an issuer may approve: half of it, in units that the currency has. */
export function halfOf(amount: JsonNumber, currency: string): JsonNumber {
  if (!isDecimal(amount.value)) return amount;
  const decimals = Math.max(exponentOf(currency) ?? 2, decimalsOf(amount));
  return new JsonNumber(decimalOf(unitsOf(numberParts(amount), decimals) / 2n, decimals));
}

/** What is left of an amount after a part of it, in the decimals of the longer one; neither is negative. */
export function restOf(amount: JsonNumber, part: JsonNumber): JsonNumber {
  const decimals = Math.max(decimalsOf(amount), decimalsOf(part));
  const rest = unitsOf(numberParts(amount), decimals) - unitsOf(numberParts(part), decimals);
  return new JsonNumber(decimalOf(rest < 0n ? 0n : rest, decimals));
}

function decimalOf(units: bigint, decimals: number): string {
  if (units < 0n) return `-${decimalOf(-units, decimals)}`;
  const digits = String(units).padStart(decimals + 1, "0");
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

export interface Sum {
  readonly currency: string;
  /** A plain decimal, with the decimals of its currency at least. */
  readonly amount: string;
}

/** Adds amounts up exactly, those of each currency by themselves. */
export class Sums {
  private readonly sums = new Map<string, { units: bigint; decimals: number }>();

  /** An amount that no currency has (1e999) is left out. */
  add(amount: Amount, currency: string): void {
    const parts = numberParts(amount);
    const decimals = finestDecimals(parts);
    if (Math.max(decimals, parts.magnitude) > MAX_SHIFT) return;
    const code = currency.toUpperCase();
    const sum = this.sums.get(code) ?? { units: 0n, decimals: exponentOf(code) ?? 0 };
    this.sums.set(code, sum);
    if (decimals > sum.decimals) {
      sum.units *= 10n ** BigInt(decimals - sum.decimals);
      sum.decimals = decimals;
    }
    sum.units += unitsOf(parts, sum.decimals);
  }

  /** By the code of the currency. */
  list(): Sum[] {
    return [...this.sums]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([currency, { units, decimals }]) => ({ currency, amount: decimalOf(units, decimals) }));
  }
}

const EXPONENTS = new Map<string, number | undefined>(
  Object.entries(CURRENCIES).flatMap(([decimals, codes]) =>
    codes.split(/\s+/).map((code) => [code, decimals === "none" ? undefined : Number(decimals)] as const),
  ),
);

/**
 * The number of decimals: EUR 2, JPY 0, KWD 3. Accepts either case; undefined if ISO 4217 has no such code or gives it
 * no decimals. From the standard's own list, because `Intl` knows how amounts are displayed, not how they are charged.
 */
export function exponentOf(code: string): number | undefined {
  return EXPONENTS.get(code.toUpperCase());
}

/** Whether ISO 4217 has the code, in either case. An unknown code gets a warning, not an error. */
export function isKnownCurrency(code: string): boolean {
  return EXPONENTS.has(code.toUpperCase());
}

/** The form of a currency code, whatever ISO 4217 has. */
export const CURRENCY_CODE = /^[A-Za-z]{3}$/;

/** A currency code from a person, in upper case. */
export function parseCurrency(text: string): Parsed<string> {
  return CURRENCY_CODE.test(text)
    ? accepted(text.toUpperCase())
    : refused("must be a three-letter currency code, such as EUR");
}

/** Decimals of the whole numbers that databases add up: more than any currency has. */
const SCALE = 4;
/** Digits that a safe integer has. */
const MAX_DIGITS = 15;

/** The amount in ten-thousandths of the major unit, for exact sums; undefined if it is finer or larger than that allows. */
export function scaledAmount(amount: Amount): number | undefined {
  const parts = numberParts(amount);
  return finestDecimals(parts) > SCALE || parts.magnitude + SCALE > MAX_DIGITS
    ? undefined
    : Number(unitsOf(parts, SCALE));
}

/** A sum of such numbers as a decimal. */
export function unscaledAmount(sum: bigint): string {
  return decimalOf(sum, SCALE).replace(/\.?0+$/, "");
}
