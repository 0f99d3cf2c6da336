/** The list of a bulk run: its rows, what is known of them, and what keeps it from being sent. */
import { checkRows, linksByKey, type Checked } from "../../bulk/check-rows.ts";
import type { CheckedRow } from "../../bulk/check-rows.ts";
import { cellText } from "../../lists/cells.ts";
import { Columns, mapAdvice } from "../../lists/columns.ts";
import {
  grouped,
  isHeldUp,
  type Known,
  type PlannedRow,
  type ResultLink,
  type RowState,
} from "../../bulk/plan.ts";
import { planList, type PlannedList } from "../../bulk/plan-list.ts";
import { readList, requireColumns, type List as ReadList } from "../../lists/read-list.ts";
import { resultsAt } from "../../bulk/results.ts";
import { RowProblems } from "../../lists/row-problems.ts";
import { knownPart, type RowContext, type RowIdentity } from "../../bulk/row.ts";
import type { Context } from "../../context.ts";
import { comparableText } from "../../domain/comparable-text.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { hint, type CommandLine, type Hint } from "../../domain/hint.ts";
import type { Memory } from "../../store/sent-rows.ts";
import { formatCount, renderRowProblem, rowCount } from "../../render/bulk.ts";
import { problemJson } from "../../render/error-message.ts";
import { safeText, visibleText } from "../../render/safe-text.ts";
import type { Reporter } from "./bulk-reporter.ts";
import type { BulkOptions } from "./flags.ts";
import { rowContextOf } from "./form.ts";
import { rerun } from "./rerun.ts";

/** A list whose rows were checked, and what a run does with each. */
export interface PreparedList extends PlannedList {
  readonly list: ReadList;
  readonly rowContext: RowContext;
  readonly checked: Checked;
  readonly memory: Memory;
  readonly reporter: Reporter;
  readonly counts: PlanCounts;
}

/** How many rows of each kind there are. */
export interface PlanCounts {
  readonly rows: number;
  readonly invalid: number;
  /** Rows that this run sends, and those of them that were sent before, or may have been. */
  readonly due: number;
  readonly second: number;
  readonly sentBefore: number;
  /** Those of them with other values than when they were sent, which do not change what is paid. */
  readonly differing: number;
  /** Those of them whose link only a results file has, and nobody knows what it was created for. */
  readonly uncompared: number;
}

interface ListParts {
  readonly list: ReadList;
  readonly columns: Columns;
  readonly memory: Memory;
  readonly reporter: Reporter;
  /** Files that may have results of this list. */
  readonly resultFiles: readonly string[];
}

export async function prepareList(
  context: Context,
  { list, columns, memory, reporter, resultFiles }: ListParts,
  options: BulkOptions,
): Promise<PreparedList> {
  const { now: clock, signal, out } = context;
  const now = clock();
  const { map, service = "" } = options;
  const rowContext = rowContextOf(list, options);
  const checked = await checkRows({
    list,
    columns,
    context: rowContext,
    now,
    signal,
    checked: reporter.checked,
  });
  if (out.json)
    for (const checkedRow of checked.rows)
      if (checkedRow.key === undefined) out.lines([JSON.stringify(invalidJson(checkedRow))]);
  const results = new Map<string, readonly ResultLink[]>();
  for (const path of resultFiles) {
    const found = await resultsAt(path);
    if (found === undefined) continue;
    const earlier = await readResults(
      path,
      found,
      new Columns(map, { takesMeant: true, mayBeUnused: true }),
      context,
    );
    if (earlier === undefined) continue;
    for (const [key, links] of linksByKey(earlier, rowContext, now))
      if (!results.has(key)) results.set(key, links);
  }
  const planned = await planList({
    ...checked,
    memory,
    service,
    results,
    api: () => context.api(),
    now,
    options,
  });
  return { ...planned, list, rowContext, checked, memory, reporter, counts: countsOf(planned.planned) };
}

/** Undefined, with a warning, for the results of a list with other columns. */
async function readResults(
  path: string,
  bytes: Uint8Array,
  columns: Columns,
  { signal, out }: Pick<Context, "signal" | "out">,
): Promise<ReadList | undefined> {
  try {
    return requireColumns(await readList(bytes, columns, { signal }));
  } catch (error) {
    if (!(error instanceof PaylinkError) || error.isInterruption) throw error;
    const { code, message, problems, cause } = error;
    const what = `The results in ${safeText(path)} cannot be read`;
    if (code === "usage" && cause === undefined) {
      out.warn(`${what}, and are ignored: ${message}`);
      return undefined;
    }
    // Without the links in a damaged file, the rows that have them might be sent once more.
    throw new PaylinkError(code, `${what}: ${message}`, {
      consequence: "Nothing was sent.",
      problems,
      details: { path },
      hints: [hint`Correct that file, or move it away: then the links in it do not count.`],
      cause: error,
    });
  }
}

