/** What each row of a list says of its money: its total, what was paid and is due, its state, and money in and out. */
import { comparableText } from "../values/comparable-text.ts";
import { compareAmounts, scaledAmount, signOf } from "../domain/money.ts";
import type { Parsed } from "../values/parse-result.ts";
import { listedAmount, type CellAmount } from "./amounts.ts";
import { cellText } from "./cells.ts";
import type { Column } from "./columns.ts";
import type { ListRow } from "./read-list.ts";
import { spellingOf, stateIn, type ColumnRole, type PaymentState } from "./column-words.ts";

/** What a cell says, and where. */
export interface Said<Value> {
  readonly column: string;
  readonly cell: string;
  readonly value: Value;
}

export interface RowMoney {
  readonly total: Said<Parsed<CellAmount>> | undefined;
  /** `true` or `false` where it is only said whether it was paid. */
  readonly paid: Said<Parsed<CellAmount> | boolean> | undefined;
  readonly due: Said<Parsed<CellAmount>> | undefined;
  readonly in: Said<Parsed<CellAmount>> | undefined;
  readonly out: Said<Parsed<CellAmount>> | undefined;
  /** Money that came in has a column of its own, so that the one of money out is its counterpart, and no refund of the total. */
  readonly hasIn: boolean;
  /** An unknown word is undefined. */
  readonly states: readonly Said<PaymentState | undefined>[];
  /** Of a column of two signs. */
  readonly side: Said<"in" | "out"> | undefined;
  /** The column for the kind of a line says that money went back. */
  readonly kind: Said<"refunded"> | undefined;
  /** It has a date of its end, or says yes to it. */
  readonly voidOn: Said<"void"> | undefined;
}

/** The sign of a column of two signs, as one letter of each side. */
const SIDES: ReadonlyMap<string, "D" | "C"> = new Map([
  ...["s", "soll", "d", "dr", "debit", "dbit", "debe", "dare", "af", "ma", "debet"].map(
    (word) => [word, "D"] as const,
  ),
  ...["h", "haben", "c", "cr", "credit", "crdt", "k", "haber", "avere", "bij", "kredit"].map(
    (word) => [word, "C"] as const,
  ),
]);

const sideOf = (cell: string): "D" | "C" | undefined =>
  cell === "-" || cell === "−" ? "D" : cell === "+" ? "C" : SIDES.get(spellingOf(cell));

const YES: ReadonlySet<string> = new Set("yes y true ja j x oui o si s sim tak t да".split(" "));
const NO: ReadonlySet<string> = new Set("no n false nein non nao nee nie нет never".split(" "));

/** Names for a state of a payment, and for a part of a country. */
const MONEY_PLACES: ReadonlySet<string> = new Set(["state", "estado", "stato", "etat"]);

type Rows = readonly ListRow[];

export interface MoneyOptions {
  readonly decimalComma: boolean;
  /** The names of columns that say something else. */
  readonly others?: readonly string[];
}

/** The reader of the rows of one list: what a column is may depend on all of its cells. */
export class ListMoney {
  private readonly decimalComma: boolean;
  /** Columns whose names could mean more, and whose cells say nothing of a payment. */
  private readonly silent: ReadonlySet<string>;
  /** Columns whose cells are 1 and 0 for yes and no. */
  private readonly flags: ReadonlySet<string>;
  /** The side on which most lines of a column of two signs are: money that came in. */
  private readonly moneyIn: ReadonlyMap<string, { readonly side: "D" | "C"; readonly cell: string }>;

  constructor(columns: readonly Column[], rows: Rows, { decimalComma, others = [] }: MoneyOptions) {
    this.decimalComma = decimalComma;
    const cellsOf = ({ name }: Column): string[] =>
      rows.flatMap(
        (row) =>
          moneyCellAt(
            row,
            row.columns.findIndex((column) => column.name === name),
          ) || [],
      );
    const ofRole = (role: ColumnRole): Column[] => columns.filter((column) => column.role === role);
    this.silent = new Set(
      [
        ...ofRole("running").filter((column) => this.isRunning(column, columns, rows)),
        ...ofRole("state").filter(
          (column) =>
            MONEY_PLACES.has(spellingOf(column.name)) &&
            !cellsOf(column).some((cell) => stateIn(cell) !== undefined),
        ),
      ]
        .map(({ name }) => name)
        .concat(others),
    );
    this.flags = new Set(
      ofRole("paid")
        .filter((column) => cellsOf(column).every((cell) => cell === "0" || cell === "1"))
        .map(({ name }) => name),
    );
    this.moneyIn = new Map(
      ofRole("sign").map((column) => {
        const said = column.moneyIn === undefined ? undefined : sideOf(column.moneyIn);
        const cells = cellsOf(column);
        const debits = cells.filter((cell) => sideOf(cell) === "D").length;
        const isDebit = debits > cells.filter((cell) => sideOf(cell) === "C").length;
        const side = said ?? (isDebit ? "D" : "C");
        return [column.name, { side, cell: cells.find((cell) => sideOf(cell) === side) ?? "" }];
      }),
    );
  }

