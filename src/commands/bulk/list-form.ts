/** What keeps a list from being sent before anything else is known: its columns, and rows that say what became of them. */
import { linesText, plural } from "../../values/plural.ts";
import { isOfLinks, ownColumns } from "../../bulk/results.ts";
import { requestOf, type RowContext } from "../../bulk/row.ts";
import { claimOf, type RowClaim } from "../../bulk/settled-rows.ts";
import type { Context } from "../../context.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { hint, typedFlag, type Hint } from "../../domain/hint.ts";
import { type Sum, Sums } from "../../domain/money.ts";
import { amountColumn, assumed, mapFlag } from "../../lists/columns.ts";
import { choiceProblems, isChosen } from "../../lists/chosen-rows.ts";
import type { List, ListRow } from "../../lists/read-list.ts";
import { ListMoney } from "../../lists/row-money.ts";
import { type RowProblem, RowProblems } from "../../lists/row-problems.ts";
import { renderRowProblem, renderSums } from "../../render/bulk.ts";
import { safeText } from "../../render/safe-text.ts";
import type { BulkOptions } from "./command.ts";

/** Undefined if the list can be read. Else every problem of it is named at once, its rows read as the advice says. */
export function formRefusal(context: Context, list: List, options: BulkOptions): PaylinkError | undefined {
  const { only, decimalComma } = options;
  const rows = list.rows.filter((row) => isChosen(row, only));
  const claims = claimsOf(list, rows, decimalComma);
  const columnProblems = [...list.problems, ...choiceProblems(list, only)];
  if (columnProblems.length === 0 && claims.length === 0) return undefined;
  const rowContext = rowContextOf({ ...list, columns: assumed(list.columns) }, options);
  const claimOfRow = new Map(claims.map((claim) => [claim.row, claim]));
  const found = new RowProblems();
  const claimed = new RowProblems();
  const sums = new Map<string, Sums>();
  for (const row of rows) {
    const { request, problems } = requestOf(
      { ...row, columns: assumed(row.columns) },
      rowContext,
      context.now(),
    );
    found.add(row, problems);
    const claim = claimOfRow.get(row);
    if (claim === undefined) continue;
    const { column: at, says } = claim;
    claimed.add(row, [{ at, message: says }]);
    const sum = sums.get(`${at} ${says}`) ?? new Sums();
    sums.set(`${at} ${says}`, sum);
    if (request !== null) sum.add(request.amount, request.currency);
  }
  for (const problem of found.list()) context.out.note(`  ${renderRowProblem(problem)}`);
  const message = [
    ...(columnProblems.length > 0 ? ["The columns cannot be read without guessing."] : []),
    ...(claims.length > 0
      ? [`The list says what became of ${plural(claims.length, "row")}: their customers may not have to pay.`]
      : []),
    ...(found.list().length > 0 ? ["Some rows cannot be sent: they are named above."] : []),
    "Nothing was sent.",
  ].join(" ");
  return new PaylinkError("usage", message, {
    problems: [
      ...columnProblems,
      ...claimed.list().map((one) => claimProblem(one, sums.get(`${one.at} ${one.message}`)?.list() ?? [])),
    ],
    hints:
      claims.length === 0 ? [] : claimHints(list, rows, claims, claimingColumns(list, rows, decimalComma)),
  });
}

/** What all rows have in common. */
export const rowContextOf = (
  list: List,
  { build, service = "", currencyEvidence: currency, accountFields: defaults }: BulkOptions,
): RowContext => ({ build, service, currency, defaults, list, isOfLinks: isOfLinks(list) });

/** What some rows say in a column, and what they ask for. */
const claimProblem = ({ at, message, lines, rows }: RowProblem, sums: readonly Sum[]): Problem => {
  const money = sums.length === 0 ? "" : `, ${renderSums(sums)}`;
  return { at, message: `says ${message} in ${plural(rows, "row")}${money} (${linesText(lines, rows)})` };
};

interface RowWithClaim extends RowClaim {
  readonly row: ListRow;
}

/** All that have to be left out: a row may say in several columns that it need not be paid. */
function claimingColumns(list: List, rows: readonly ListRow[], decimalComma: boolean): readonly string[] {
  const found = new Set<string>();
  for (let known = -1; known < found.size;) {
    known = found.size;
    for (const { column } of claimsOf(list, rows, decimalComma, found)) found.add(column);
  }
  return [...found];
}

function claimsOf(
  list: List,
  rows: readonly ListRow[],
  decimalComma: boolean,
  leftOut: Iterable<string> = [],
): RowWithClaim[] {
  // What paylink has written of the rows is asked of the service.
  if (isOfLinks(list)) return [];
  const own = new Set(ownColumns(list).map(({ name }) => name));
  const others = [...list.columns.filter(({ name }) => !own.has(name)).map(({ name }) => name), ...leftOut];
  const money = new ListMoney(list.columns, rows, { decimalComma, others });
  return rows.flatMap((row) => {
    const claim = claimOf(money.of(row));
    return claim === undefined ? [] : { ...claim, row };
  });
}

/** How to choose the rows that say nothing of the kind, or to send all in spite of it. */
function claimHints(
  list: List,
  rows: readonly ListRow[],
  claims: readonly RowWithClaim[],
  claiming: readonly string[],
): Hint[] {
  const claimed = new Set(claims.map(({ row }) => row));
  const others = rows.filter((row) => !claimed.has(row));
  const columns = [...new Set(claims.map(({ column }) => column))];
  const chosen = columns.flatMap((column) => {
    const cells = others.flatMap(({ columns: own, values }) => {
      const value = values[own.findIndex(({ name }) => name === column)];
      return typeof value === "string" && value.trim() !== "" ? value.trim() : [];
    });
    const [most] = [...new Set(cells)].toSorted(
      (one, other) =>
        cells.filter((cell) => cell === other).length - cells.filter((cell) => cell === one).length,
    );
    const isState = list.columns.some(({ name, role }) => name === column && role === "state");
    return isState && most !== undefined ? (typedFlag("--only", `${column}=${most}`) ?? []) : [];
  });
  const amount = amountColumn(list.columns)?.name ?? "amount";
  const due = claims.find(({ isLessDue }) => isLessDue);
  return [
    ...(chosen.length > 0 ? [hint`To send the other rows alone: ${safeText(chosen.join(" "))}`] : []),
    ...(due === undefined
      ? []
      : [
          hint`To ask for what is due: ${safeText(`${mapFlag(due.column, "amount")} ${mapFlag(amount, "")}`)}`,
        ]),
    hint`To send all rows in spite of it: ${safeText(claiming.map((column) => mapFlag(column, "")).join(" "))}`,
  ];
}
