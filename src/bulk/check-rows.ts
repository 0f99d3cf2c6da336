/** The first pass over a list: checks every row before the first is sent, and keeps a digest of each. */
import type { Problem } from "../domain/errors.ts";
import { requestOf, type BuildRequest, type Row } from "./row.ts";

export interface Checked {
  /** The digest of each row, by its position. */
  readonly digests: ArrayLike<number>;
  /** The positions of the invalid rows. */
  readonly invalid: ReadonlySet<number>;
  /** Warnings about valid rows. */
  readonly warnings: readonly RowWarning[];
  /** Every column of the file, in order of appearance, and whether it is sent. */
  readonly columns: ReadonlyMap<string, boolean>;
}

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
  [...columns].flatMap(([name, isSent]) => (isSent ? [] : [name]));

const FIRST_ROWS = 1024;

export async function checkRows(parts: CheckParts): Promise<Checked> {
  const { rows, build, now, signal, checked } = parts;
  // An array of numbers would take twice as much memory while it grows.
  let digests = new Float64Array(FIRST_ROWS);
  let count = 0;
  const invalid = new Set<number>();
  const rowWarnings = new Warnings();
  const columns = new Map<string, boolean>();
  for await (const row of rows) {
    signal.throwIfAborted();
    const { problems, warnings, digest } = requestOf(row, build, now);
    if (problems.length > 0) invalid.add(row.index);
    else rowWarnings.add(row, warnings());
    if (count === digests.length) {
      const larger = new Float64Array(count * 2);
      larger.set(digests);
      digests = larger;
    }
    digests[count++] = digest;
    for (const { column } of row.cells) columns.set(column.name, column.field !== undefined);
    checked();
  }
  return { digests: digests.subarray(0, count), invalid, warnings: rowWarnings.list(), columns };
}

export interface RowWarning extends Problem {
  /** The line of the first row. */
  readonly line: number;
  /** The number of rows with this warning. */
  readonly rows: number;
}

/** The most kinds to keep: a service may name any number of fields. */
const MAX_KINDS = 20;

export class Warnings {
  private readonly kinds = new Map<string, RowWarning>();

  add({ line }: Row, warnings: readonly Problem[]): void {
    for (const { at, message, kind = message } of warnings) {
      const name = `${at} ${kind}`;
      const known = this.kinds.get(name) ?? { at, message, line, rows: 0 };
      if (known.rows > 0 || this.kinds.size < MAX_KINDS)
        this.kinds.set(name, { ...known, rows: known.rows + 1 });
    }
  }

  list(): RowWarning[] {
    return [...this.kinds.values()];
  }
}
