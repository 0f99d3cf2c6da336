/** The first pass over a list: checks every row before the first is sent, and keeps a fingerprint of each. */
import { createHash } from "node:crypto";
import type { Problem } from "../domain/errors.ts";
import { NumberList } from "./number-list.ts";
import { fingerprintOf, type Row } from "./row.ts";
import { requestOf, type BuildRequest } from "./row-request.ts";
import { Warnings, type RowWarning } from "./row-warnings.ts";

export interface Checked {
  /** The fingerprint of each row, by its position. */
  readonly asks: NumberList;
  /** The positions of the invalid rows. */
  readonly invalid: ReadonlySet<number>;
  /** Warnings about valid rows. */
  readonly warnings: readonly RowWarning[];
  /** Every column of the file, in order of appearance, and whether it is sent. */
  readonly columns: ReadonlyMap<string, boolean>;
  /** A digest of all fingerprints, which identifies the list after it was renamed. */
  readonly content: string;
}

interface CheckParts {
  readonly rows: AsyncIterable<Row>;
  readonly build: BuildRequest;
  readonly now: Date;
  /** Fires when the user interrupts. */
  readonly signal: AbortSignal;
  /** Whether an earlier run completed the row, so that it need not be valid any more. */
  readonly isDone: (index: number) => boolean;
  /** Called for each checked row, with its problems. */
  readonly checked: (row: Row, problems: readonly Problem[]) => void;
}

export async function checkRows(parts: CheckParts): Promise<Checked> {
  const { rows, build, now, signal, isDone, checked } = parts;
  const asks = new NumberList();
  const invalid = new Set<number>();
  const rowWarnings = new Warnings();
  const columns = new Map<string, boolean>();
  const content = createHash("sha256");
  for await (const row of rows) {
    signal.throwIfAborted();
    const { problems, warnings } = isDone(row.index) ? NO_PROBLEMS : requestOf(row, build, now);
    if (problems.length > 0) invalid.add(row.index);
    else rowWarnings.add(row, warnings);
    const fingerprint = fingerprintOf(row);
    asks.set(row.index, fingerprint);
    content.update(`${fingerprint}\n`);
    for (const { column } of row.cells) columns.set(column.name, column.field !== undefined);
    checked(row, problems);
  }
  return { asks, invalid, warnings: rowWarnings.list(), columns, content: content.digest("hex") };
}

const NO_PROBLEMS = { problems: [], warnings: [] };
