/** What each row of a list says of its money: its total, what was paid and is due, its state, and money in and out. */
import { comparableText } from "../values/comparable-text.ts";
import { compareAmounts, scaledAmount, signOf } from "../domain/money.ts";
import type { Parsed } from "../values/parse-result.ts";
import { listedAmount, type CellAmount } from "./amounts.ts";
import type { Json } from "../values/json.ts";
import { cellText } from "./cells.ts";
import type { Column } from "./columns.ts";
import type { ListRow } from "./read-list.ts";
import {
  DATE_CELL,
  INVOICE_KIND,
  PAYMENT_KIND,
  sideOf,
  spellingOf,
  stateIn,
  type ColumnRole,
  type PaymentState,
} from "./column-words.ts";

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
  /** The column for the kind of a line says that money went back, that it failed, or that it is an invoice, whose payment is another line. */
  readonly kind: Said<"refunded" | "failed" | "open"> | undefined;
  /** It has a date of its end, or says yes to it. */
  readonly voidOn: Said<"void"> | undefined;
}

/** What a bank alone writes: these are money that comes in, whatever most lines are. */
const BANK_SIDES: ReadonlySet<string> = new Set(["bij", "af", "crdt", "dbit", "in", "out", ""]);

// Spreadsheets write TRUE and FALSE in their own language, and tables have ticks.
const YES: ReadonlySet<string> = new Set(
  "yes y true ja j x oui o si s sim tak t да wahr vrai verdadero vero verdadeiro waar prawda sant checked ✓ ✔ ☑ ✅ √".split(
    " ",
  ),
);
const NO: ReadonlySet<string> = new Set(
  "no n false nein non nao nee nie нет never falsch faux falso onwaar fałsz falskt falsk unchecked nej nei none notyet nochnicht pasencore ☐ ✗ ✘ ❌ - – —".split(
    " ",
  ),
);
const answerIn = (cell: string): boolean | undefined => {
  const word = spellingOf(cell) || cell.replace(/\uFE0F/g, "");
  return YES.has(word) ? true : NO.has(word) ? false : undefined;
};

/** States of a payment that has not come. */
export const NOT_PAID: ReadonlySet<PaymentState | undefined> = new Set(["open", "void", "draft", "failed"]);

/** Names for a state of a payment, and for a part of a country. */
const MONEY_PLACES: ReadonlySet<string> = new Set(["state", "estado", "stato", "etat"]);

type Rows = readonly ListRow[];
type IsTold = (column: Column, cell: string) => boolean;

export interface MoneyOptions {
  readonly decimalComma: boolean;
  /** The names of columns that say something else. */
  readonly others?: readonly string[];
}

/**
 * Where a line of DATEV's has money that came in, by the account on either side and Soll/Haben's meaning for the first: an account
 * of money begins with 1, a customer's is longer, and those of sales begin with 8, or with 4 where 12 are what customers owe.
 * A line without an account of money is an invoice.
 */
function bookedOn(account: string, contra: string): "D" | "C" | "open" {
  const isMoney = (one: string, other: string): boolean => {
    if (one.length !== other.length) return one.length < other.length && one.startsWith("1");
    return (other.startsWith("8") ? /^1[0-3]/ : other.startsWith("4") ? /^1[678]/ : /^1/).test(one);
  };
  if (isMoney(account, contra)) return "D";
  return isMoney(contra, account) ? "C" : "open";
}

/** The reader of the rows of one list: what a column is may depend on all of its cells. */
export class ListMoney {
  private readonly decimalComma: boolean;
  /** Columns whose names could mean more, and whose cells say nothing of a payment. */
  private readonly silent: ReadonlySet<string>;
  /** Columns whose cells are 1 and 0 for yes and no. */
  private readonly flags: ReadonlySet<string>;
  /** Columns for the kind of a line, of lists that have payments beside invoices. */
  private readonly ledgers: ReadonlySet<string>;
  /** Of two accounts in each line, and nobody has said which side is money that came in. */
  private readonly isJournal: boolean;
  /** The side on which most lines of a column of two signs are: money that came in. */
  private readonly moneyIn: ReadonlyMap<string, { readonly side: "D" | "C"; readonly cell: string }>;

