/** Problems and warnings of rows, put together where many rows have the same. */
import type { Problem } from "../domain/errors.ts";

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

export class RowProblems {
  private readonly found = new Map<string, RowProblem>();
  /** The problems of further kinds. */
  others = 0;

  add({ line }: { readonly line: number }, problems: readonly Problem[]): void {
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
