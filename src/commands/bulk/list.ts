/** The list of a bulk run: its rows, opened for this run alone, and what keeps them from being sent. */
import { join } from "node:path";
import { checkRows, RowProblems, type Checked, type RowProblem } from "../../bulk/check-rows.ts";
import { Columns, NOT_A_FIELD } from "../../bulk/columns.ts";
import { fileInput, spooledInput, type Input } from "../../bulk/input.ts";
import type { Repeats, RowSet } from "../../bulk/repeated-rows.ts";
import { requestOf, type BuildRequest, type Row } from "../../bulk/row.ts";
import { MAP_COLUMNS, openRows, type Rows } from "../../bulk/rows.ts";
import type { Context } from "../../context.ts";
import { hint, PaylinkError, type Problem } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import type { LinkFieldPath } from "../../domain/payment-link-fields.ts";
import { count, renderRowProblem, rowsOf } from "../../render/bulk.ts";
import { createReporter, type Reporter } from "./bulk-reporter.ts";
import type { BulkOptions } from "./flags.ts";

export interface List {
  readonly input: Input;
  readonly rows: Rows;
  readonly columns: Columns;
  readonly build: BuildRequest;
  /** The service's time: durations such as `--expires 7d` count from it. */
  readonly now: () => Date;
  readonly reporter: Reporter;
}

/** Runs the work with the list open, and always closes it. */
export async function withList<T>(
  context: Context,
  { file, build, map }: BulkOptions,
  work: (list: List) => Promise<T>,
): Promise<T> {
  const input =
    file === "-"
      ? await spooledInput(context.stdin, memoryFolder(context), context.newId())
      : await fileInput(file);
  const reporter = createReporter(context);
  try {
    const columns = new Columns(map);
    const rows = await openRows(input.open, columns);
    return await work({ input, rows, columns, build, now: context.now, reporter });
  } finally {
    reporter.end();
    await input.close();
  }
}

/** The folder of what `bulk` remembers, and of copies of standard input. */
export const memoryFolder = ({ dataFolder }: Context): string => join(dataFolder, "bulk");

/** Throws `usage` if a column that the user has mapped is in no row. */
export async function checkList(
  { signal }: Context,
  { rows, columns, build, now, reporter }: List,
): Promise<Checked> {
  const { checked } = reporter;
  const found = await checkRows({ rows: rows.read(), build, now: now(), signal, checked });
  // The header of a CSV has been read by then.
  const problems = columns.unused([...found.columns.keys()]);
  if (found.digests.length > 0 && problems.length > 0)
    throw new PaylinkError("usage", "Nothing was sent.", { problems });
  const { warnings } = found;
  return { ...found, warnings: [...warnings, ...(await repeatedOrders(rows, found))] };
}

/** An order number on different rows is probably a mistake of the list. */
async function repeatedOrders(
  rows: Rows,
  { sameOrder: { count: repeated, first } }: Checked,
): Promise<RowProblem[]> {
  if (repeated === 0) return [];
  const found = [...(await rowsAt(rows, first.flat())).values()].toSorted(
    (one, other) => one.index - other.index,
  );
  const cells = found.flatMap(({ cells }) => cells.find(({ column }) => column.field === ORDER_NUMBER) ?? []);
  const numbers = [
    ...new Set(cells.map(({ value }) => (typeof value === "string" ? value : stringifyJson(value)))),
  ];
  const lines = found.map(({ line }) => line).slice(0, NAMED_LINES);
  const [line = 0] = lines;
  const more = numbers.length > NAMED_LINES ? ", …" : "";
  const named = numbers.length === 0 ? "" : ` (${numbers.slice(0, NAMED_LINES).join(", ")}${more})`;
  const at = cells[0]?.column.name ?? ORDER_NUMBER;
  return [{ at, message: `is the same on different rows${named}`, line, lines, rows: repeated }];
}

