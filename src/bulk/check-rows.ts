/** The first pass over a list: every row is checked before the first is sent, and what each asks for is kept as a number. */
import { createHash } from "node:crypto";
import type { Problem } from "../domain/errors.ts";
import { NumberList } from "./number-list.ts";
import { fingerprintOf, type Row } from "./row.ts";
import { requestOf, type BuildRequest } from "./row-request.ts";
import { Warnings, type RowWarning } from "./row-warnings.ts";

export interface Checked {
  /** What each row asks for, by its position. */
  readonly asks: NumberList;
  /** The positions of the rows that cannot be sent. */
  readonly invalid: ReadonlySet<number>;
  /** What is odd about rows that can be sent. */
  readonly warnings: readonly RowWarning[];
  /** Every column of the file in the order of its first appearance, and whether it is sent. */
  readonly columns: ReadonlyMap<string, boolean>;
  /** A digest of what all rows ask for: the same list under another name is known by it. */
  readonly content: string;
}

interface CheckParts {
  readonly rows: AsyncIterable<Row>;
  readonly build: BuildRequest;
  readonly now: Date;
  /** Fires where the user has had enough. */
  readonly signal: AbortSignal;
  /** Whether an earlier run is done with the row; then nothing in it needs to be right any more. */
  readonly isDone: (index: number) => boolean;
  /** Hears of each row that was checked, with what is wrong with it. */
  readonly checked: (row: Row, problems: readonly Problem[]) => void;
}

export async function checkRows(parts: CheckParts): Promise<Checked> {
  const { rows, build, now, signal, isDone, checked } = parts;
  const asks = new NumberList();
  const invalid = new Set<number>();
  const odd = new Warnings();
  const columns = new Map<string, boolean>();
  const content = createHash("sha256");
  for await (const row of rows) {
    signal.throwIfAborted();
    const { problems, warnings } = isDone(row.index) ? NOTHING_WRONG : requestOf(row, build, now);
    if (problems.length > 0) invalid.add(row.index);
    else odd.add(row, warnings);
    const fingerprint = fingerprintOf(row);
    asks.set(row.index, fingerprint);
    content.update(`${fingerprint}\n`);
    for (const { column } of row.cells) columns.set(column.name, column.field !== undefined);
    checked(row, problems);
  }
  return { asks, invalid, warnings: odd.list(), columns, content: content.digest("hex") };
}

const NOTHING_WRONG = { problems: [], warnings: [] };
