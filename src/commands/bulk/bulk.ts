/** Runs `paylink bulk`: checks every row of a list, sends each that is due, exactly once, and writes the results. */
import { setMaxListeners } from "node:events";
import { extname, join, parse } from "node:path";
import { RowProblems, unsentColumns, type Checked } from "../../bulk/check-rows.ts";
import { alreadyRunning } from "../../bulk/memory.ts";
import { Pace } from "../../bulk/pace.ts";
import {
  fileSink,
  isCsv,
  isJsonLines,
  openWrittenResults,
  requireWritable,
  type Sink,
} from "../../bulk/results.ts";
import { sendRows } from "../../bulk/send-rows.ts";
import type { Context, Output } from "../../context.ts";
import { isLoopback, parseWebAddress } from "../../domain/addresses.ts";
import { stringifyJson } from "../../domain/json.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { LONGEST_TIMER } from "../../domain/time.ts";
import { count, rowsOf } from "../../render/bulk.ts";
import { renderHint } from "../../render/hint.ts";
import { safeLines } from "../../render/safe-text.ts";
import type { Api } from "../../service/client.ts";
import { finishRun, sumsJson, type ResultsOutput, type RunEnd } from "./finish-run.ts";
import type { BulkOptions } from "./flags.ts";
import { claim, plan, remembers, type Claim, type Plan } from "./claim.ts";
import { checkList, refusedRows, refuseRows, withList, type List } from "./list.ts";
import { askedNow, confirmSending, introduce, renderLook } from "./look.ts";

export async function bulk(context: Context, options: BulkOptions): Promise<number> {
  context.out.streamWarnings();
  const { service, dryRun } = options;
  return withList(context, options, (list) =>
    service === undefined || dryRun
      ? preview(context, list, options)
      : sendList(context, list, options, service),
  );
}

/** Shows what would be sent, and why a run would not send it. */
async function preview(context: Context, list: List, options: BulkOptions): Promise<number> {
  const { service } = options;
  const checked = await checkList(context, list);
  const isKnown = service !== undefined && remembers(context);
  const planned = isKnown
    ? await plan(context, list, checked, options, service).catch((error: unknown) => warnOf(error, context))
    : undefined;
  const invalid = planned?.invalid ?? checked.invalid;
  const failure = await refusedRows(context, list, checked, { ...options, invalid });
  await showPreview(context, list, checked, planned, options);
  if (failure !== undefined) throw failure;
  const rows = checked.digests.length;
  const valid = invalid.size === 0 ? "all valid" : `${count(invalid.size)} of them invalid`;
  if (!context.out.json) context.out.data(`${rowsOf(rows)}, ${valid}. Nothing was sent.`);
  return 0;
}

/** Rows that were sent before do not make a list invalid. */
function warnOf(error: unknown, { out }: Context): undefined {
  if (!(error instanceof PaylinkError)) throw error;
  out.warn([error.message, ...error.hints.map((one) => renderHint(one))].join("\n"));
}

async function showPreview(
  context: Context,
  list: List,
  checked: Checked,
  planned: Plan | undefined,
  options: BulkOptions,
): Promise<void> {
  const { out } = context;
  const asked = await askedNow(list, checked, planned);
  const { reporter } = list;
  reporter.end();
  if (!out.json) out.data(await renderLook(context, asked, planned, options, out.paint));
  introduce(context, list, checked, planned);
  if (!out.json) return;
  const settings = await context.settings();
  const summary = {
    type: "summary",
    profile: settings.profile ?? null,
    service: settings.get("baseUrl") ?? null,
    rows: checked.digests.length,
    invalid: (planned ?? checked).invalid.size,
    sent_before: planned?.doneBefore ?? 0,
    links: asked.rows,
    sums: sumsJson(asked.sums),
    first: asked.first,
    unsent_columns: unsentColumns(checked),
    warnings: checked.warnings,
  };
  out.data(stringifyJson(summary));
}

