/** Runs `paylink bulk`: checks every row of a list, sends each that is due, exactly once, and writes the results. */
import { setMaxListeners } from "node:events";
import { extname, join, parse } from "node:path";
import { unsentColumns, Warnings, type Checked } from "../../bulk/check-rows.ts";
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
import { LONGEST_TIMER } from "../../domain/time.ts";
import { rowsOf } from "../../render/bulk-progress.ts";
import { safeLines } from "../../render/safe-text.ts";
import type { Api } from "../../service/client.ts";
import { finishRun, type ResultsOutput, type RunEnd } from "./finish-run.ts";
import type { BulkOptions } from "./flags.ts";
import { checkList, claim, reportInvalid, withList, type Claim, type List } from "./list.ts";

export async function bulk(context: Context, options: BulkOptions): Promise<number> {
  context.out.streamWarnings();
  const { service } = options;
  return withList(context, options, (list) =>
    service === undefined ? dryRun(context, list) : sendList(context, list, options, service),
  );
}

async function dryRun(context: Context, list: List): Promise<number> {
  const { out } = context;
  const { reporter } = list;
  const checked = await checkList(context, list);
  const { digests, invalid, warnings } = checked;
  const rows = digests.length;
  const failure = invalid.size > 0 ? await reportInvalid(context, list, invalid, rows) : undefined;
  reporter.end();
  reporter.columns(checked);
  reporter.warnings(warnings);
  const unsent_columns = unsentColumns(checked);
  const summary = { type: "summary", rows, invalid: invalid.size, unsent_columns, warnings };
  if (out.json) out.data(JSON.stringify(summary));
  if (failure !== undefined) throw failure;
  if (!out.json) out.data(`${rowsOf(rows)}, all valid. Nothing was sent.`);
  return 0;
}

async function sendList(
  context: Context,
  list: List,
  options: BulkOptions,
  service: string,
): Promise<number> {
  const { reporter } = list;
  // Checked first: after the run it would be too late to learn that the results cannot be written.
  const output = await openOutput(context, options, list);
  const api = await context.api({ exchangeTimeout: options.timeout, retries: false });
  const checked = await checkList(context, list);
  const claimed = await claim(context, list, checked, options, service);
  try {
    const { digests, warnings } = checked;
    reporter.columns(checked);
    reporter.warnings(warnings);
    if (claimed.invalid.size > 0) {
      const failure = await reportInvalid(context, list, claimed.invalid, digests.length);
      if (!options.skipInvalid) throw failure;
    }
    const end = await run(context, list, claimed, checked, options, api);
    reporter.warnings(end.violations);
    await finishRun(context, list, claimed, {
      checked,
      end,
      output,
      isKeyed: options.idempotencyHeader !== undefined,
    });
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
  { sent, invalid, isDue, keyOf }: Claim,
  { digests }: Checked,
  { concurrency, rate, retryUnknown, service }: BulkOptions,
  api: Api,
): Promise<RunEnd> {
  const total = digests.length - invalid.size;
  let due = 0;
  for (let row = 0; row < digests.length; row++) if (isDue(row)) due++;
  reporter.begin(total, total - due);
  const violated = new Warnings();
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
      isDue,
      sent,
      pace,
      build,
      create: async (request, key) => {
        const { text, link, violations } = await api.createLink(request, key);
        return { id: link.id, url: link.url, body: text, violations };
      },
      keyOf,
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
