/** Amounts of money: exact decimals, read, compared and written without ever passing through binary floating point. */

import { Big } from "big.js";
import { exponentOf } from "./currency.ts";
import { JsonNumber } from "./json.ts";
import { accepted, type Parsed, refused } from "./parse-result.ts";

/** A decimal in major units (10.50 euros), as a JSON number or, as bounds of a link are sent, as text. */
export type Amount = JsonNumber | string;

/** A plain decimal of 0 or more, as JSON would spell it: no sign, exponent, leading zero, separator or lone point. */
const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Beyond this many places an exponent is shown as it is spelled: 1e999999999 must not become a gigabyte of zeros. */
const MAX_SHIFT = 100;

export function isDecimal(text: string): boolean {
  return DECIMAL.test(text);
}

/**
 * Reads what a person types: `10`, `10.5`, `10.50`, and `.5` for 0.5; white space around it is dropped. Everything
 * that can be read in two ways, or hints at a slip, is refused with a message that shows a right one: signs,
 * exponents, leading zeros, a comma, thousands separators, a point with nothing after it, a currency sign.
 */
export function parseAmount(text: string): Parsed<JsonNumber> {
  const trimmed = text.trim();
  const plain = trimmed.startsWith(".") ? `0${trimmed}` : trimmed;
  if (isDecimal(plain)) return accepted(new JsonNumber(plain));
  const example = /^\d+,\d{1,2}$/.test(trimmed) ? trimmed.replace(",", ".") : "10.50";
  return refused(`must be a plain decimal of 0 or more, such as ${isDecimal(example) ? example : "10.50"}`);
}

/** How many decimals the amount is spelled with: 10 has none, 10.00 two, 1e-3 three. */
export function decimalsOf(amount: Amount): number {
  const [, , , fraction = "", exponent = "0"] = NUMBER.exec(amount.toString()) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

/** -1, 0 or 1 as the amount is less than, equal to or more than 0; it must be a number. */
export function signOf(amount: Amount): -1 | 0 | 1 {
  const text = amount.toString();
  // Whatever its exponent, a number without another digit before it is 0.
  if (!/^-?[0.]*[1-9]/.test(text)) return 0;
  return text.startsWith("-") ? -1 : 1;
}

/** -1, 0 or 1 as the first amount is less than, equal to or more than the second; both must be numbers. */
export function compareAmounts(first: Amount, second: Amount): -1 | 0 | 1 {
  const [one, other] = [first.toString(), second.toString()];
  // As services echo amounts.
  return one === other ? 0 : new Big(one).cmp(other);
}

/** What is wrong with an amount that has more decimals than its currency: zeros count, since 10.000 may mean 10000. */
export function decimalsProblem(amount: Amount, currency: string): string | undefined {
  const allowed = exponentOf(currency);
  if (allowed === undefined || decimalsOf(amount) <= allowed) return undefined;
  const code = currency.toUpperCase();
  const example = formatAmount(new JsonNumber("1000"), currency).slice(code.length + 1);
  const decimals = allowed === 0 ? "no decimals" : `at most ${allowed} decimals`;
  return `must have ${decimals} in ${code}, such as ${example}`;
}

/**
 * The amount as its currency writes it: `EUR 10.00`, `JPY 1000`, `KWD 1.500`. Decimals beyond the currency's are kept,
 * never rounded; an unknown currency keeps those it has. What is no number is shown as it stands.
 */
export function formatAmount(amount: Amount, currency: string): string {
  const code = currency.toUpperCase();
  const text = withoutExponent(amount.toString());
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) return `${code} ${text}`;
  const [whole = "", fraction = ""] = text.split(".");
  const decimals = fraction.padEnd(exponentOf(currency) ?? 0, "0");
  return decimals === "" ? `${code} ${whole}` : `${code} ${whole}.${decimals}`;
}

function withoutExponent(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent] = NUMBER.exec(text) ?? [];
  const shift = Number(exponent ?? 0);
  if (exponent === undefined || Math.abs(shift) > MAX_SHIFT) return text;
  const point = whole.length + shift;
  const digits = `${"0".repeat(Math.max(0, -point))}${whole}${fraction}`.padEnd(Math.max(point, 0), "0");
  const before = digits.slice(0, Math.max(point, 0)).replace(/^0+(?=\d)/, "");
  const after = digits.slice(Math.max(point, 0));
  return `${sign}${before === "" ? "0" : before}${after === "" ? "" : `.${after}`}`;
}
