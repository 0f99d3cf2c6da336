/** Reads the merchant's books, CSV or JSON lines: what is booked as paid, by order number, with the reader of `bulk`. */
import { comparableText } from "../values/comparable-text.ts";
import { linesText, plural } from "../values/plural.ts";
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { signOf, type Sum, Sums } from "../domain/money.ts";
import { listedAmount, meantByFloat } from "../lists/amounts.ts";
import { cellText, fieldsOf } from "../lists/cells.ts";
import { Columns, mapFlag, type Column, type Mapping, mappingText } from "../lists/columns.ts";
import { type AmountCell, type CurrencyEvidence, currencyOfCells } from "../lists/currencies.ts";
import { leftoverIn, namesTotal, totalIn } from "../lists/leftovers.ts";
import { type Choice, choiceProblems, isChosen } from "../lists/chosen-rows.ts";
import { type OwnOutput, ownOutputOf } from "../lists/own-output.ts";
import { asUtf8 } from "../lists/list-text.ts";
import { type List, type ListRow, readList } from "../lists/read-list.ts";
import { ListMoney, type RowMoney } from "../lists/row-money.ts";
import { RowProblems } from "../lists/row-problems.ts";
import { negated } from "../orders/amounts.ts";
import { type CountedAmount, countedIn } from "./booked-amount.ts";
import type { BookedLine } from "./sides.ts";

export interface BooksOptions {
  readonly map: readonly Mapping[];
  /** From the setting `columns`. */
  readonly standing?: readonly Mapping[];
  /** The lines that are read; all without any. */
  readonly only?: readonly Choice[];
  readonly headerLine?: number | undefined;
  /** The currency of lines that name none; undefined: that of the payment. */
  readonly currency: string | undefined;
  /** Amounts are `10,50` and `1.234,50`. */
  readonly decimalComma: boolean;
  readonly signal: AbortSignal;
}

/** Lines, and their sums by currency. */
export interface CountedLines {
  readonly count: number;
  readonly sums: readonly Sum[];
}

export interface Books {
  readonly lines: readonly BookedLine[];
  /** Lines without an order number or without an amount: fees, payouts, further items. */
  readonly unnamed: CountedLines;
  /** By which columns they were read, and which lines count nothing. */
  readonly remarks: readonly string[];
  /** What a person should look at. */
  readonly warnings: readonly Problem[];
}

/** The fields that are read. */
const BOOK_FIELDS: ReadonlySet<string> = new Set(["invoiceId", "amount", "currency"]);

/** Throws `usage` if a column or a line cannot be read without guessing: every problem is named. */
export async function readBooks(bytes: Uint8Array, options: BooksOptions): Promise<Books> {
  const { map, standing = [], only = [], headerLine, decimalComma, signal } = options;
  const columns = new Columns(map, { standing, takesMeant: true, fields: BOOK_FIELDS });
  const list = await readList(asUtf8(bytes), columns, { signal, headerLine }).catch(throwUncompared);
  const own = ownOutputOf(list.columns);
  if (own !== undefined) throw ownOutputRefusal(own);
  const rows = list.rows.filter((row) => isChosen(row, only));
  const money = new ListMoney(list.columns, rows, { decimalComma });
  const problems = [...columnProblems(list, options), ...choiceProblems(list, only)];
  const read =
    problems.length === 0 || list.columns.length > 0
      ? readLines({ ...list, rows }, money, options)
      : undefined;
  const all = [...problems, ...(read?.problems ?? [])];
  if (all.length > 0 || read === undefined)
    throw new PaylinkError("usage", "The books cannot be read.", {
      consequence: NOTHING_COMPARED,
      problems: all,
    });
  const applied = columns.standingFor(list.columns);
  return {
    ...read,
    remarks: [
      ...(applied.length === 0 ? [] : [`From the setting columns: ${applied.map(mappingText).join(", ")}.`]),
      columnsRemark(list, money),
      ...read.remarks,
    ],
  };
}

const OWN_OUTPUTS: Readonly<Record<OwnOutput, string>> = {
  results: "results of bulk: they say which links were sent",
  links: "a list of links: it says what the service knows",
};

const ownOutputRefusal = (own: OwnOutput): PaylinkError =>
  new PaylinkError("usage", `The books are ${OWN_OUTPUTS[own]}, not what you booked.`, {
    consequence: NOTHING_COMPARED,
    hints: [
      hint`reconcile reads the links from the service itself: leave --books out, or give what your accounting or your bank exports.`,
    ],
  });

/** The reader of lists does not know what is done with them. */
function throwUncompared(error: unknown): never {
  if (!(error instanceof PaylinkError) || error.isInterruption || error.consequence !== undefined)
    throw error;
  throw error.with({ consequence: NOTHING_COMPARED });
}

const NOTHING_COMPARED = "Nothing was compared.";

const isAmount = ({ field, role }: Column): boolean => field === "amount" || role === "paid" || role === "in";

