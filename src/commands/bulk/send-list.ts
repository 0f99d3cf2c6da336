/** Sends a list that is open: claims its journal, refuses what has changed, runs, and concludes whatever ended the run. */
import { setMaxListeners } from "node:events";
import type { Api } from "../../api/client.ts";
import { withoutRetries } from "../../api/retries.ts";
import type { Checked } from "../../bulk/check-rows.ts";
import type { Ledger } from "../../bulk/row-ledger.ts";
import { Pace } from "../../bulk/pace.ts";
import { sendRows } from "../../bulk/send-rows.ts";
import type { Rows } from "../../bulk/rows.ts";
import { Warnings } from "../../bulk/row-warnings.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { openAccount } from "../account.ts";
import { claimJournal } from "./claim.ts";
import { conclude } from "./conclude.ts";
import {
  badRows,
  noteUnsent,
  noteWarnings,
  type Claim,
  type End,
  type List,
  type SendParts,
} from "./list.ts";

export async function sendList(list: List, parts: SendParts, context: Context): Promise<void> {
  const send = withoutRetries(context.send, context.now);
  const api = await openAccount({ ...context, send }, parts.settings, parts.timeout);
  const service = parts.settings.get("baseUrl") ?? "";
  const claim = await claimJournal(list, service, parts, context);
  try {
    const { ledger, checked } = claim;
    await refuseChanges(list, ledger, checked);
    noteUnsent(checked, context);
    noteWarnings(checked.warnings, context);
    if (checked.invalid.size > 0 && parts.flags.skipInvalid !== true) throw badRows(checked);
    const end = await run(list, claim, parts, api, context);
    noteWarnings(end.breaches, context);
    await conclude(list, claim, end, parts, context);
  } finally {
    await claim.release();
  }
}

/** Changed rows that are named one by one; the rest are counted. */
const NAMED = 10;

/** Throws `input_changed` where a row that was sent asks for something else now: who knows which customer it is for? */
async function refuseChanges({ rows }: List, ledger: Ledger, { asks }: Checked): Promise<void> {
  const { count, first } = ledger.changes(asks, NAMED);
  if (count === 0) return;
  const lines = await linesOf(rows, new Set(first.map(({ row }) => row)));
  const problems = first.map(({ row, outcome }) => {
    const line = lines.get(row);
    const link = outcome.url === undefined ? "may have a link" : `has the link ${outcome.url}`;
    return line === undefined
      ? { at: `row ${row + 1}`, message: `is gone; it ${link}` }
      : { at: `line ${line}`, message: `asks for something else now; it ${link}` };
  });
  if (count > NAMED) problems.push({ at: "", message: `and ${count - NAMED} more` });
  throw new PaylinkError(
    "input_changed",
    "Nothing was sent. The list changed after an earlier run sent these rows:",
    {
      problems,
      details: { changed: count },
      hint: [
        "A row is known by its place and its content: sent again, some customers would get a second link.",
        "Put the sent rows back as they were (the others may be mended, and new ones added at the end),",
        "or save what is still to be sent as a new list, under a name of its own.",
      ].join("\n"),
    },
  );
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
  { rows, build, reporter }: List,
  { ledger, checked }: Claim,
  { flags, concurrency, rate }: SendParts,
  api: Api,
  { now, random, signal }: Context,
): Promise<End> {
  const retryUnknown = flags.retryUnknown ?? false;
  let done = 0;
  for (let row = 0; row < checked.asks.length; row++) if (ledger.isDone(row, retryUnknown)) done++;
  reporter.begin(checked.asks.length - checked.invalid.size, done);
  const breached = new Warnings();
  const halt = new AbortController();
  // Every slot may be waiting for it.
  setMaxListeners(0, halt.signal);
  const stopped = (): boolean => halt.signal.aborted;
  const stop = (reason: unknown): void => halt.abort(reason);
  const interrupt = (): void => stop(signal.reason);
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  const sleep = (milliseconds: number): Promise<void> => sleepUnless(milliseconds, halt.signal);
  const { paused } = reporter;
  const pace = new Pace({ rate, clock: () => now().getTime(), sleep, stopped, random, paused });
  await sendRows({
    rows: rows.read(),
    checked,
    ledger,
    pace,
    build,
    create: async (request) => {
      const { link, breaches } = await api.createLink(request);
      return { id: link.id, url: link.url, breaches };
    },
    concurrency,
    retryUnknown,
    now,
    stop,
    stopped,
    settled: reporter.settled,
    breached: (row, breaches) => breached.add(row, breaches),
  });
  signal.removeEventListener("abort", interrupt);
  reporter.end();
  return { reason: halt.signal.reason, breaches: breached.list() };
}

function sleepUnless(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    // Timers count in 32 bits; who waits asks again.
    const timer = setTimeout(end, Math.min(milliseconds, 2 ** 31 - 1));
    signal.addEventListener("abort", end, { once: true });
  });
}