const invalidJson = ({ row: { line }, problems }: CheckedRow) => ({
  type: "row",
  line,
  status: "invalid",
  problems: problems.map(problemJson),
});

const NOT_BEFORE: ReadonlySet<RowState> = new Set(["invalid", "twice", "misplaced", "respelled", "new"]);

function countsOf(planned: readonly PlannedRow[]): PlanCounts {
  const number = (is: (row: PlannedRow) => boolean): number =>
    planned.reduce((rows, row) => rows + Number(is(row)), 0);
  const isBefore = ({ state, isDue }: PlannedRow): boolean => !isDue && !NOT_BEFORE.has(state);
  return {
    rows: planned.length,
    invalid: number(({ state }) => state === "invalid"),
    due: number(({ isDue }) => isDue),
    second: number(({ isDue, known }) => isDue && known.length > 0),
    sentBefore: number(isBefore),
    differing: number((row) => isBefore(row) && row.differs && row.state !== "changed"),
    uncompared: number((row) => isBefore(row) && row.isUncompared),
  };
}

/** What keeps a list from being sent, in the words of an error. */
interface ListRefusal {
  readonly message: string;
  readonly problems?: readonly Problem[];
  readonly hint: Hint;
}

/** Names every row that cannot be sent; undefined if the others may be sent. */
export function listRefusal(
  context: Context,
  { checked, planned, counts, respelled }: PreparedList,
  { skipInvalid, again }: BulkOptions,
): PaylinkError | undefined {
  const { out } = context;
  const { invalid, rows } = counts;
  const found = new RowProblems();
  for (const [at, row] of checked.rows.entries())
    if (planned[at]?.state === "invalid") found.add(row.row, row.problems);
  for (const problem of found.list()) out.note(`  ${renderRowProblem(problem)}`);
  if (found.others > 0) out.note(`  and ${formatCount(found.others)} more`);
  const refusals: ListRefusal[] = [];
  if (invalid > 0 && !skipInvalid)
    refusals.push({
      message: `${rowCount(invalid)} of ${formatCount(rows)} cannot be sent.`,
      hint: hint`Fix the rows named above, or send the others: ${rerun(context, "--skip-invalid")}`,
    });
  // Otherwise links would be made in another currency than the list says.
  for (const name of checked.currencies)
    refusals.push({
      message: `The column ${safeText(name)} is not sent, and looks like the currency.`,
      hint: [mapAdvice(name, "currency")],
    });
  const repeated = repetitions(checked, planned);
  if (repeated.length > 0)
    refusals.push({
      message: "Some rows repeat others.",
      problems: repeated,
      hint: hint`Remove the rows that are there by mistake, or send each of them once: ${rerun(context, "--allow-duplicates")}`,
    });
  const misplaced = placesOf(planned, ({ state }) => state === "misplaced");
  if (misplaced.length > 0) refusals.push(misplacements(misplaced, checked, planned));
  if (respelled.size > 0)
    refusals.push(respellings(respelled, checked, rerun(context, "--allow-duplicates")));
  const changed = placesOf(planned, (row) => isHeldUp(row, again));
  if (changed.length > 0)
    refusals.push(changes(changed, checked, planned, rerun(context, "--again", "changed")));
  if (refusals.length === 0) return undefined;
  const message = [...refusals.map((refusal) => refusal.message), "Nothing was sent."].join(" ");
  return new PaylinkError("usage", message, {
    problems: refusals.flatMap(({ problems = [] }) => problems),
    hints: refusals.map((refusal) => refusal.hint),
    details: {
      rows,
      invalid,
      misplaced: misplaced.length,
      respelled: respelled.size,
      changed: changed.length,
    },
  });
}

const placesOf = (planned: readonly PlannedRow[], is: (row: PlannedRow) => boolean): number[] =>
  planned.flatMap((row, at) => (is(row) ? [at] : []));

const CORRECT_ORDER = hint`Write their order numbers as they were. If a row is another order, empty its cells id, url and status.`;

/** Rows, and groups of rows, that are named one by one. */
const MAX_NAMED = 10;

function repetitions({ rows }: Checked, planned: readonly PlannedRow[]): Problem[] {
  const twice = placesOf(planned, ({ state }) => state === "twice").flatMap((at) => rows.at(at) ?? []);
  return [...grouped(twice, ({ key = "" }) => key).values()].slice(0, MAX_NAMED).map((group) => {
    const lines = group.slice(0, MAX_NAMED).map(({ row }) => row.line);
    const [first] = group;
    const isSame = group.every(({ identity }) => identity?.content === first?.identity?.content);
    const number = first?.identity?.orderNumber;
    const what =
      isSame || number === undefined
        ? "ask for the same payment"
        : `have the order number ${safeText(number)}, and ask for different payments`;
    const spelled = isSame ? invisibleDifference(group) : "";
    return { at: `lines ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`, message: what + spelled };
  });
}

