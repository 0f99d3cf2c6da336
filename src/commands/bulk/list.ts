/** The list of a bulk run: its rows against what was sent before, and what keeps it from being sent. */
import { join } from "node:path";
import { checkRows, type Checked } from "../../bulk/check-rows.ts";
import { Columns, mapAdvice } from "../../bulk/columns.ts";
import { fileInput, heldInput, type Input } from "../../bulk/input.ts";
import { openMemoryAlone, openMemoryToCheck } from "../../bulk/memory.ts";
import { differences, requestOf, type BuildRequest } from "../../bulk/row.ts";
import { openRows, type Rows } from "../../bulk/rows.ts";
import { SentRows, type Group, type Plan } from "../../bulk/sent-rows.ts";
import type { Context } from "../../context.ts";
import type { Database } from "../../store/database.ts";
import { hint, PaylinkError, type Hint, type Problem } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import { parseJson } from "../../domain/parse-json.ts";
import { count, renderRowProblem, rowsOf } from "../../render/bulk.ts";
import { localTime } from "../../render/layout.ts";
import { createReporter, type Reporter } from "./bulk-reporter.ts";
import type { BulkOptions } from "./flags.ts";

export interface List {
  readonly input: Input;
  readonly rows: Rows;
  readonly columns: Columns;
  readonly build: BuildRequest;
  readonly sent: SentRows;
  readonly reporter: Reporter;
}

/** A list whose rows were checked, and what a run does with it. */
export interface PlannedList extends List {
  readonly checked: Checked;
  readonly plan: Plan;
}

/** Runs the work with the list open, alone if it sends, and always closes it. */
export async function withList<T>(
  context: Context,
  { file, build, map, service, dryRun }: BulkOptions,
  work: (list: List) => Promise<T>,
): Promise<T> {
  const folder = join(context.dataFolder, "bulk");
  const input = file === "-" ? heldInput("-", await context.readFile(file)) : await fileInput(file, !dryRun);
  const reporter = createReporter(context);
  let memory: Database | undefined;
  try {
    const columns = new Columns(map);
    const rows = await openRows(input.open, columns);
    memory = dryRun ? openMemoryToCheck(folder) : openMemoryAlone(folder, input.path, context.now());
    const sent = new SentRows(memory, service ?? "");
    return await work({ input, rows, columns, build, sent, reporter });
  } finally {
    reporter.end();
    memory?.close();
  }
}

/** Throws `usage` if a column that the user has mapped is in no row. */
export async function planList(
  { now, signal }: Context,
  list: List,
  options: BulkOptions,
): Promise<PlannedList> {
  const { rows, columns, build, sent, reporter } = list;
  const checked = await checkRows({
    rows: rows.read(),
    columns,
    build,
    now: now(),
    signal,
    checked: (row) => {
      sent.add(row);
      reporter.checked();
    },
    invalid: reporter.invalid,
  });
  const plan = sent.plan(now().getTime(), options);
  // The header of a CSV has been read by then.
  const problems = columns.unused([...checked.columns]);
  if (plan.rows > 0 && problems.length > 0)
    throw new PaylinkError("usage", "Nothing was sent.", { problems });
  return { ...list, checked, plan };
}

/** What keeps a list from being sent, in the words of an error. */
interface Refusal {
  readonly message: string;
  readonly problems?: readonly Problem[];
  readonly hint: Hint;
}

/** Names every row that cannot be sent; undefined if the others may be sent. */
export async function refusalOf(
  { out, now }: Context,
  list: PlannedList,
  { allowDuplicates, skipInvalid, again }: BulkOptions,
): Promise<PaylinkError | undefined> {
  const { problems: found, currencies } = list.checked;
  const { invalid, rows } = list.plan;
  for (const problem of found.list()) out.note(`  ${renderRowProblem(problem)}`);
  if (found.others > 0) out.note(`  and ${count(found.others)} more`);
  const refusals: Refusal[] = [];
  if (invalid > 0 && !skipInvalid)
    refusals.push({ message: `${rowsOf(invalid)} of ${count(rows)} cannot be sent.`, hint: FIX_ROWS });
  // Otherwise links would be made in another currency than the list says.
  for (const name of currencies)
    refusals.push({
      message: `The column ${name} is not sent, and looks like the currency.`,
      hint: [mapAdvice(name, "currency")],
    });
  const repeated = allowDuplicates ? [] : list.sent.repeated().map(repetition);
  if (repeated.length > 0)
    refusals.push({ message: "Some rows repeat others.", problems: repeated, hint: REMOVE_ROWS });
  if (!again) refusals.push(...(await conflicts(list, now())));
  if (refusals.length === 0) return undefined;
  const message = [...refusals.map((refusal) => refusal.message), "Nothing was sent."].join(" ");
  return new PaylinkError("usage", message, {
    problems: refusals.flatMap(({ problems = [] }) => problems),
    hints: refusals.map((refusal) => refusal.hint),
    details: { rows, invalid },
  });
}

const FIX_ROWS = hint`Fix the rows named above, or send the others with --skip-invalid.`;
const REMOVE_ROWS = hint`Remove the rows that are there by mistake, or send each of them once: --allow-duplicates`;

const repetition = ({ lines, orderNumber }: Group): Problem => ({
  at: `lines ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`,
  message:
    orderNumber === undefined
      ? "ask for the same payment"
      : `have the order number ${orderNumber}, and ask for different payments`,
});

const RESTORE_ROWS = hint`Restore these rows, or give them new order numbers. To send every row once more, which creates a second link for each: --again`;

/** Rows whose order number was sent with other values: the customer would get a second link for one order. */
async function conflicts({ rows, build, sent }: List, now: Date): Promise<Refusal[]> {
  const found = new Map(sent.conflicts().map((conflict) => [conflict.position, conflict]));
  const problems: Problem[] = [];
  if (found.size === 0) return [];
  for await (const row of rows.read()) {
    const conflict = found.get(row.index);
    if (conflict === undefined) continue;
    const { orderNumber, request, sent: time, url } = conflict;
    const before = parseJson(request);
    const differ =
      before.ok && isJsonObject(before.value.value)
        ? differences(before.value.value, requestOf(row, build, now).meant)
        : [];
    const link = url === null ? "may have a link" : `has the link ${url}`;
    problems.push({
      at: `line ${row.line}`,
      message: `${orderNumber}: ${differ.join("; ")}. The row sent on ${localTime(new Date(time).toISOString())} ${link}`,
    });
  }
  return [
    { message: "Some order numbers were sent before with other values.", problems, hint: RESTORE_ROWS },
  ];
}
