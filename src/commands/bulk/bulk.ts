/** Runs `paylink bulk`: checks every row of a list, sends each that is due, exactly once, and writes the results. */
import { plural, formatCount } from "../../values/plural.ts";
import { realpathSync } from "node:fs";
import { join, parse } from "node:path";
import { beforeSending } from "../../bulk/before-sending.ts";
import { Columns } from "../../lists/columns.ts";
import { readList } from "../../lists/read-list.ts";
import { fileSink, requireWritable, type Sink } from "../../bulk/results.ts";
import { RowProblems } from "../../lists/row-problems.ts";
import { runList } from "../../bulk/run.ts";
import type { Context, Output } from "../../context.ts";
import { stringifyJson } from "../../values/json.ts";
import { Sums } from "../../domain/money.ts";
import { safeLines } from "../../render/safe-text.ts";
import type { Api } from "../../service/client.ts";
import { REMEMBERED, type Memory } from "../../store/sent-rows.ts";
import { warnOfOtherLinks } from "../link-output.ts";
import { createReporter } from "./bulk-reporter.ts";
import { finishRun, summaryOf, type ResultsOutput, type RunEnd } from "./finish-run.ts";
import type { BulkOptions } from "./command.ts";
import { formRefusal } from "./list-form.ts";
import { type ListParts, prepareList, requireRead, type PreparedList } from "./list.ts";
import { listRefusal } from "./refusal.ts";
import { askedNow, beforeJson, confirmSending, introduce, renderPreview } from "./preview.ts";

export async function bulk(context: Context, options: BulkOptions): Promise<number> {
  const { dryRun } = options;
  context.out.streamWarnings();
  const read = await readFileOf(context, options);
  const reporter = createReporter(context);
  let memory: Memory | undefined;
  try {
    memory = await beforeSending(() => context.sentRows({ isDryRun: dryRun }));
    const parts = { ...read, memory, reporter, resultFiles: resultFilesOf(options) };
    return await (dryRun ? showList : sendList)(context, options, parts);
  } finally {
    reporter.end();
    await memory?.close();
  }
}

/** The bytes are not kept: a run may take hours. */
async function readFileOf(
  context: Context,
  options: BulkOptions,
): Promise<Pick<ListParts, "list" | "columns">> {
  const { readFile, signal } = context;
  const { file, map, headerLine } = options;
  const bytes = await readFile(file);
  const columns = new Columns(map, { standing: options.columns });
  const list = await beforeSending(() => readList(bytes, columns, { signal, headerLine }));
  const refusal = formRefusal(context, list, options);
  if (refusal !== undefined) throw refusal;
  return { columns, list };
}

/** Shows what would be sent, and why a run would not send it. */
async function showList(context: Context, options: BulkOptions, parts: ListParts): Promise<number> {
  const { out } = context;
  const list = await beforeSending(() => prepareList(context, parts, options));
  const { rows, invalid, sentBefore } = list.counts;
  const failure = listRefusal(context, list, options);
  const asked = await askedNow(context, list);
  list.reporter.end();
  if (!out.json) out.data(await renderPreview(context, asked, options, out.paint));
  introduce(context, list, options);
  const shown = {
    invalid,
    sent_before: sentBefore,
    before: beforeJson(list),
    links: asked.links,
    first: asked.first,
  };
  if (out.json) out.data(stringifyJson({ ...(await summaryOf(context, list, asked.sums)), ...shown }));
  if (failure !== undefined) throw failure;
  const valid = invalid === 0 ? "all valid" : `${formatCount(invalid)} of them invalid`;
  if (!out.json) out.data(`${plural(rows, "row")}, ${valid}. Nothing was sent.`);
  return 0;
}

