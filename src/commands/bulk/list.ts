/** The list of a bulk run: its rows, what is known of them, and what the run does with each. */
import { attemptsIn, checkRows, type Checked, type CheckedRow } from "../../bulk/read.ts";
import { attemptsOf, type KnownAttempts } from "../../bulk/attempts.ts";
import { Columns, type Mapping } from "../../lists/columns.ts";
import { plan, type PlannedRow, type RowState } from "../../bulk/plan.ts";
import { readList, requireColumns, type List as ReadList } from "../../lists/read-list.ts";
import { isOfLinks, resultsAt } from "../../bulk/results.ts";
import type { RowContext } from "../../bulk/row.ts";
import type { Context } from "../../context.ts";
import { FAILURES, PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import type { Attempt, Memory } from "../../store/sent-rows.ts";
import { problemJson } from "../../render/error-message.ts";
import { safeText } from "../../render/safe-text.ts";
import type { Reporter } from "./bulk-reporter.ts";
import type { BulkOptions } from "./command.ts";
import { rowContextOf } from "./list-form.ts";

/** A list whose rows were checked, and what a run does with each. */
export interface PreparedList {
  readonly list: ReadList;
  /** What the setting `columns` says of its columns. */
  readonly standing: readonly Mapping[];
  readonly rowContext: RowContext;
  readonly checked: Checked;
  /** In the order of the rows. */
  readonly planned: readonly PlannedRow[];
  readonly known: KnownAttempts;
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
  /** Rows with a link that a colleague or another program made. */
  readonly elsewhere: number;
}

/** A list that was read, and what a run of it needs. */
export interface ListParts {
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
  const { map, service = "", lookBack, only } = options;
  const rowContext = rowContextOf(list, options);
  const checked = await checkRows({
    list,
    columns,
    context: rowContext,
    only,
    now,
    signal,
    checked: reporter.checked,
  });
  if (out.json)
    for (const checkedRow of checked.rows)
      if (checkedRow.identity === undefined && checkedRow.isChosen)
        out.lines([JSON.stringify(invalidJson(checkedRow))]);
  const results: Attempt[] = [];
  for (const path of resultFiles) {
    const found = await resultsAt(path);
    if (found === undefined) continue;
    const columns = new Columns(map, { standing: options.columns, takesMeant: true, mayBeUnused: true });
    const earlier = await readResults(path, found, columns, context);
    if (earlier !== undefined) results.push(...attemptsIn(earlier, rowContext, now));
  }
  const known = await attemptsOf({
    ...checked,
    memory,
    service,
    results,
    api: options.service === undefined ? undefined : () => context.api(),
    lookBack,
    now,
  });
  const planned = plan(checked.rows, known.byKey, { ...options, isOfLinks: isOfLinks(list) });
  const counts = countsOf(planned);
  const standing = columns.standingFor(list.columns);
  return { list, standing, rowContext, checked, planned, known, memory, reporter, counts };
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
    const { code, message, cause } = error;
    const what = `The results in ${safeText(path)} cannot be read`;
    if (code === "usage" && cause === undefined) {
      out.warn(`${what}, and are ignored: ${message}`);
      return undefined;
    }
    // Without the links in a damaged file, the rows that have them might be sent once more.
    throw error.with({
      message: `${what}: ${message}`,
      consequence: "Nothing was sent.",
      details: { path },
      hints: [hint`Correct that file, or move it away: then the links in it do not count.`],
    });
  }
}

const invalidJson = ({ row: { line }, problems }: CheckedRow) => ({
  type: "row",
  line,
  status: "invalid",
  problems: problems.map(problemJson),
});

const NOT_BEFORE: ReadonlySet<RowState> = new Set([
  "invalid",
  "skipped",
  "twice",
  "misplaced",
  "respelled",
  "new",
]);

/** Whether the row was sent before this run, or may have been, and is not sent by it. */
export const isBefore = ({ state, isDue }: PlannedRow): boolean => !isDue && !NOT_BEFORE.has(state);

const isUncompared = ({ link }: PlannedRow): boolean =>
  link?.state === "created" && link.payment === undefined;

function countsOf(planned: readonly PlannedRow[]): PlanCounts {
  const number = (is: (row: PlannedRow) => boolean): number =>
    planned.reduce((rows, row) => rows + Number(is(row)), 0);
  return {
    rows: planned.length,
    invalid: number(({ state }) => state === "invalid"),
    due: number(({ isDue }) => isDue),
    second: number(({ isDue, link }) => isDue && link !== undefined),
    sentBefore: number(isBefore),
    differing: number((row) => isBefore(row) && row.differs && row.state === "sent"),
    uncompared: number((row) => isBefore(row) && isUncompared(row)),
    elsewhere: number(({ isElsewhere }) => isElsewhere),
  };
}

/**
 * Throws if a row with an order number is due, and the links of the service could not be read: its order may have one. Exit code 3
 * where the account is refused, else 5.
 */
export function requireRead(
  { checked, planned, known: { failure } }: PreparedList,
  { lookBack }: Pick<BulkOptions, "lookBack">,
): void {
  if (failure === undefined || lookBack === 0) return;
  const isOpen = checked.rows.some(
    ({ identity }, at) => planned[at]?.isDue === true && (identity?.orderNumber ?? "") !== "",
  );
  if (!isOpen) return;
  const { code, message, hints, details } = failure;
  const isRefused = FAILURES[code].exit === FAILURES.unauthorized.exit;
  throw new PaylinkError(isRefused ? code : "not_reached", `${LINKS_UNREAD} ${message}`, {
    consequence: "Nothing was sent.",
    ...(isRefused ? { hints } : {}),
    details,
    cause: failure,
  });
}

const LINKS_UNREAD =
  "The links of the service could not be read, so it is not known which orders have one already.";