/** Two rows that look the same differ in nothing else: which spellings they have, with all characters. */
function invisibleDifference([first, ...others]: readonly CheckedRow[]): string {
  for (const { row } of others)
    for (const [place, { field, name }] of row.columns.entries()) {
      const [one, other] = [first?.row, row].map((of) => cellText(of?.values[place] ?? null));
      if (field === undefined || one === undefined || other === undefined || one === other) continue;
      if (comparableText(one) === comparableText(other))
        return `, and differ only in what cannot be seen: ${safeText(name)} is "${visibleText(one)}" and "${visibleText(other)}"`;
    }
  return "";
}

/** Rows whose results name the link of another row: taking that link for theirs would leave them unsent. */
function misplacements(
  at: readonly number[],
  { rows }: Checked,
  planned: readonly PlannedRow[],
): ListRefusal {
  const problems = namedRows(at, rows, planned).map(({ line, identity, newest }) => {
    const { orderNumber = "" } = identity;
    const link = safeText(newest.url ?? newest.id ?? "");
    const row =
      orderNumber === "" ? "the row has no order number" : `the row is order ${safeText(orderNumber)}`;
    const whose =
      newest.orderNumber === ""
        ? "and another row has it too"
        : `which belongs to order ${safeText(newest.orderNumber)}`;
    return { at: line, message: `${row}, and has the link ${link}, ${whose}` };
  });
  return {
    message: `${rowCount(at.length)} ${at.length === 1 ? "names the link" : "name the links"} of other rows.${moreThanNamed(at)}`,
    problems,
    hint: CORRECT_ORDER,
  };
}

/** Rows whose order number a spreadsheet seems to have changed: they were sent before, and would be sent again. */
function respellings(
  respelled: ReadonlyMap<number, string>,
  { rows }: Checked,
  sendAll: CommandLine,
): ListRefusal {
  const at = [...respelled.keys()];
  const problems = at.slice(0, MAX_NAMED).map((place) => {
    const number = safeText(rows.at(place)?.identity?.orderNumber ?? "");
    return {
      at: `line ${rows.at(place)?.row.line ?? 0}`,
      message: `has the order number ${number}, and ${safeText(respelled.get(place) ?? "")} was sent before`,
    };
  });
  return {
    message: `${rowCount(at.length)} ${at.length === 1 ? "has an order number that was" : "have order numbers that were"} sent before in another spelling.${moreThanNamed(at)}`,
    problems,
    hint: hint`A spreadsheet changes numbers: write them as they were sent, in a column formatted as text. If they are other orders: ${sendAll}`,
  };
}

/** Rows that were sent with other values: the customer would get a second link for one order. */
function changes(
  at: readonly number[],
  { rows }: Checked,
  planned: readonly PlannedRow[],
  sendChanged: CommandLine,
): ListRefusal {
  const problems = namedRows(at, rows, planned).map(({ line, identity, newest, earlier }) => {
    const { orderNumber, payment } = identity;
    const order = orderNumber === undefined ? "" : `${safeText(orderNumber)}: `;
    const state = newest.status === undefined ? "" : ` (${newest.status})`;
    const others = earlier === 0 ? "" : `, and ${earlier} earlier ${earlier === 1 ? "link" : "links"}`;
    const link = safeText(newest.url ?? newest.id ?? "");
    const was = knownPart(newest.payment ?? "");
    return {
      at: line,
      message: `${order}${payment}, was ${was}. It has the link ${link}${state}${others}`,
    };
  });
  return {
    message: `${rowCount(at.length)} ${at.length === 1 ? "was" : "were"} sent before with another amount, currency, kind or transaction type.${moreThanNamed(at)}`,
    problems,
    hint: hint`To cancel these links and send the rows as they are now: ${sendChanged}`,
  };
}

const moreThanNamed = ({ length }: readonly number[]): string =>
  length > MAX_NAMED ? ` ${MAX_NAMED} of them are named.` : "";

interface NamedRow {
  readonly line: string;
  readonly identity: RowIdentity;
  readonly newest: Known;
  /** The number of links before that. */
  readonly earlier: number;
}

const namedRows = (
  at: readonly number[],
  rows: readonly CheckedRow[],
  planned: readonly PlannedRow[],
): NamedRow[] =>
  at.slice(0, MAX_NAMED).flatMap((place) => {
    const [row, { known = [] } = {}] = [rows.at(place), planned[place]];
    const newest = known.at(-1);
    if (row?.identity === undefined || newest === undefined) return [];
    return [{ line: `line ${row.row.line}`, identity: row.identity, newest, earlier: known.length - 1 }];
  });