async function sendList(context: Context, options: BulkOptions, parts: ListParts): Promise<number> {
  // Checked first: after the run it would be too late to learn that the results cannot be written.
  const path = await outputOf(options);
  const api = await context.api({ retries: false });
  const list = await beforeSending(() => prepareList(context, parts, options));
  // Also for a list that is refused: the flag that its error advises needs to know what was found.
  await beforeSending(async () => {
    for (const attempt of list.known.found)
      await parts.memory.settle(attempt, { ...attempt, state: "created" });
  });
  const failure = listRefusal(context, list, options);
  if (failure !== undefined) throw failure;
  requireRead(list, options);
  if (!(await confirmSending(context, list, options))) return 0;
  await beforeSending(() => parts.memory.forget(REMEMBERED));
  const end = await send(context, list, options, api);
  list.reporter.warnings(end.violations);
  warnOfOtherLinks(end.asksForOther, context);
  await finishRun(context, list, outputTo(context, path, list), options, end);
  return 0;
}

/** Throws `usage` if the results cannot be written there; undefined for standard output. */
async function outputOf({ output, file, force }: BulkOptions): Promise<string | undefined> {
  if (output === "-") return undefined;
  const path = output ?? defaultOutput(file);
  await requireWritable(path, force, file === "-" ? "-" : realpathSync(file));
  return path;
}

function outputTo({ newId, out }: Context, path: string | undefined, { list }: PreparedList): ResultsOutput {
  if (path === undefined) return { format: list.format, sink: stdoutSink(out), path };
  return { format: /\.csv$/i.test(path) ? "csv" : "json lines", sink: fileSink(path, newId()), path };
}

/** The results of `orders.csv` go to `orders.links.csv`, those of standard input to the current folder. */
function defaultOutput(file: string): string {
  const { dir, name, ext } = parse(file === "-" ? "stdin" : file);
  return join(dir, `${name}.links${/^\.(?:jsonl|ndjson|json)$/i.test(ext) ? ".jsonl" : ".csv"}`);
}

/** Where results of the same list may be. */
const resultFilesOf = ({ output, file }: BulkOptions): string[] => [
  ...new Set([...(output === undefined || output === "-" ? [] : [output]), defaultOutput(file)]),
];

const stdoutSink =
  (out: Output): Sink =>
  async (chunks) => {
    const decoder = new TextDecoder();
    // Cells of the list may hold anything: a file keeps it, a terminal must not obey it.
    const shown = (chunk: Uint8Array): Uint8Array =>
      Buffer.from(decoder.decode(chunk, { stream: true }).split("\t").map(safeLines).join("\t"));
    for await (const chunk of chunks) {
      if (out.unread().aborted) return;
      out.bytes(Number.isFinite(out.lineWidth) ? shown(chunk) : chunk);
      await out.drained();
    }
  };

async function send(
  { now, timers, random, signal }: Context,
  { checked: { rows }, planned, rowContext, reporter, memory, counts }: PreparedList,
  { concurrency, rate }: BulkOptions,
  api: Api,
): Promise<RunEnd> {
  reporter.begin(counts.rows - counts.invalid, counts.sentBefore);
  const violated = new RowProblems();
  const asksForOther = new Set<string>();
  const sums = new Sums();
  const ids = new Set<string>();
  try {
    const end = await runList({
      rows,
      planned,
      rowContext,
      memory,
      api,
      now,
      timers,
      random,
      signal,
      concurrency,
      rate,
      paused: reporter.paused,
      settled: (row, outcome, request) => {
        const { id, status } = outcome;
        if (status === "created" && request !== null) sums.add(request.amount, request.currency);
        if (status === "created" && typeof id === "string") {
          if (ids.has(id)) {
            violated.add(row, [{ at: "id", message: "must be new: another row has this link" }]);
            asksForOther.add(id);
          }
          ids.add(id);
        }
        reporter.settled(row.line, outcome);
      },
      violated: (row, created) => {
        violated.add(row, created.violations);
        const { id, url } = created.link;
        if (created.asksForOther) asksForOther.add(id ?? url ?? "");
      },
    });
    return { ...end, violations: violated.list(), asksForOther: [...asksForOther], sums };
  } finally {
    reporter.end();
  }
}
