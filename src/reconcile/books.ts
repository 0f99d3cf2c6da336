/** Reads the merchant's books, CSV or JSON lines: what is booked as paid, by order number, with the reader of `bulk`. */
import { Columns, mapFlag, type Mapping } from "../lists/columns.ts";
import { type CurrencyEvidence, currencyOf, splitAmount } from "../lists/currencies.ts";
import { leftoverIn, namesTotal, totalIn } from "../lists/leftovers.ts";
import { type List, type ListRow, readList } from "../lists/read-list.ts";
import { RowProblems } from "../lists/row-problems.ts";
import { cellText, fieldsOf } from "../lists/cells.ts";
import { comparableText } from "../domain/comparable-text.ts";
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { COMMA_ADVICE, parseAmount, signOf } from "../domain/money.ts";
import type { BookedLine } from "./sides.ts";

export interface BooksOptions {
  readonly map: readonly Mapping[];
  /** The currency of lines that name none; undefined: that of the payment. */
  readonly currency: string | undefined;
  /** Amounts are `10,50` and `1.234,50`. */
  readonly decimalComma: boolean;
  readonly signal: AbortSignal;
}

export interface Books {
  readonly lines: readonly BookedLine[];
  /** What a person should look at. */
  readonly warnings: readonly Problem[];
}

/** The columns that are read. */
const BOOK_FIELDS: ReadonlySet<string> = new Set(["invoiceId", "amount", "currency"]);

/** Throws `usage` if a column or a line cannot be read without guessing: every problem is named. */
export async function readBooks(bytes: Uint8Array, options: BooksOptions): Promise<Books> {
  const { map, currency, decimalComma, signal } = options;
  const columns = new Columns(map, { takesMeant: true, fields: BOOK_FIELDS });
  const list = await readList(bytes, columns, signal).catch(throwUncompared);
  checkColumns(list, decimalComma);
  const evidence: CurrencyEvidence | undefined =
    currency === undefined
      ? undefined
      : { of: "--currency", spelled: currency, currencies: [currency.toUpperCase()] };
  const problems = new RowProblems();
  const lines: BookedLine[] = [];
  const totals: ListRow[] = [];
  const refunds: ListRow[] = [];
  for (const row of list.rows) {
    if (isTotal(row, list)) {
      totals.push(row);
      continue;
    }
    const read = lineOf(row, list, { evidence, decimalComma });
    if (Array.isArray(read)) problems.add(row, read);
    else {
      lines.push(read);
      if (signOf(read.amount) > 0 && saysRefund(row)) refunds.push(row);
    }
  }
  const found = problems.list();
  if (found.length > 0)
    throw new PaylinkError("usage", "The books cannot be read.", {
      consequence: NOTHING_COMPARED,
      problems: found.map(({ at, message, lines: named, rows }) => ({
        at: `line ${named.join(", ")}${rows > named.length ? ` and ${rows - named.length} more` : ""}`,
        message: `${at} ${message}`.trim(),
      })),
    });
  return {
    lines,
    warnings: [
      ...warningsOf(totals, "looks like a row of totals, and is left out"),
      ...warningsOf(refunds, "looks like a refund, but counts as a payment: its amount has no minus"),
    ],
  };
}

/** Lines that a warning names; how many there are besides is said. */
const MOST_LINES = 10;

function warningsOf(rows: readonly ListRow[], message: string): Problem[] {
  if (rows.length === 0) return [];
  const named = rows.slice(0, MOST_LINES).map(({ line }) => line);
  const more = rows.length > named.length ? ` and ${rows.length - named.length} more` : "";
  return [{ at: `line ${named.join(", ")}${more} of the books`, message }];
}

/** A whole cell that says so, in a column for the kind or the status of a line. */
const REFUND =
  /^(?:partial(?:ly)? )?(?:refund(?:ed)?|charge-?back|reversal|reversed|credit note|storno|gutschrift|(?:rück)?erstattung|remboursement|avoir|reembolso|rimborso|terugbetaling|zwrot|återbetalning)$/iu;

const saysRefund = ({ columns, values }: ListRow): boolean =>
  columns.some(({ field }, place) => {
    const value = field === undefined ? values[place] : undefined;
    return typeof value === "string" && REFUND.test(comparableText(value));
  });

