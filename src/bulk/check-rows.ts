/** Checks every row of a list before the first is sent, and finds out which row it is. */
import { setImmediate } from "node:timers/promises";
import type { Problem } from "../domain/errors.ts";
import { cellText } from "../lists/cells.ts";
import type { Columns } from "../lists/columns.ts";
import { currenciesOf } from "../lists/currencies.ts";
import { totalIn } from "../lists/leftovers.ts";
import { otherSpellings } from "../lists/order-numbers.ts";
import { addTo, type ResultLink, type RowToPlan } from "./plan.ts";
import type { List, ListRow } from "../lists/read-list.ts";
import { linkedAt, linkIn, ownColumns, resultColumnsOf } from "./results.ts";
import { RowProblems, type RowProblem } from "../lists/row-problems.ts";
import { requestOf, type RowContext, type RowIdentity } from "./row.ts";

export interface CheckedRow extends RowToPlan {
  readonly row: ListRow;
  readonly problems: readonly Problem[];
  /** Where it goes; undefined for a row that cannot be sent. */
  readonly terminal: string | undefined;
}

export interface Checked {
  /** Of every row, in the order of the list. */
  readonly rows: readonly CheckedRow[];
  /** The places of the rows whose order number has other spellings. */
  readonly respellable: readonly number[];
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
  signal,
  checked,
}: CheckParts): Promise<Checked> {
  const warnings = new RowProblems();
  const rows: CheckedRow[] = [];
  const respellable: number[] = [];
  const names = resultColumnsOf(list);
  for (const row of list.rows) {
    if (rows.length % TURN === 0) await setImmediate();
    signal.throwIfAborted();
    const found = requestOf(row, context, now);
    const isValid = found.request !== null;
    const identity = found.identity();
    if (isValid) warnings.add(row, found.warnings());
    const own = resultLinkOf(row, identity, undefined, names, context);
    if (isValid && own === undefined) warnings.add(row, linkElsewhere(row, names));
    if (otherSpellings(identity?.orderNumber ?? "").length > 0) respellable.push(rows.length);
    const { problems } = found;
    rows.push({ row, problems, identity, key: identity?.key, terminal: identity?.terminal, own, isValid });
    checked();
  }
  const total = totalIn(list.rows);
  const last = list.rows.at(-1);
  if (total !== undefined && last !== undefined) warnings.add(last, [total]);
  const unsent = ownColumns(list).filter(({ field }) => field === undefined);
  const currencies = unsent.filter(({ name }) => !columns.isMapped(name) && isOfCurrencies(list.rows, name));
  return {
    rows,
    respellable,
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

function resultLinkOf(
  row: ListRow,
  identity: RowIdentity | undefined,
  payment: string | undefined,
  names: ReturnType<typeof resultColumnsOf>,
  { service }: RowContext,
): ResultLink | undefined {
  const link = identity && linkIn(row, names, { service, terminal: identity.terminal });
  return link && { ...link, payment };
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

/** The links of a results file by the key of their rows. Rows that cannot be read again have none. */
export function linksByKey(list: List, context: RowContext, now: Date): Map<string, ResultLink[]> {
  const found = new Map<string, ResultLink[]>();
  const names = resultColumnsOf(list);
  for (const row of list.rows) {
    const identity = requestOf(row, { ...context, list }, now).identity();
    const [link, key] = [resultLinkOf(row, identity, identity?.payment, names, context), identity?.key];
    if (link !== undefined && key !== undefined) addTo(found, key, link);
  }
  return found;
}
