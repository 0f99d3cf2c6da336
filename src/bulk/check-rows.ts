/** The first pass over a list: checks every row before the first is sent, and keeps a digest of each. */
import type { Problem } from "../domain/errors.ts";
import { Sums } from "../domain/money.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import type { Column } from "./columns.ts";
import { Numbers, repeatedRows, RowSet, type Repeats } from "./repeated-rows.ts";
import { orderDigest, requestOf, type BuildRequest, type Row } from "./row.ts";

export interface Checked {
  /** The digest of each row, by its position. */
  readonly digests: Float64Array;
  /** The positions of the invalid rows. */
  readonly invalid: RowSet;
  readonly problems: RowProblems;
  /** Warnings about valid rows. */
  readonly warnings: readonly RowProblem[];
  /** Every column of the file, in order of appearance, and whether it is sent. */
  readonly columns: ReadonlyMap<string, Column>;
  /** What the valid rows ask for. */
  readonly asked: Asked;
  /** Valid rows that ask for the same payment. */
  readonly identical: Repeats;
  /** Valid rows that have one order number and ask for different payments. */
  readonly sameOrder: Repeats;
}

/** What rows ask for, all together. */
export class Asked {
  readonly sums = new Sums();
  /** The first links. */
  readonly first: PaymentLinkRequest[] = [];
  rows = 0;

  add(request: PaymentLinkRequest): void {
    this.rows++;
    this.sums.add(request.amount, request.currency);
    if (this.first.length < SHOWN) this.first.push(request);
  }
}

/** Links that are shown before they are sent. */
const SHOWN = 3;

interface CheckParts {
  readonly rows: AsyncIterable<Row>;
  readonly build: BuildRequest;
  readonly now: Date;
  /** Fires when the user interrupts. */
  readonly signal: AbortSignal;
  /** Called for each row. */
  readonly checked: () => void;
}

/** The columns that are only copied to the results. */
export const unsentColumns = ({ columns }: Pick<Checked, "columns">): string[] =>
  [...columns.values()].flatMap(({ name, field }) => (field === undefined ? [name] : []));

export async function checkRows(parts: CheckParts): Promise<Checked> {
  const { rows, build, now, signal, checked } = parts;
  const digests = new Numbers();
  const orders = new Numbers();
  const invalid = new RowSet();
  const [rowProblems, rowWarnings] = [new RowProblems(), new RowProblems()];
  const columns = new Map<string, Column>();
  const asked = new Asked();
  for await (const row of rows) {
    signal.throwIfAborted();
    const { request, problems, warnings, digest } = requestOf(row, build, now);
    digests.add(digest);
    orders.add(orderDigest(request?.invoiceId));
    if (request === null) {
      invalid.add(row.index);
      rowProblems.add(row, problems);
    } else {
      asked.add(request);
      rowWarnings.add(row, warnings());
    }
    for (const { column } of row.cells) columns.set(column.name, column);
    checked();
  }
  const isValid = (row: number): boolean => !invalid.has(row);
  return {
    digests: digests.list(),
    invalid,
    problems: rowProblems,
    warnings: rowWarnings.list(),
    columns,
    asked,
    identical: repeatedRows(digests.list(), isValid),
    sameOrder: repeatedRows(orders.list(), isValid, (row) => digests.at(row)),
  };
}

/** The same problem, or warning, of one row or more. */
export interface RowProblem extends Problem {
  /** The line of the first row, and of those after it that are named. */
  readonly line: number;
  readonly lines: readonly number[];
  /** The number of rows. */
  readonly rows: number;
}

/** The most kinds to keep: a service may name any number of fields. */
const MAX_KINDS = 20;
const NAMED_LINES = 3;

/** Puts together what many rows have in common. */
export class RowProblems {
  private readonly found = new Map<string, RowProblem>();
  /** The kinds of problems. */
  readonly kinds = new Set<string>();
  /** The problems of further kinds. */
  others = 0;

  add({ line }: Pick<Row, "line">, problems: readonly Problem[]): void {
    for (const { at, message, kind = message } of problems) {
      const name = `${at} ${kind}`;
      const known = this.found.get(name) ?? { at, message, line, lines: [], rows: 0 };
      const lines = known.lines.length < NAMED_LINES ? [...known.lines, line] : known.lines;
      if (known.rows > 0 || this.found.size < MAX_KINDS) {
        this.found.set(name, { ...known, lines, rows: known.rows + 1 });
        this.kinds.add(kind);
      } else this.others++;
    }
  }

  list(): RowProblem[] {
    return [...this.found.values()];
  }
}