/** The reader of lists does not know what is done with them. */
function throwUncompared(error: unknown): never {
  if (!(error instanceof PaylinkError) || error.isInterruption || error.consequence !== undefined)
    throw error;
  const { code, message, hints, problems, details } = error;
  const consequence = NOTHING_COMPARED;
  throw new PaylinkError(code, message, { consequence, hints, problems, details, cause: error });
}

const NOTHING_COMPARED = "Nothing was compared.";

/** Instead of an order number, it says so; or it has none, and the sum of all other rows. */
function isTotal(row: ListRow, { rows }: List): boolean {
  const orderNumber = comparableText(cellText(fieldsOf(row).get("invoiceId") ?? ""));
  if (orderNumber !== "") return rows.length > 1 && namesTotal(orderNumber);
  return row.line === rows.at(-1)?.line && totalIn(rows) !== undefined;
}

function checkColumns({ columns, rows }: List, decimalComma: boolean): void {
  if (columns.length === 0)
    throw new PaylinkError("usage", "The books are empty, without even a header.", {
      consequence: NOTHING_COMPARED,
      hints: [hint`Books without a payment have a header alone, such as invoiceId,amount,currency.`],
    });
  const isAmount = (cell: string): boolean =>
    decimalIn(splitAmount(splitSign(cell).unsigned).amount, decimalComma) !== undefined;
  const problems = [
    { field: "invoiceId", what: "the order number", canBe: (cell: string) => !isAmount(cell) },
    { field: "amount", what: "the amount", canBe: isAmount },
  ].flatMap(({ field, what, canBe }) => {
    if (columns.some((column) => column.field === field)) return [];
    const [first] = rows;
    const likely = columns.find(
      (column, place) => column.field === undefined && canBe(cellText(first?.values[place] ?? "")),
    );
    const flag = mapFlag(likely?.name ?? "<column>", field);
    return [
      {
        at: "--books",
        message: `must have a column for ${what}: ${field}, or another one with ${flag}`,
      },
    ];
  });
  // The lines of JSON say by themselves what they lack.
  if (problems.length > 0 && [...rows].every(({ object }) => object === undefined))
    throw new PaylinkError("usage", "The books cannot be read.", {
      consequence: NOTHING_COMPARED,
      problems,
    });
}

interface LineOptions {
  readonly evidence: CurrencyEvidence | undefined;
  readonly decimalComma: boolean;
}

function lineOf(row: ListRow, list: List, { evidence, decimalComma }: LineOptions): BookedLine | Problem[] {
  if (row.problems.length > 0) return [...row.problems];
  const given = fieldsOf(row);
  const left = [...given].flatMap(([at, value]) => {
    const leftover = leftoverIn(value);
    return leftover === undefined ? [] : [{ at, message: `must have a value: ${leftover}` }];
  });
  if (left.length > 0) return left;
  const { signs, unsigned } = splitSign(cellText(given.get("amount") ?? ""));
  // A currency may stand between the sign and the number.
  if (given.has("amount")) given.set("amount", unsigned);
  const currency = currencyOf(row, given, { currency: evidence, list });
  if (typeof currency === "object") return [currency];
  const orderNumber = comparableText(cellText(given.get("invoiceId") ?? ""));
  const number = cellText(given.get("amount") ?? "");
  const amount = signs > 1 ? undefined : decimalIn(number, decimalComma);
  const problems: Problem[] = [
    ...(orderNumber === "" ? [{ at: "the order number", message: "is missing" }] : []),
    ...(amount === undefined ? [{ at: "the amount", message: amountAdvice(number, decimalComma) }] : []),
  ];
  if (amount === undefined || problems.length > 0) return problems;
  return {
    line: row.line,
    orderNumber,
    amount: signs === 1 ? `-${amount}` : amount,
    currency: currency ?? evidence?.currencies[0],
  };
}

const amountAdvice = (number: string, decimalComma: boolean): string =>
  !decimalComma && decimalIn(number, true) !== undefined
    ? COMMA_ADVICE
    : `must be a decimal, such as ${decimalComma ? "10,50, or -10,50" : "10.50, or -10.50"} for a refund`;

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

function decimalIn(number: string, decimalComma: boolean): string | undefined {
  const mark = decimalComma ? "," : ".";
  const parsed = parseAmount(
    number.replace(DIGIT_GROUPS[mark], (groups) => groups.replace(/\D/g, "")),
    mark,
  );
  return parsed.ok ? parsed.value.value : undefined;
}