  constructor(columns: readonly Column[], rows: Rows, { decimalComma, others = [] }: MoneyOptions) {
    this.decimalComma = decimalComma;
    const cellsOf = ({ name }: Column): string[] =>
      rows.flatMap((row) => moneyCellAt(row, columnPlace(row, name)) || []);
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
    this.ledgers = new Set(
      ofRole("kind")
        .filter((column) => cellsOf(column).some((cell) => PAYMENT_KIND.test(spellingOf(cell))))
        .map(({ name }) => name),
    );
    this.isJournal =
      ofRole("account").length === 2 && ofRole("sign").every(({ moneyIn }) => moneyIn === undefined);
    this.moneyIn = new Map(
      ofRole("sign").map((column) => {
        const said = column.moneyIn === undefined ? this.signedSide(column, rows) : sideOf(column.moneyIn);
        const cells = cellsOf(column);
        const debits = cells.filter((cell) => sideOf(cell) === "D").length;
        const isOfBank = cells.every((cell) => BANK_SIDES.has(spellingOf(cell)));
        const isDebit = !isOfBank && debits > cells.filter((cell) => sideOf(cell) === "C").length;
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
    const told = this.told(row);
    const filled = (is: IsTold): Said<string>[] =>
      told.flatMap(([column, said]) => (is(column, said.cell) ? said : []));
    const find = (is: IsTold): Said<string> | undefined => filled(is)[0];
    const amounts = (is: IsTold): Said<Parsed<CellAmount>>[] =>
      filled(is).map((found) => ({ ...found, value: listedAmount(found.cell, this.decimalComma) }));
    const amount = (is: IsTold): Said<Parsed<CellAmount>> | undefined => amounts(is)[0];
    const has = (role: ColumnRole) => (column: Column) => column.role === role;
    const side = find(has("sign"));
    const outs = amounts((column, cell) => column.role === "out" && !isWord(cell));
    const paid = filled(has("paid")).map((found) => this.paidIn(found, row));
    const paidOn = find(has("paidOn"));
    // A refund may only be said.
    const voidOn = find(
      (column, cell) => column.role === "voidOn" || (column.role === "out" && isWord(cell)),
    );
    const kindIn = ({ column, cell }: Said<string>): NonNullable<RowMoney["kind"]>["value"] | undefined => {
      const state = stateIn(cell);
      if (state === "refunded" || state === "failed") return state;
      return this.ledgers.has(column) && INVOICE_KIND.test(spellingOf(cell)) ? "open" : undefined;
    };
    const [account, contra] = this.isJournal ? filled(has("account")) : [];
    const booked =
      account === undefined || contra === undefined ? undefined : bookedOn(account.cell, contra.cell);
    const [kind] = filled((column) => column.role === "kind" || column.field === "transactionType").flatMap(
      (found) => {
        const value = kindIn(found);
        return value === undefined ? [] : { ...found, value };
      },
    );
    return {
      total: amount(isAmountColumn),
      paid: paid.find(saysAmount) ?? paid[0] ?? (paidOn && this.paidIn(paidOn, row)),
      due: amount(({ role }) => role === "due" || role === "running"),
      in: amount(has("in")),
      out: outs.find(saysAmount) ?? outs[0],
      hasIn: row.columns.some(has("in")),
      states: filled(has("state")).map((found) => ({ ...found, value: stateIn(found.cell) })),
      side: side && this.sideIn(side, booked),
      kind: contra !== undefined && booked === "open" ? { ...contra, value: booked } : kind,
      voidOn:
        voidOn === undefined || voidOn.cell === "0" || answerIn(voidOn.cell) === false
          ? undefined
          : { ...voidOn, value: "void" },
    };
  }

  /** The filled cells of all columns that say something of the money. */
  private told({ columns, values }: ListRow): (readonly [Column, Said<string>])[] {
    const told: (readonly [Column, Said<string>])[] = [];
    for (const [place, column] of columns.entries()) {
      const isTelling =
        column.role !== undefined || isAmountColumn(column) || column.field === "transactionType";
      const cell = isTelling && !this.silent.has(column.name) ? moneyCell(values[place]) : "";
      if (cell !== "") told.push([column, { column: column.name, cell, value: cell }]);
    }
    return told;
  }

  private paidIn(found: Said<string>, { columns }: ListRow): RowMoney["paid"] {
    const { column, cell } = found;
    const answer = answerIn(cell);
    const isDate = columns.some(({ name, role }) => name === column && role === "paidOn");
    const state = stateIn(cell);
    if (answer === false || NOT_PAID.has(state)) return { ...found, value: false };
    if (isDate || answer === true || DATE_CELL.test(cell)) return { ...found, value: true };
    if (this.flags.has(column)) return { ...found, value: cell === "1" };
    const amount = listedAmount(cell, this.decimalComma);
    // Another form of a date, or any other remark.
    return { ...found, value: amount.ok || /^[\d.,\s]+$/.test(cell) ? amount : true };
  }

  private sideIn(found: Said<string>, booked: "D" | "C" | "open" | undefined): RowMoney["side"] {
    const side = sideOf(found.cell);
    if (side === undefined) return undefined;
    return { ...found, value: side === (booked ?? this.moneyIn.get(found.column)?.side) ? "in" : "out" };
  }

  /** Where the amounts have signs of their own, the side of those above 0; undefined where they have none, or both sides have either. */
  private signedSide({ name }: Column, rows: Rows): "D" | "C" | undefined {
    const negative = new Set<"D" | "C" | undefined>();
    const positive = new Set<"D" | "C" | undefined>();
    for (const row of rows) {
      const units = this.unitsAt(row, row.columns.findIndex(isAmountColumn)) ?? 0;
      const side = sideOf(moneyCellAt(row, columnPlace(row, name)));
      if (units !== 0) (units < 0 ? negative : positive).add(side);
    }
    if (negative.size !== 1 || [...positive].some((side) => negative.has(side))) return undefined;
    return negative.has("D") ? "C" : negative.has("C") ? "D" : undefined;
  }

  /** Whether it is the balance of an account after each line, and not what is due of it. */
  private isRunning({ name }: Column, columns: readonly Column[], rows: Rows): boolean {
    const roles = new Set(columns.map(({ role }) => role));
    if (roles.has("in") || roles.has("sign") || (roles.has("fee") && roles.has("net"))) return true;
    return rows.some((row) => {
      const [balance, amount] = [columnPlace(row, name), row.columns.findIndex(isAmountColumn)].map((at) =>
        this.unitsAt(row, at),
      );
      return balance !== undefined && amount !== undefined && Math.abs(balance) > Math.abs(amount);
    });
  }

  private unitsAt(row: ListRow, place: number): number | undefined {
    const read = listedAmount(moneyCellAt(row, place), this.decimalComma);
    return read.ok ? scaledAmount(read.value.amount) : undefined;
  }
}

const moneyCell = (value: Json | undefined): string => comparableText(cellText(value ?? null));
const moneyCellAt = ({ values }: ListRow, place: number): string => moneyCell(values[place]);

const columnPlace = ({ columns }: ListRow, name: string): number =>
  columns.findIndex((column) => column.name === name);

const isAmountColumn = ({ field, meant }: Column): boolean => (field ?? meant) === "amount";

const isWord = (cell: string): boolean => answerIn(cell) !== undefined || DATE_CELL.test(cell);

/** Of several such columns, the one that has an amount says most. */
const saysAmount = (said: RowMoney["paid"]): boolean =>
  said !== undefined &&
  typeof said.value !== "boolean" &&
  said.value.ok &&
  signOfCell(said.value.value) !== 0;

/** -1, 0 or 1. */
export const signOfCell = (cell: CellAmount): -1 | 0 | 1 => signOf(cell.amount);

export const isLess = (one: CellAmount, other: CellAmount): boolean =>
  compareAmounts(one.amount, other.amount) < 0;