async function sendList(
  context: Context,
  list: List,
  options: BulkOptions,
  service: string,
): Promise<number> {
  const { ask, yes } = context;
  const { reporter } = list;
  // Checked first: after the run it would be too late to learn that the results cannot be written.
  const output = await openOutput(context, options, list);
  const api = await context.api({ exchangeTimeout: options.timeout, retries: false });
  const checked = await checkList(context, list);
  const confirmed =
    ask !== undefined && !yes && options.mayAsk
      ? await confirmSending(context, ask, list, checked, options, service)
      : undefined;
  const claimed = await claim(context, list, checked, options, service);
  try {
    if (confirmed === undefined) {
      await refuseRows(context, list, checked, { ...options, invalid: claimed.invalid });
      introduce(context, list, checked, claimed);
    } else if (!claimed.due.equals(confirmed.due))
      throw alreadyRunning(
        "Another run has sent rows of this list since it was shown. This run sent nothing.",
      );
    const end = await run(context, list, claimed, checked, options, api);
    reporter.warnings(end.violations);
    await finishRun(context, list, claimed, { checked, end, output });
    return 0;
  } finally {
    await claimed.sent.close();
  }
}

/** Throws `usage` if the results cannot be written. */
async function openOutput(
  { dataFolder, newId, out }: Context,
  { output, file, force }: BulkOptions,
  { input, rows }: List,
): Promise<ResultsOutput> {
  if (output === "-") return { format: rows.format, sink: stdoutSink(out), path: undefined };
  const path = output ?? defaultOutput(file, rows.format === "json lines");
  const results = { path, force, written: openWrittenResults(join(dataFolder, "results")) };
  await requireWritable(results, input.path);
  return { format: isCsv(path) ? "csv" : "json lines", sink: fileSink(results, newId()), path };
}

/** The results of `orders.csv` go to `orders.links.csv`, those of standard input to the current folder. */
function defaultOutput(file: string, isJson: boolean): string {
  const ending = isJson ? ".jsonl" : ".csv";
  if (file === "-") return `stdin.links${ending}`;
  const { dir, name } = parse(file);
  const own = extname(file);
  return join(dir, `${name}.links${isCsv(own) || isJsonLines(own) ? own : ending}`);
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
  { rows, build, reporter, now: serviceNow }: List,
  { sent, invalid, due }: Claim,
  { digests }: Checked,
  { concurrency, rate, retryUnknown, service }: BulkOptions,
  api: Api,
): Promise<RunEnd> {
  const total = digests.length - invalid.size;
  reporter.begin(total, total - due.size);
  const violated = new RowProblems();
  const halt = new AbortController();
  // Every row in progress may listen for it.
  setMaxListeners(0, halt.signal);
  const stopped = (): boolean => halt.signal.aborted;
  const stop = (reason: unknown): void => halt.abort(reason);
  const interrupt = (): void => stop(signal.reason);
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  const sleep = (milliseconds: number): Promise<void> => sleepUnless(milliseconds, halt.signal);
  const { paused } = reporter;
  const isLocal = isLoopback(parseWebAddress(service ?? "")?.hostname ?? "");
  const pace = new Pace({ rate, isLocal, clock: () => now().getTime(), sleep, stopped, random, paused });
  try {
    await sendRows({
      rows: rows.read(),
      digests,
      isDue: (row) => due.has(row),
      sent,
      pace,
      build,
      create: async (request) => {
        const { text, link, violations } = await api.createLink(request);
        return { id: link.id, url: link.url, body: text, violations };
      },
      keyOf: () => undefined,
      retryUnknown,
      concurrency,
      now: serviceNow,
      stop,
      stopped,
      settled: reporter.settled,
      violated: (row, violations) => violated.add(row, violations),
    });
  } finally {
    signal.removeEventListener("abort", interrupt);
    reporter.end();
  }
  return { reason: halt.signal.reason, violations: violated.list() };
}

function sleepUnless(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    // After a timer that was cut short, the caller sleeps again.
    const timer = setTimeout(end, Math.min(milliseconds, LONGEST_TIMER));
    signal.addEventListener("abort", end, { once: true });
  });
}
