/** Sends a list: opens its journal, refuses changed rows, sends what is due, and reports however the run ended. */
import { setMaxListeners } from "node:events";
import type { Api } from "../../api/client.ts";
import { withoutRetries } from "../../api/retries.ts";
import type { Checked } from "../../bulk/check-rows.ts";
import type { Ledger } from "../../bulk/row-ledger.ts";
import { Pace } from "../../bulk/pace.ts";
import { requireWritable } from "../../bulk/results.ts";
import type { Rows } from "../../bulk/rows.ts";
import { sendRows } from "../../bulk/send-rows.ts";
import { Warnings } from "../../bulk/row-warnings.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { claimJournal, type Claim, type SendOptions } from "./claim-journal.ts";
import { finishRun, type RunEnd } from "./finish-run.ts";
import { invalidRows, type List } from "./open-list.ts";
import { defaultOutput } from "./options.ts";

export async function sendList(context: Context, list: List, options: SendOptions): Promise<number> {
  const { input, rows, reporter } = list;
  // Checked first: after the run it would be too late to learn that the results cannot be written.
  const output = options.output ?? defaultOutput(options.file, rows.format === "json lines");
  requireWritable(output, input.path);
  const send = withoutRetries(context.send, context.now);
  const api = await context.api({ timeout: options.timeout, send });
  const claim = await claimJournal(context, list, options);
  try {
    const { ledger, checked } = claim;
    await refuseChanges(rows, ledger, checked);
    reporter.columns(checked);
    reporter.warnings(checked.warnings);
    if (checked.invalid.size > 0 && !options.skipInvalid) throw invalidRows(checked);
    const end = await run(context, list, claim, options, api);
    reporter.warnings(end.breaches);
    await finishRun(context, list, claim, end, output);
    return 0;
  } finally {
    await claim.close();
  }
}

/** Changed rows that are named one by one; the rest are counted. */
const NAMED = 10;

/** Throws `input_changed` if a row that was sent is different now: nobody can tell which customer its link is for. */
async function refuseChanges(rows: Rows, ledger: Ledger, { asks }: Checked): Promise<void> {
  const { count, first } = ledger.changes(asks, NAMED);
  if (count === 0) return;
  const lines = await linesOf(rows, new Set(first.map(({ row }) => row)));
  const problems = first.map(({ row, outcome }) => {
    const line = lines.get(row);
    const link = outcome.url === undefined ? "may have a link" : `has the link ${outcome.url}`;
    return line === undefined
      ? { at: `row ${row + 1}`, message: `is missing; it ${link}` }
      : { at: `line ${line}`, message: `has changed; it ${link}` };
  });
  if (count > NAMED) problems.push({ at: "", message: `and ${count - NAMED} more` });
  throw new PaylinkError("input_changed", "The list has changed since it was sent. This run sent nothing.", {
    problems,
    details: { changed: count },
    hint: [
      "paylink knows a row by its position and its content. Sent again, some customers would get a second link.",
      "Restore the rows that were sent (you may fix the others, and add new ones at the end),",
      "or save the rows that are still to be sent as a new list, under another name.",
    ].join("\n"),
  });
}

async function linesOf(rows: Rows, wanted: ReadonlySet<number>): Promise<Map<number, number>> {
  const lines = new Map<number, number>();
  for await (const { index, line } of rows.read()) {
    if (wanted.has(index)) lines.set(index, line);
    if (lines.size === wanted.size) break;
  }
  return lines;
}

async function run(
  { now, random, signal }: Context,
  { rows, build, reporter }: List,
  { ledger, checked }: Claim,
  { concurrency, rate, retryUnknown }: SendOptions,
  api: Api,
): Promise<RunEnd> {
  let done = 0;
  for (let row = 0; row < checked.asks.length; row++) if (ledger.isDone(row, retryUnknown)) done++;
  reporter.begin(checked.asks.length - checked.invalid.size, done);
  const breached = new Warnings();
  const halt = new AbortController();
  // Every slot may wait for it.
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
      checked,
      ledger,
      pace,
      build,
      create: async (request) => {
        const { text, link, breaches } = await api.createLink(request);
        return { id: link.id, url: link.url, body: text, breaches };
      },
      concurrency,
      retryUnknown,
      now,
      stop,
      stopped,
      settled: reporter.settled,
      breached: (row, breaches) => breached.add(row, breaches),
    });
  } finally {
    signal.removeEventListener("abort", interrupt);
    reporter.end();
  }
  return { reason: halt.signal.reason, breaches: breached.list() };
}

function sleepUnless(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    // Timers count in 32 bits; the caller asks again.
    const timer = setTimeout(end, Math.min(milliseconds, 2 ** 31 - 1));
    signal.addEventListener("abort", end, { once: true });
  });
}