const ORDER_NUMBER = "invoiceId" satisfies LinkFieldPath;
/** Lines, and numbers, that a message names. */
const NAMED_LINES = 3;

interface Refusing extends Pick<BulkOptions, "allowDuplicates" | "skipInvalid"> {
  readonly invalid: RowSet;
}

/**
 * Names every row that cannot be sent. The error ends a run before anything is sent; undefined if the others may be sent.
 */
export async function refusedRows(
  context: Context,
  list: List,
  checked: Checked,
  { invalid, allowDuplicates, skipInvalid }: Refusing,
): Promise<PaylinkError | undefined> {
  const { out } = context;
  const { rows } = list;
  const { digests, identical } = checked;
  const total = digests.length;
  const repeated = allowDuplicates ? 0 : identical.count;
  if (invalid.size === 0 && repeated === 0) return undefined;
  // Scripts get each row. The problems of a row that has its link already do not count.
  const isComplete = !out.json && invalid.size === checked.invalid.size;
  const found = isComplete ? checked.problems : await problemsOf(context, list, invalid);
  for (const problem of found.list()) out.note(`  ${renderRowProblem(problem)}`);
  if (found.others > 0) out.note(`  and ${count(found.others)} more`);
  if (repeated === 0 && skipInvalid) return undefined;
  const problems = repeated === 0 ? [] : await identicalRows(rows, identical);
  return new PaylinkError(
    "usage",
    [
      ...(invalid.size > 0 ? [`${rowsOf(invalid.size)} of ${count(total)} cannot be sent.`] : []),
      ...(repeated > 0
        ? [`${rowsOf(repeated)} of ${count(total)} ask for the same payment as another row.`]
        : []),
      "Nothing was sent.",
    ].join(" "),
    {
      problems,
      hints: [
        ...(found.kinds.has(NOT_A_FIELD) ? [MAP_COLUMNS] : []),
        ...(invalid.size > 0
          ? [hint`Fix the rows named above, or send the others with --skip-invalid.`]
          : []),
        ...(repeated > 0
          ? [hint`Remove the rows that are there by mistake, or send each of them once: --allow-duplicates`]
          : []),
      ],
      details: { rows: total, invalid: invalid.size, ...(repeated > 0 ? { identical: repeated } : {}) },
    },
  );
}

/** Throws `usage` if rows cannot be sent and the others must wait for them. */
export async function refuseRows(...of: Parameters<typeof refusedRows>): Promise<void> {
  const failure = await refusedRows(...of);
  if (failure !== undefined) throw failure;
}

async function problemsOf(
  { signal }: Context,
  { rows, build, now, reporter }: List,
  invalid: RowSet,
): Promise<RowProblems> {
  const found = new RowProblems();
  if (invalid.size === 0) return found;
  for await (const row of rows.read()) {
    signal.throwIfAborted();
    if (!invalid.has(row.index)) continue;
    const { problems } = requestOf(row, build, now());
    reporter.invalid(row, problems);
    found.add(row, problems);
  }
  return found;
}

/** The lines of rows that ask for the same payment: the customer would get a link for each. */
async function identicalRows(rows: Rows, { count: all, first }: Repeats): Promise<Problem[]> {
  const found = await rowsAt(rows, first.flat());
  const problems = first.map((group) => {
    const lines = group.map((row) => found.get(row)?.line ?? row + 1);
    return {
      at: `lines ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`,
      message: "ask for the same payment",
    };
  });
  const more = all - first.flat().length;
  return more > 0 ? [...problems, { at: "", message: `and ${count(more)} more rows` }] : problems;
}

/** The rows at these positions. */
export async function rowsAt(rows: Rows, positions: readonly number[]): Promise<ReadonlyMap<number, Row>> {
  const wanted = new Set(positions);
  const found = new Map<number, Row>();
  for await (const row of rows.read()) {
    if (wanted.has(row.index)) found.set(row.index, row);
    if (found.size === wanted.size) break;
  }
  return found;
}
