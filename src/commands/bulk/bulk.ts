/** Runs `paylink bulk`: checks every row of a list, sends each that is due, exactly once, and writes the results. */
import { setMaxListeners } from "node:events";
import { join, parse } from "node:path";
import { setTimeout } from "node:timers/promises";
import { RowProblems } from "../../bulk/check-rows.ts";
import { Pace } from "../../bulk/pace.ts";
import { fileSink, requireWritable, type Sink } from "../../bulk/results.ts";
import { dueRows, sendRows } from "../../bulk/send-rows.ts";
import type { Context, Output } from "../../context.ts";
import { stringifyJson } from "../../domain/json.ts";
import { Sums } from "../../domain/money.ts";
import { LONGEST_TIMER } from "../../domain/time.ts";
import { count, rowsOf } from "../../render/bulk.ts";
import { safeLines } from "../../render/safe-text.ts";
import type { Api } from "../../service/client.ts";
import { finishRun, summaryOf, type ResultsOutput, type RunEnd } from "./finish-run.ts";
import type { BulkOptions } from "./flags.ts";
import { planList, refusalOf, withList, type List, type PlannedList } from "./list.ts";
import { askedNow, confirmSending, introduce, renderPreview } from "./preview.ts";

export async function bulk(context: Context, options: BulkOptions): Promise<number> {
  context.out.streamWarnings();
  const work = options.dryRun ? dryRun : sendList;
  return withList(context, options, (list) => work(context, list, options));
}

/** Shows what would be sent, and why a run would not send it. */
async function dryRun(context: Context, opened: List, options: BulkOptions): Promise<number> {
  const { out } = context;
  const list = await planList(context, opened, options);
  const { rows, invalid, sentBefore } = list.plan;
  const failure = await refusalOf(context, list, options);
  const asked = await askedNow(context, list);
  list.reporter.end();
  if (!out.json) out.data(await renderPreview(context, asked, options, out.paint));
  introduce(context, list);
  const shown = { invalid, sent_before: sentBefore, links: asked.rows, first: asked.first };
  if (out.json) out.data(stringifyJson({ ...(await summaryOf(context, list, asked.sums)), ...shown }));
  if (failure !== undefined) throw failure;
  const valid = invalid === 0 ? "all valid" : `${count(invalid)} of them invalid`;
  if (!out.json) out.data(`${rowsOf(rows)}, ${valid}. Nothing was sent.`);
  return 0;
}

async function sendList(context: Context, opened: List, options: BulkOptions): Promise<number> {
  // Checked first: after the run it would be too late to learn that the results cannot be written.
  const output = await openOutput(context, options, opened);
  const api = await context.api({ retries: false });
  const list = await planList(context, opened, options);
  const failure = await refusalOf(context, list, options);
  if (failure !== undefined) throw failure;
  await confirmSending(context, list, options);
  list.sent.begin(options.again && !list.plan.continues);
  const end = await run(context, list, options, api);
  list.reporter.warnings(end.violations);
  await finishRun(context, list, output, end);
  return 0;
}

/** Throws `usage` if the results cannot be written. */
async function openOutput(
  { newId, out }: Context,
  { output, file, force }: BulkOptions,
  { input, rows }: List,
): Promise<ResultsOutput> {
  if (output === "-") return { format: rows.format, sink: stdoutSink(out), path: undefined };
  const path = output ?? defaultOutput(file, rows.format === "csv" ? ".csv" : ".jsonl");
  await requireWritable(path, force, input.path);
  return { format: /\.csv$/i.test(path) ? "csv" : "json lines", sink: fileSink(path, newId()), path };
}

/** The results of `orders.csv` go to `orders.links.csv`, those of standard input to the current folder. */
function defaultOutput(file: string, ending: string): string {
  const { dir, name } = parse(file === "-" ? "stdin" : file);
  return join(dir, `${name}.links${ending}`);
}

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

async function run(
  { now, random, signal }: Context,
  { rows, build, reporter, sent, plan }: PlannedList,
  { concurrency, rate }: BulkOptions,
  api: Api,
): Promise<RunEnd> {
  reporter.begin(plan.rows - plan.invalid, plan.sentBefore);
  const violated = new RowProblems();
  const sums = new Sums();
  const halt = new AbortController();
  const ended = AbortSignal.any([signal, halt.signal]);
  // Every row in progress may listen for it.
  setMaxListeners(0, ended);
  const stopped = (): boolean => ended.aborted;
  const pace = new Pace({
    rate,
    clock: () => performance.now(),
    // After a timer that was cut short, the caller sleeps again.
    sleep: (milliseconds) =>
      setTimeout(Math.min(milliseconds, LONGEST_TIMER), undefined, { signal: ended }).catch(() => undefined),
    stopped,
    random,
    paused: reporter.paused,
  });
  try {
    await sendRows({
      rows: dueRows(rows.read(), sent.planned()),
      sent,
      pace,
      build,
      create: api.createLink,
      concurrency,
      now,
      stop: (reason) => halt.abort(reason),
      stopped,
      settled: (row, outcome, request) => {
        if (outcome.status === "created" && request !== null) sums.add(request.amount, request.currency);
        reporter.settled(row, outcome);
      },
      violated: (row, violations) => violated.add(row, violations),
    });
  } finally {
    reporter.end();
  }
  return { reason: ended.reason, violations: violated.list(), sums };
}