/** What is wrong with the columns, with a column that may be the one that is missing. */
function columnProblems(
  { columns, rows, problems }: List,
  { decimalComma }: BooksOptions,
): readonly Problem[] {
  if (columns.length === 0)
    throw new PaylinkError("usage", "The books are empty, without even a header.", {
      consequence: NOTHING_COMPARED,
      hints: [hint`Books without a payment have a header alone, such as invoiceId,amount,currency.`],
    });
  // The lines of JSON say by themselves what they lack.
  if (rows.some(({ object }) => object !== undefined)) return problems;
  const isNumber = (cell: string): boolean => listedAmount(cell, decimalComma).ok;
  const missing = [
    {
      isMissing: !columns.some(({ field }) => field === "invoiceId"),
      field: "invoiceId",
      what: "the order number",
      canBe: (cells: readonly string[]) =>
        !cells.some((cell) => isNumber(cell) || /^\d+[-./]\d+[-./]\d+\b/.test(cell)) &&
        new Set(cells).size === cells.length,
    },
    {
      isMissing: !columns.some(isAmount),
      field: "amount",
      what: "the amount",
      // Numbers of accounts and codes have no decimals.
      canBe: (cells: readonly string[]) =>
        cells.every(isNumber) && cells.some((cell) => /\d[.,]\d/.test(cell)),
    },
  ].filter(({ isMissing }) => isMissing);
  return [
    ...problems,
    ...missing.map(({ field, what, canBe }) => {
      const likely = columns.find((column, place) => {
        const cells = rows.map(({ values }) => cellText(values[place] ?? null)).filter((cell) => cell !== "");
        return column.field === undefined && column.role === undefined && cells.length > 0 && canBe(cells);
      });
      const flag = mapFlag(likely?.name ?? "<column>", field);
      return {
        at: "--books",
        message: `must have a column for ${what}: ${field}, or another one with ${flag}`,
      };
    }),
  ];
}

/** By which columns the lines are read. */
function columnsRemark({ columns }: List, money: ListMoney): string {
  const named = (is: (column: Column) => boolean, as: string): string[] => {
    const names = columns
      .filter((column) => is(column) && !money.isSilent(column.name))
      .map(({ name }) => name);
    return names.length === 0 ? [] : [`${as} ${names.join(", ")}`];
  };
  const accounts = columns.filter(({ role }) => role === "account").map(({ name }) => name);
  const sides = [...money.signsOfMoneyIn()].map(([name, cell]) => `money in is ${cell} in ${name}`);
  const read = [
    ...named(({ field }) => field === "invoiceId", "order number"),
    ...named(({ field }) => field === "amount", "amount"),
    ...named(({ field }) => field === "currency", "currency"),
    ...named(({ role }) => role === "paid" || role === "paidOn", "paid"),
    ...named(({ role }) => role === "due" || role === "running", "due"),
    ...named(({ role }) => role === "state", "state"),
    ...named(({ role }) => role === "voidOn", "void"),
    ...named(({ role }) => role === "kind", "kind"),
    ...(accounts.length === 2 ? [`accounts ${accounts.join(", ")}`] : []),
    ...named(({ role }) => role === "in", "money in"),
    ...named(({ role }) => role === "out", "money out"),
    ...sides,
  ];
  return `The books are read by these columns: ${read.join("; ")}.`;
}

interface ReadLines extends Books {
  readonly problems: readonly Problem[];
}

function readLines(list: List, money: ListMoney, options: BooksOptions): ReadLines {
  const evidence: CurrencyEvidence | undefined =
    options.currency === undefined
      ? undefined
      : { of: "--currency", spelled: options.currency, currencies: [options.currency.toUpperCase()] };
  const problems = new RowProblems();
  const lines: BookedLine[] = [];
  const refunds: BookedLine[] = [];
  const totals: ListRow[] = [];
  const floats: ListRow[] = [];
  const unnamed = new Sums();
  const items = new Set<string>();
  const count = { unnamed: 0, nothing: 0, items: 0 };
  const hasItems = list.columns.some(({ role }) => role === "item");
  for (const row of list.rows) {
    if (isTotal(row, list)) {
      totals.push(row);
      continue;
    }
    const read = lineOf(row, list, { money, evidence });
    if (Array.isArray(read)) {
      problems.add(row, read);
      continue;
    }
    const { orderNumber, said, counted, currency, wasFloat } = read;
    const item = hasItems ? itemKey(orderNumber, said) : undefined;
    if (item !== undefined && items.has(item)) count.items++;
    else if (counted.counts === "nothing") count.nothing++;
    else if (counted.counts === "unknown" || orderNumber === "") {
      count.unnamed++;
      if (counted.counts === "amount") unnamed.add(counted.amount, currency ?? "");
    } else {
      const line = { line: row.line, orderNumber, amount: counted.amount, currency };
      lines.push(line);
      if (counted.isRefund === true) refunds.push(line);
      if (wasFloat) floats.push(row);
    }
    if (item !== undefined) items.add(item);
  }
  return {
    lines: [...lines, ...bookedPayments(refunds, lines)],
    unnamed: { count: count.unnamed, sums: unnamed.list() },
    problems: problems.list().map(({ at, message, lines: named, rows }) => ({
      at: linesText(named, rows),
      message: `${at} ${message}`.trim(),
    })),
    remarks: [
      ...remark(count.nothing, "says that nothing was paid", "say that nothing was paid"),
      ...remark(
        count.items,
        "is a further item of an invoice that is counted",
        "are further items of invoices that are counted",
      ),
      ...remark(refunds.length, "says that money went back", "say that money went back"),
    ],
    warnings: [
      ...booksWarnings(totals, "looks like a row of totals, and is left out"),
      ...booksWarnings(
        floats,
        "has an amount with the decimals that a program with binary numbers adds: it is rounded to the currency's",
      ),
    ],
  };
}

