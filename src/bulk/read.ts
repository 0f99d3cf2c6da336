/** Checks every row of a list before the first is sent, and finds out which row it is. */
import { setImmediate } from "node:timers/promises";
import type { Problem } from "../domain/errors.ts";
import { cellText } from "../lists/cells.ts";
import type { Columns } from "../lists/columns.ts";
import { currenciesOf } from "../lists/currencies.ts";
import { type Choice, isChosen } from "../lists/chosen-rows.ts";
import { totalIn } from "../lists/leftovers.ts";
import type { RowToPlan } from "./plan.ts";
import type { Attempt } from "../store/sent-rows.ts";
import type { List, ListRow } from "../lists/read-list.ts";
import { attemptIn, linkedAt, ownColumns, resultColumnsOf } from "./results.ts";
import { RowProblems, type RowProblem } from "../lists/row-problems.ts";
import { requestOf, type RowContext } from "./row.ts";

export interface CheckedRow extends RowToPlan {
  readonly row: ListRow;
  readonly problems: readonly Problem[];
}

export interface Checked {
  /** Of every row, in the order of the list. */
  readonly rows: readonly CheckedRow[];
  /** Warnings about valid rows. */
  readonly warnings: readonly RowProblem[];
  /** The columns that are only copied to the results. */
  readonly unsent: readonly string[];
  /** Those of them whose values are currencies, and that no `--map` leaves out. */
  readonly currencies: readonly string[];
}

export interface CheckParts {
  readonly list: List;
  readonly columns: Columns;
  readonly context: RowContext;
  readonly now: Date;
  /** Which rows are chosen: the others are skipped. */
  readonly only: readonly Choice[];
  /** Fires when the user interrupts. */
  readonly signal: AbortSignal;
  /** Called for each row. */
  readonly checked: () => void;
}

/** Rows that are read before signals and the terminal get a turn, and unused memory is freed. */
export const TURN = 1000;

export async function checkRows({
  list,
  columns,
  context,
  now,
  only,
  signal,
  checked,
}: CheckParts): Promise<Checked> {
  const warnings = new RowProblems();
  const rows: CheckedRow[] = [];
  const names = resultColumnsOf(list);
  for (const row of list.rows) {
    if (rows.length % TURN === 0) await setImmediate();
    signal.throwIfAborted();
    const found = requestOf(row, context, now);
    const isValid = found.request !== null;
    const identity = found.identity();
    const isSent = isValid && isChosen(row, only);
    if (isSent) warnings.add(row, found.warnings());
    const own = identity && attemptIn(row, names, context.service, { ...identity, payment: undefined });
    if (isSent && own === undefined) warnings.add(row, linkElsewhere(row, names));
    const { problems } = found;
    rows.push({ row, problems, identity, own, isValid, isChosen: isChosen(row, only) });
    checked();
  }
  const total = totalIn(list.rows);
  const last = list.rows.at(-1);
  if (total !== undefined && last !== undefined) warnings.add(last, [total]);
  const unsent = ownColumns(list).filter(({ field }) => field === undefined);
  const currencies = unsent.filter(({ name }) => !columns.isMapped(name) && isOfCurrencies(list.rows, name));
  return {
    rows,
    warnings: warnings.list(),
    unsent: unsent.map(({ name }) => name),
    currencies: currencies.map(({ name }) => name),
  };
}

/** A row that was sent somewhere else is new here: its customer may then have two links. */
function linkElsewhere(row: ListRow, names: ReturnType<typeof resultColumnsOf>): Problem[] {
  const place = names.size === 0 ? "" : linkedAt(row, names);
  return place === "" ? [] : [{ at: "", message: `has a link at ${place}, which does not count here` }];
}

/** Whether all values of a column are currencies, and there is one. */
function isOfCurrencies(rows: readonly ListRow[], name: string): boolean {
  let isFound = false;
  for (const { columns, values } of rows) {
    const text = cellText(values[columns.findIndex((column) => column.name === name)] ?? null).trim();
    if (text === "") continue;
    if (currenciesOf(text) === undefined) return false;
    isFound = true;
  }
  return isFound;
}

/** What the rows of a results file were sent with. Rows that cannot be read again have nothing. */
export function attemptsIn(list: List, context: RowContext, now: Date): Attempt[] {
  const names = resultColumnsOf(list);
  return list.rows.flatMap((row) => {
    const identity = requestOf(row, { ...context, list }, now).identity();
    return (identity && attemptIn(row, names, context.service, identity)) ?? [];
  });
}
