/** What spreadsheets and data tools leave in a list: marks of missing values and errors, and rows of totals. */
import { comparableText } from "../values/comparable-text.ts";
import type { Problem } from "../domain/errors.ts";
import { isJsonNumber, type Json } from "../values/json.ts";
import { isKnownCurrency, Sums } from "../domain/money.ts";
import { linkFieldsOf } from "../domain/payment-link-field-lookup.ts";
import type { ListRow } from "./read-list.ts";

/** In these very spellings: people and towns are called Nan, Null and None. */
const MISSING: ReadonlySet<string> = new Set(
  "nan NaN NAN -nan null NULL (null) undefined None nil NIL NaT <NA> <null> \\N [object_Object] #N/A #NA #NV #N/D #N/B #REF #Field!"
    .split(" ")
    .map((word) => word.replace("_", " ")),
);

/** Errors of formulas in the languages of spreadsheets (`#REF!`, `#WERT!`, `#¿NOMBRE?`), and those of LibreOffice. */
const ERROR = /^(?:#[¿¡]?[\p{Lu}\d/ ]+[!?]|#{3,}|Err:\d{3})$/u;

/** What is wrong with a value that nobody meant, in words; undefined for any other. */
export function leftoverIn(value: Json): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = comparableText(value);
  return MISSING.has(text) || ERROR.test(text)
    ? `${text} is what a spreadsheet or a program leaves where a value is missing`
    : undefined;
}

/** Without these, nothing is sent; and by its order number, a row is known. */
const REQUIRED: ReadonlySet<string> = new Set([
  "invoiceId",
  "expirationDate",
  ...linkFieldsOf("request").flatMap(([path, { request }]) => (request === "required" ? [path] : [])),
]);

export const requiredLeftovers = (given: ReadonlyMap<string, Json>): Problem[] =>
  [...given].flatMap(([at, value]) => {
    const left = REQUIRED.has(at) ? leftoverIn(value) : undefined;
    return left === undefined ? [] : [{ at, message: `must have a value: ${left}` }];
  });

/** A whole cell that says so. */
const TOTAL =
  /^(?:grand ?|sub-? ?)?(?:total|totals|sum|summe|gesamt|gesamtsumme|gesamtbetrag|zwischensumme|insgesamt|totale|totaal|totaux|total général|somme|suma|summa|soma|razem|итого|合計|总计)(?: amount)?(?: (?<code>[a-z]{3}))?[\s:=]*$/i;

/** Whether a cell says that its row is a total. */
export function namesTotal(text: string): boolean {
  const found = TOTAL.exec(comparableText(text));
  const code = found?.groups?.["code"];
  return found !== null && (code === undefined || isKnownCurrency(code));
}

/** Why the last row looks like the sum of those above it; undefined if it does not. */
export function totalIn(rows: readonly ListRow[]): Problem | undefined {
  const last = rows.at(-1);
  if (last === undefined || rows.length < 3) return undefined;
  for (const [place, { name }] of last.columns.entries()) {
    const text = cellTextAt(last, place);
    if (namesTotal(text))
      return { at: name, message: `looks like a row of totals ("${comparableText(text)}")` };
  }
  return isSumOfOthers(rows, last)
    ? { at: "", message: "looks like a row of totals: its amount is the sum of the rows above" }
    : undefined;
}

/** Its amount is the sum of all others, half of the whole sum, and it has nothing else but a currency. */
function isSumOfOthers(rows: readonly ListRow[], last: ListRow): boolean {
  const place = last.columns.findIndex(({ field }) => field === "amount");
  const isBare = last.columns.every(
    ({ field }, at) => at === place || field === "currency" || comparableText(cellTextAt(last, at)) === "",
  );
  const hasOthers = last.columns.some(({ field }, at) => at !== place && field !== "currency");
  if (place === -1 || !isBare || !hasOthers) return false;
  const own = plainAmount(last, place);
  if (own === undefined) return false;
  const [sum, twice] = [new Sums(), new Sums()];
  for (const row of rows) {
    const amount = plainAmount(row, place);
    if (amount === undefined) return false;
    sum.add(amount, "");
  }
  for (const amount of [own, own]) twice.add(amount, "");
  const numberOf = (sums: Sums): string | undefined =>
    sums
      .list()[0]
      ?.amount.replace(/(\.\d*?)0+$/, "$1")
      .replace(/\.$/, "");
  return numberOf(sum) === numberOf(twice) && numberOf(twice) !== "0";
}

function cellTextAt({ values }: ListRow, at: number): string {
  const value = values[at] ?? "";
  return typeof value === "string" ? value : isJsonNumber(value) ? value.value : "x";
}

/** Either decimal mark; a list whose amounts are written otherwise is not looked at. */
function plainAmount(row: ListRow, at: number): string | undefined {
  const text = cellTextAt(row, at).replace(/[^\d.,]/g, "");
  const plain = /^\d+,\d+$/.test(text) ? text.replace(",", ".") : text;
  return /^\d+(?:\.\d+)?$/.test(plain) ? plain : undefined;
}
