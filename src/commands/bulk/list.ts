/** The list of a bulk run: its rows against what was sent before, and what keeps it from being sent. */
import { join } from "node:path";
import { checkRows, type Checked } from "../../bulk/check-rows.ts";
import { Columns, mapAdvice } from "../../bulk/columns.ts";
import { fileInput, stdinInput, type Input } from "../../bulk/input.ts";
import { emptyMemory, openMemory, openMemoryAlone, remembers, type Memory } from "../../bulk/memory.ts";
import { differences, requestOf, type BuildRequest, type Row } from "../../bulk/row.ts";
import { openRows, type Rows } from "../../bulk/rows.ts";
import { SentRows, type Group, type Plan } from "../../bulk/sent-rows.ts";
import type { Context } from "../../context.ts";
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

/** Runs the work with the list open, alone if it sends, and always closes it. */
export async function withList<T>(
  context: Context,
  { file, build, map, service, dryRun }: BulkOptions,
  work: (list: List) => Promise<T>,
): Promise<T> {
  const folder = join(context.dataFolder, "bulk");
  const input = file === "-" ? stdinInput(await context.readFile(file)) : await fileInput(file);
  const reporter = createReporter(context);
  let memory: Memory | undefined;
  try {
    const columns = new Columns(map);
    const rows = await openRows(input.open, columns);
    if (service === undefined || (dryRun && !remembers(folder))) memory = emptyMemory();
    else if (dryRun) memory = openMemory(folder);
    else memory = openMemoryAlone(folder, input.path, context.now());
    const sent = new SentRows(memory, service ?? "");
    return await work({ input, rows, columns, build, sent, reporter });
  } finally {
    reporter.end();
    memory?.database.close();
    memory?.release();
  }
}

/** Throws `usage` if a column that the user has mapped is in no row. */
export async function checkList(
  { now, signal }: Context,
  { rows, columns, build, sent, reporter }: List,
): Promise<Checked> {
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
  sent.complete();
  // The header of a CSV has been read by then.
  const problems = columns.unused([...checked.columns]);
  if (checked.rows > 0 && problems.length > 0)
    throw new PaylinkError("usage", "Nothing was sent.", { problems });
  return checked;
}

/** What keeps a list from being sent, in the words of an error. */
interface Refusal {
  readonly message: string;
  readonly problems?: readonly Problem[];
  readonly hint: Hint;
}

/** Names every row that cannot be sent; undefined if the others may be sent. */
export async function refusalOf(
  context: Context,
  list: List,
  checked: Checked,
  { invalid, rows }: Plan,
  { allowDuplicates, skipInvalid, again }: Pick<BulkOptions, "allowDuplicates" | "skipInvalid" | "again">,
): Promise<PaylinkError | undefined> {
  const { out } = context;
  const { problems: found, currencies } = checked;
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
    refusals.push({ message: "Rows repeat others.", problems: repeated, hint: REMOVE_ROWS });
  if (!again) refusals.push(...(await conflicts(context, list)));
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

/** Rows whose order number was sent with other values: the customer would get a second link for one order. */
async function conflicts({ now }: Context, { rows, build, sent }: List): Promise<Refusal[]> {
  const found = sent.conflicts(now().getTime());
  if (found.length === 0) return [];
  const own = await rowsAt(rows, new Set(found.map(({ position }) => position)));
  const problems = found.map(({ position, orderNumber, request, sent: time, url }) => {
    const row = own.get(position);
    const before = parseJson(request);
    const differ =
      row !== undefined && before.ok && isJsonObject(before.value.value)
        ? differences(before.value.value, requestOf(row, build, now()).meant)
        : [];
    const link = url === null ? "may have a link" : `has the link ${url}`;
    return {
      at: `line ${row?.line ?? position + 1}`,
      message: `${orderNumber}: ${differ.join("; ")}. The row sent on ${localTime(new Date(time).toISOString())} ${link}`,
    };
  });
  return [{ message: "Order numbers were sent with other values.", problems, hint: RESTORE_ROWS }];
}

const RESTORE_ROWS = hint`Restore these rows, or give them new order numbers. To send every row, which creates second links: --again`;

async function rowsAt(rows: Rows, positions: ReadonlySet<number>): Promise<ReadonlyMap<number, Row>> {
  const found = new Map<number, Row>();
  for await (const row of rows.read()) {
    if (positions.has(row.index)) found.set(row.index, row);
    if (found.size === positions.size) break;
  }
  return found;
}