  /** The sign for money that came in, by the columns of two signs. */
  signsOfMoneyIn(): ReadonlyMap<string, string> {
    return new Map([...this.moneyIn].map(([name, { cell }]) => [name, cell]));
  }

  /** Whether the column is read: by its name, and by its cells. */
  isSilent(name: string): boolean {
    return this.silent.has(name);
  }

  of(row: ListRow): RowMoney {
    const find = (is: (column: Column) => boolean): Said<string> | undefined => this.find(row, is);
    const amount = (is: (column: Column) => boolean): Said<Parsed<CellAmount>> | undefined => {
      const found = find(is);
      return found && { ...found, value: listedAmount(found.cell, this.decimalComma) };
    };
    const has = (role: ColumnRole) => (column: Column) => column.role === role;
    const side = find(has("sign"));
    const voidOn = find(has("voidOn"));
    const kind = find(
      (column) =>
        (column.role === "kind" || column.field === "transactionType") &&
        stateIn(cellOf(row, column)) === "refunded",
    );
    return {
      total: amount(({ field, meant }) => (field ?? meant) === "amount"),
      paid: this.paidIn(find(has("paid")) ?? find(has("paidOn")), row),
      due: amount(({ role }) => role === "due" || role === "running"),
      in: amount(has("in")),
      out: amount(has("out")),
      hasIn: row.columns.some(has("in")),
      states: row.columns.filter(has("state")).flatMap((column) => {
        const found = this.find(row, (one) => one === column);
        return found === undefined ? [] : { ...found, value: stateIn(found.cell) };
      }),
      side: side && this.sideIn(side),
      kind: kind && { ...kind, value: "refunded" },
      voidOn:
        voidOn === undefined || voidOn.cell === "0" || NO.has(spellingOf(voidOn.cell))
          ? undefined
          : { ...voidOn, value: "void" },
    };
  }

  /** The first filled cell of such a column. */
  private find(row: ListRow, is: (column: Column) => boolean): Said<string> | undefined {
    for (const [place, column] of row.columns.entries()) {
      const cell = is(column) && !this.silent.has(column.name) ? moneyCellAt(row, place) : "";
      if (cell !== "") return { column: column.name, cell, value: cell };
    }
    return undefined;
  }

  private paidIn(found: Said<string> | undefined, row: ListRow): RowMoney["paid"] {
    if (found === undefined) return undefined;
    const { column, cell } = found;
    const word = spellingOf(cell);
    const isDate = row.columns.some(({ name, role }) => name === column && role === "paidOn");
    if (NO.has(word) || word === "") return { ...found, value: false };
    if (isDate || YES.has(word)) return { ...found, value: true };
    if (this.flags.has(column)) return { ...found, value: cell === "1" };
    const amount = listedAmount(cell, this.decimalComma);
    // A date, or any other remark.
    return { ...found, value: amount.ok || /^[\d.,\s]+$/.test(cell) ? amount : true };
  }

  private sideIn(found: Said<string>): RowMoney["side"] {
    const side = sideOf(found.cell);
    if (side === undefined) return undefined;
    return { ...found, value: side === this.moneyIn.get(found.column)?.side ? "in" : "out" };
  }

  /** Whether it is the balance of an account after each line, and not what is due of it. */
  private isRunning({ name }: Column, columns: readonly Column[], rows: Rows): boolean {
    const roles = new Set(columns.map(({ role }) => role));
    const besides = new Set(columns.map((column) => spellingOf(column.name)));
    if (roles.has("in") || roles.has("sign") || (besides.has("fee") && besides.has("net"))) return true;
    return rows.some((row) => {
      const place = row.columns.findIndex((column) => column.name === name);
      const total = row.columns.findIndex(({ field, meant }) => (field ?? meant) === "amount");
      const [balance, amount] = [place, total].map((at) => this.unitsAt(row, at));
      return balance !== undefined && amount !== undefined && Math.abs(balance) > Math.abs(amount);
    });
  }

  private unitsAt(row: ListRow, place: number): number | undefined {
    const read = listedAmount(moneyCellAt(row, place), this.decimalComma);
    return read.ok ? scaledAmount(read.value.amount) : undefined;
  }
}

const moneyCellAt = ({ values }: ListRow, place: number): string =>
  comparableText(cellText(values[place] ?? null));

const cellOf = (row: ListRow, column: Column): string => moneyCellAt(row, row.columns.indexOf(column));

/** -1, 0 or 1. */
export const signOfCell = (cell: CellAmount): -1 | 0 | 1 => signOf(cell.amount);

export const isLess = (one: CellAmount, other: CellAmount): boolean =>
  compareAmounts(one.amount, other.amount) < 0;