const remark = (count: number, one: string, several: string): string[] =>
  count === 0 ? [] : [`${plural(count, `line ${one}`, `lines ${several}`)}.`];

/** What all lines of the items of one invoice have in common; undefined for a line without an order number or an amount. */
function itemKey(orderNumber: string, { total, paid, due, states }: RowMoney): string | undefined {
  if (orderNumber === "" || total === undefined) return undefined;
  return JSON.stringify([orderNumber, total.cell, paid?.cell, due?.cell, states.map(({ cell }) => cell)]);
}

/** An order whose only line says that it was refunded was paid before: its payment, for each such line. */
function bookedPayments(refunds: readonly BookedLine[], lines: readonly BookedLine[]): BookedLine[] {
  const paid = new Set(
    lines.filter(({ amount }) => signOf(amount) > 0).map(({ orderNumber }) => orderNumber),
  );
  return refunds
    .filter(({ orderNumber }) => !paid.has(orderNumber))
    .map((line) => ({ ...line, amount: negated(line.amount) }));
}

/** Lines that a warning names; how many there are besides is said. */
const MOST_BOOK_LINES = 10;

function booksWarnings(rows: readonly ListRow[], message: string): Problem[] {
  if (rows.length === 0) return [];
  const named = rows.slice(0, MOST_BOOK_LINES).map(({ line }) => line);
  return [{ at: `${linesText(named, rows.length)} of the books`, message }];
}

/** Instead of an order number, it says so; or it has none, and the sum of all other rows. */
function isTotal(row: ListRow, { rows }: List): boolean {
  const orderNumber = bookedOrderNumber(row);
  if (orderNumber !== "") return rows.length > 1 && namesTotal(orderNumber);
  return row.line === rows.at(-1)?.line && totalIn(rows) !== undefined;
}

const bookedOrderNumber = (row: ListRow): string =>
  comparableText(cellText(fieldsOf(row).get("invoiceId") ?? ""));

interface LineOptions {
  readonly money: ListMoney;
  readonly evidence: CurrencyEvidence | undefined;
}

interface ReadLine {
  readonly orderNumber: string;
  readonly said: RowMoney;
  readonly counted: CountedAmount;
  readonly currency: string | undefined;
  readonly wasFloat: boolean;
}

function lineOf(row: ListRow, list: List, { money, evidence }: LineOptions): ReadLine | Problem[] {
  if (row.problems.length > 0) return [...row.problems];
  const given = fieldsOf(row);
  const left = [...given].flatMap(([at, value]) => {
    const leftover = leftoverIn(value);
    return leftover === undefined ? [] : [{ at, message: `must have a value: ${leftover}` }];
  });
  if (left.length > 0) return left;
  const said = money.of(row);
  const counted = countedIn(said);
  if ("at" in counted) return [counted];
  const orderNumber = bookedOrderNumber(row);
  const currency = currencyOfCells(given.get("currency"), cellsOf(said), { currency: evidence, list });
  const isNamed = orderNumber !== "" && counted.counts === "amount";
  if (typeof currency === "object" && isNamed) return [currency];
  const code = typeof currency === "object" ? undefined : (currency ?? evidence?.currencies[0]);
  if (counted.counts !== "amount") return { orderNumber, said, counted, currency: code, wasFloat: false };
  const rounded = meantByFloat(counted.amount, code);
  return {
    orderNumber,
    said,
    counted: { ...counted, amount: rounded ?? counted.amount },
    currency: code,
    wasFloat: rounded !== undefined,
  };
}

const cellsOf = ({ total, paid, due, in: moneyIn, out }: RowMoney): AmountCell[] =>
  [total, paid, due, moneyIn, out].flatMap((cell) =>
    cell === undefined || typeof cell.value === "boolean" || !cell.value.ok
      ? []
      : { name: cell.column, text: cell.cell, currencies: cell.value.value.currencies },
  );
