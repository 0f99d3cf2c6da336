/** The first pass over a list: checks every row before the first is sent, and keeps a digest of each. */
import { NumberList } from "./number-list.ts";
import type { Row } from "./row.ts";
import { requestOf, type BuildRequest } from "./row-request.ts";
import { Warnings, type RowWarning } from "./row-warnings.ts";

export interface Checked {
  /** The digest of each row, by its position. */
  readonly asks: NumberList;
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

export async function checkRows(parts: CheckParts): Promise<Checked> {
  const { rows, build, now, signal, checked } = parts;
  const asks = new NumberList();
  const invalid = new Set<number>();
  const rowWarnings = new Warnings();
  const columns = new Map<string, boolean>();
  for await (const row of rows) {
    signal.throwIfAborted();
    const { problems, warnings, digest } = requestOf(row, build, now);
    if (problems.length > 0) invalid.add(row.index);
    else rowWarnings.add(row, warnings());
    asks.set(row.index, digest);
    for (const { column } of row.cells) columns.set(column.name, column.field !== undefined);
    checked();
  }
  return { asks, invalid, warnings: rowWarnings.list(), columns };
}
