/** The currencies that a list names, in codes, signs and words: evidence of what its amounts are in. */
import type { Problem } from "../domain/errors.ts";
import { comparableText } from "../values/comparable-text.ts";
import type { Json } from "../values/json.ts";
import { isKnownCurrency } from "../domain/money.ts";
import type { List, ListRow } from "./read-list.ts";

/** What each sign may stand for. */
const SIGNS: Readonly<Record<string, string>> = {
  "€": "EUR",
  EURO: "EUR",
  EUROS: "EUR",
  "£": "GBP",
  "GB£": "GBP",
  STERLING: "GBP",
  $: "USD CAD AUD NZD SGD HKD TWD MXN ARS CLP COP UYU",
  US$: "USD",
  CA$: "CAD",
  C$: "CAD",
  CAN$: "CAD",
  A$: "AUD",
  AU$: "AUD",
  NZ$: "NZD",
  S$: "SGD",
  SG$: "SGD",
  HK$: "HKD",
  NT$: "TWD",
  MX$: "MXN",
  R$: "BRL",
  "¥": "JPY CNY",
  "￥": "JPY CNY",
  元: "CNY",
  円: "JPY",
  "₹": "INR",
  "₽": "RUB",
  "₺": "TRY",
  "₩": "KRW",
  "₪": "ILS",
  "₫": "VND",
  "₴": "UAH",
  "₦": "NGN",
  "₱": "PHP",
  "₸": "KZT",
  "₵": "GHS",
  "฿": "THB",
  ZŁ: "PLN",
  KČ: "CZK",
  FT: "HUF",
  LEI: "RON",
  ЛВ: "BGN",
  "FR.": "CHF",
  "SFR.": "CHF",
  KR: "SEK NOK DKK ISK",
  "KR.": "SEK NOK DKK ISK",
};

/** The codes that a whole text may stand for: a code itself, a sign or a word. Undefined if it is not a currency. */
export function currenciesOf(text: string): readonly string[] | undefined {
  const upper = comparableText(text).toUpperCase();
  if (isKnownCurrency(upper)) return [upper];
  return Object.hasOwn(SIGNS, upper) ? SIGNS[upper]?.split(" ") : undefined;
}

/** A sign, with the letters before it that belong to it, or a word. */
const CODE_PART = /[A-Z]{0,3}\p{Sc}|\p{L}+\.?/giu;

/** The currencies that the name of an amount's column has in it: `Amount (GBP)`, `amount_gbp`, `Price in €`. */
export function currenciesInName(name: string): readonly string[] | undefined {
  for (const [part] of name.matchAll(CODE_PART)) {
    // In running text, `all` and `top` are words.
    const isCode = part.length !== 3 || part === part.toUpperCase() || name === name.toLowerCase();
    const found = isCode ? currenciesOf(part) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const BEFORE = /^([^\d\s.,+-]{1,4}[.$]?)\s*(?=[\d.,])/u;
const AFTER = /(?<=[\d.,])\s*([^\d\s.,]{1,4}\.?)$/u;

/** An amount as a cell has it, and the currency beside it: `€ 10.50`, `10 EUR`. */
export function splitAmount(text: string): {
  readonly amount: string;
  readonly currencies?: readonly string[];
} {
  // An apostrophe tells a spreadsheet that the number is text.
  const trimmed = text.trim().replace(/^'(?=[\d.,])/, "");
  for (const form of [BEFORE, AFTER]) {
    const [whole, named] = form.exec(trimmed) ?? [];
    const currencies = named === undefined ? undefined : currenciesOf(named);
    if (whole !== undefined && currencies !== undefined)
      return { amount: trimmed.replace(form, "").trim(), currencies };
  }
  return { amount: trimmed };
}

/** Something in the list, or a flag, that names a currency. */
export interface CurrencyEvidence {
  /** `the column "Amount (GBP)"`, `--currency`. */
  readonly of: string;
  readonly spelled: string;
  readonly currencies: readonly string[];
}

/** The one currency that all evidence allows, or why none can be chosen; undefined without evidence. */
export function agreedCurrency(
  evidence: readonly CurrencyEvidence[],
  at: string,
): string | Problem | undefined {
  const [first] = evidence;
  if (first === undefined) return undefined;
  const agreed = first.currencies.filter((code) =>
    evidence.every(({ currencies }) => currencies.includes(code)),
  );
  const [code, another] = agreed;
  if (code !== undefined && another === undefined) return code;
  const named = evidence.map(({ of, spelled }) => `${of} says ${spelled}`).join(", and ");
  if (code === undefined)
    return { at, message: `is in two currencies: ${named}`, kind: "is in two currencies" };
  const message = `is in an unclear currency: ${named}, which may be ${agreed.slice(0, 3).join(", ")}${agreed.length > 3 ? " or another" : ""}. Say which with --currency`;
  return { at, message };
}

const AMOUNTS = ["amount", "linkOptions.minAmount", "linkOptions.maxAmount"];

export interface ListCurrency {
  /** The currency that a flag or the base request names, for rows that name none. */
  readonly currency: CurrencyEvidence | undefined;
  readonly list: Pick<List, "columns">;
}

/**
 * The currency that the list names for a row, which an account's default never replaces; undefined if it names none. Takes the
 * signs of currencies from the amounts.
 */
export function currencyOf(
  { columns }: ListRow,
  given: Map<string, Json>,
  options: ListCurrency,
): string | Problem | undefined {
  const cells = AMOUNTS.flatMap((field) => {
    const value = given.get(field);
    if (value === undefined) return [];
    const name = columns.find((column) => column.field === field)?.name;
    if (typeof value !== "string") return [{ name, text: "", currencies: undefined }];
    const { amount, currencies } = splitAmount(value);
    given.set(field, amount);
    return [{ name, text: value, currencies }];
  });
  return currencyOfCells(given.get("currency"), cells, options);
}

/** A cell with an amount, and the name of its column. */
export interface AmountCell {
  readonly name: string | undefined;
  readonly text: string;
  /** Those that stand beside the amount. */
  readonly currencies: readonly string[] | undefined;
}

/** The same of any amounts of the row. `own` is what the column of currencies has. */
export function currencyOfCells(
  own: Json | undefined,
  cells: readonly AmountCell[],
  { currency: flag, list }: ListCurrency,
): string | Problem | undefined {
  const evidence: CurrencyEvidence[] = [];
  const column = list.columns.find(({ field }) => field === "currency")?.name;
  if (typeof own === "string") {
    const currencies = currenciesOf(own) ?? [comparableText(own).toUpperCase()];
    evidence.push({ of: `the column ${column ?? "currency"}`, spelled: own.trim(), currencies });
  }
  for (const { name, text, currencies } of cells) {
    const named = name === undefined ? undefined : currenciesInName(name);
    if (named !== undefined)
      evidence.push({ of: `the header "${name}"`, spelled: named.join(" or "), currencies: named });
    if (currencies !== undefined)
      evidence.push({ of: `the cell of ${name ?? "amount"}`, spelled: text.trim(), currencies });
  }
  if (evidence.length === 0 && column !== undefined && flag === undefined)
    return {
      at: column,
      message:
        "is empty, and the list has a column for it: fill the cell, or give --currency for all such rows",
    };
  return agreedCurrency(
    evidence.length > 0 && flag !== undefined ? [...evidence, flag] : evidence,
    column ?? "amount",
  );
}
