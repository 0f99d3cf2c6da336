/** The first pass over a list: checks every row before the first is sent. */
import type { PaymentLinkRequest } from "../domain/payment-link-values.ts";
import type { Problem } from "../domain/errors.ts";
import { isKnownCurrency, Sums } from "../domain/money.ts";
import type { Columns } from "./columns.ts";
import { digestOf, requestOf, textOf, type BuildRequest, type Row } from "./row.ts";
import type { CheckedRow } from "./sent-rows.ts";

export interface Checked {
  readonly problems: RowProblems;
  /** Warnings about valid rows. */
  readonly warnings: readonly RowProblem[];
  /** The name of every column of the file, in order of appearance. */
  readonly columns: ReadonlySet<string>;
  /** The columns that are only copied to the results. */
  readonly unsent: readonly string[];
  /** Those of them whose values are currencies, and that no `--map` leaves out. */
  readonly currencies: readonly string[];
  /** What the valid rows ask for. */
  readonly asked: Asked;
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
  readonly columns: Columns;
  readonly build: BuildRequest;
  readonly now: Date;
  /** Fires when the user interrupts. */
  readonly signal: AbortSignal;
  /** Called for each row. */
  readonly checked: (row: CheckedRow) => void;
  /** Called for each row that cannot be sent. */
  readonly invalid: (row: Row, problems: readonly Problem[]) => void;
}

export async function checkRows(parts: CheckParts): Promise<Checked> {
  const { rows, columns, build, now, signal, checked, invalid } = parts;
  const [problems, warnings] = [new RowProblems(), new RowProblems()];
  const names = new Set<string>();
  /** Each with whether all of its values are currencies; undefined without a value. */
  const unsent = new Map<string, boolean | undefined>();
  const asked = new Asked();
  for await (const row of rows) {
    signal.throwIfAborted();
    const { line } = row;
    const found = requestOf(row, build, now);
    if (found.request === null) {
      problems.add(row, found.problems);
      invalid(row, found.problems);
      checked({ line });
    } else {
      const { invoiceId } = found.request;
      checked({ line, digest: digestOf(found.meant), orderNumber: invoiceId === "" ? undefined : invoiceId });
      asked.add(found.request);
      warnings.add(row, found.warnings());
    }
    for (const { column, value } of row.cells) {
      const { name, field } = column;
      names.add(name);
      if (field !== undefined) continue;
      const known = unsent.get(name);
      const text = known === false ? "" : textOf(value).trim();
      unsent.set(name, text === "" ? known : isKnownCurrency(text));
    }
  }
  return {
    problems,
    warnings: warnings.list(),
    columns: names,
    unsent: [...unsent.keys()],
    currencies: [...unsent].flatMap(([name, isCurrency]) =>
      isCurrency === true && !columns.isMapped(name) ? [name] : [],
    ),
    asked,
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
  /** The problems of further kinds. */
  others = 0;

  add({ line }: Pick<Row, "line">, problems: readonly Problem[]): void {
    for (const { at, message, kind = message } of problems) {
      const name = `${at} ${kind}`;
      const known = this.found.get(name) ?? { at, message, line, lines: [], rows: 0 };
      const lines = known.lines.length < NAMED_LINES ? [...known.lines, line] : known.lines;
      if (known.rows > 0 || this.found.size < MAX_KINDS) {
        this.found.set(name, { ...known, lines, rows: known.rows + 1 });
      } else this.others++;
    }
  }

  list(): RowProblem[] {
    return [...this.found.values()];
  }
}
