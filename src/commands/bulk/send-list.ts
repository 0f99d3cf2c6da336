/** Sends a list: checks its rows, claims it, sends what is due, and reports how the run ended. */
import { setMaxListeners } from "node:events";
import { join } from "node:path";
import type { Api } from "../../service/client.ts";
import { Pace } from "../../bulk/pace.ts";
import { fileSink, isCsv, openWrittenResults, requireWritable, type Sink } from "../../bulk/results.ts";
import { sendRows } from "../../bulk/send-rows.ts";
import { Warnings } from "../../bulk/check-rows.ts";
import type { Context, Output } from "../../context.ts";
import { LONGEST_TIMER } from "../../domain/time.ts";
import { type Claim, claim, type SendOptions } from "./claim.ts";
import { finishRun, type ResultsOutput, type RunEnd } from "./finish-run.ts";
import { checkList, type List, reportInvalid } from "./list.ts";
import { defaultOutput } from "./options.ts";

export async function sendList(context: Context, list: List, options: SendOptions): Promise<number> {
  const { reporter } = list;
  // Checked first: after the run it would be too late to learn that the results cannot be written.
  const output = await openOutput(context, options, list);
  const api = await context.api({ exchangeTimeout: options.timeout, retries: false });
  const checked = await checkList(context, list);
  const claimed = await claim(context, list, options, checked);
  try {
    const { digests, warnings } = checked;
    reporter.columns(checked);
    reporter.warnings(warnings);
    if (claimed.invalid.size > 0) {
      const failure = await reportInvalid(context, list, claimed.invalid, digests.length);
      if (!options.skipInvalid) throw failure;
    }
    const end = await run(context, list, claimed, { ...options, digests, api });
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
  { output, file, force }: SendOptions,
  { input, rows }: List,
): Promise<ResultsOutput> {
  if (output === "-") return { format: rows.format, sink: stdoutSink(out), path: undefined };
  const path = output ?? defaultOutput(file, rows.format === "json lines");
  const results = { path, force, written: openWrittenResults(join(dataFolder, "results")) };
  await requireWritable(results, input.path);
  return { format: isCsv(path) ? "csv" : "json lines", sink: fileSink(results, newId()), path };
}

const stdoutSink =
  (out: Output): Sink =>
  async (chunks) => {
    for await (const chunk of chunks) {
      if (out.unread().aborted) return;
      out.bytes(chunk);
      await out.drained();
    }
  };

interface RunOptions extends SendOptions {
  /** The digest of each row. */
  readonly digests: readonly number[];
  readonly api: Api;
}

async function run(
  { now, random, signal }: Context,
  { rows, build, reporter, now: serviceNow }: List,
  { sent, invalid, isDue, keyOf }: Claim,
  { concurrency, rate, digests, api, retryUnknown }: RunOptions,
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
  const pace = new Pace({ rate, clock: () => now().getTime(), sleep, stopped, random, paused });
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
