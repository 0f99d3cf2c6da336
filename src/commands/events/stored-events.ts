/** What `paylink events` does with the stored events by itself: it lists, exports and deletes them. */
import type { Context } from "../../context.ts";
import { type Effect, PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { outcomeOf, summaryOf } from "../../domain/transaction.ts";
import {
  asReceived,
  type EventFilter,
  type EventStore,
  type Queued,
  type StoredEvent,
  type StoredRejection,
} from "../../receiver/event-store.ts";
import { findOne } from "../../events/store.ts";
import { eventLine, failedCheck } from "../../receiver/events.ts";
import { type Cell, relativeTime, renderTable } from "../../render/layout.ts";
import { deletedWords } from "../../render/received-webhook.ts";
import { safeJson, safeText } from "../../render/safe-text.ts";
import { amountOf, paintOutcome } from "../../render/transaction-record.ts";
import { isConfirmed } from "../shared-flags.ts";

/** Opens the event store for one command: a file or a URL, or the one at the default location. */
export async function withEvents<T>(
  { events }: Context,
  database: string | undefined,
  work: (store: EventStore) => Promise<T>,
): Promise<T> {
  const store = await events(database);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

interface ListOptions {
  readonly filter: EventFilter;
  readonly rejected: boolean;
  readonly quiet: boolean;
  readonly database: string | undefined;
}

/** The newest events as a table, or as JSON lines. */
export async function listEvents(context: Context, options: ListOptions): Promise<number> {
  const { out } = context;
  const { filter, rejected, quiet, database } = options;
  const newest = { ...filter, newestFirst: true };
  await withEvents(context, database, async (store) => {
    const found: AsyncIterable<StoredEvent | StoredRejection> = rejected
      ? store.rejections(newest)
      : store.events(newest);
    if (out.json) return printEach(found, (one) => stringifyJson(lineOf(one)), context);
    if (quiet) return printEach(found, (one) => safeText(nameOf(one)), context);
    const rows: Cell[][] = [];
    for await (const one of found) rows.push(cellsOf(one, context));
    if (rows.length === 0)
      return out.note(
        `No ${rejected ? "rejected webhooks" : `${filter.failed === true ? "failed " : filter.pending === true ? "pending " : ""}events`} found.`,
      );
    const header = HEADERS[rejected ? "rejections" : "events"].map((text): Cell => ({
      text,
      paint: out.paint.dim,
      right: text === "AMOUNT",
    }));
    out.lines([renderTable([header, ...rows], out.lineWidth)]);
  });
  return 0;
}

/** Prints a line for each as fast as it is read, so that memory stays constant. */
async function printEach<T>(
  found: AsyncIterable<T>,
  lineOfOne: (one: T) => string,
  { out, signal }: Context,
): Promise<void> {
  const unread = out.unread();
  for await (const one of found) {
    if (signal.aborted || unread.aborted) return;
    out.lines([lineOfOne(one)]);
    await out.drained();
  }
}

const HEADERS = {
  events: ["RECEIVED", "OUTCOME", "AMOUNT", "REFERENCE", "UTI", "NOTES"],
  rejections: ["RECEIVED", "ID", "STATUS", "CODE", "REASON"],
} as const;

export const nameOf = (one: StoredEvent | StoredRejection): string =>
  one.type === "rejected" ? one.id : one.uti || one.id;

/** The events with these utis and ids, or beginnings of them, before anything is done with the first. */
export async function findEvents(
  store: EventStore,
  names: readonly string[],
  effect: Effect,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (const name of names) {
    const found = await findOne(store, name);
    if (found.type === "rejected")
      throw new PaylinkError("usage", `${name} was rejected, and rejected webhooks are never forwarded.`, {
        effect,
      });
    if (!events.some(({ id }) => id === found.id)) events.push(found);
  }
  return events;
}

function cellsOf(one: StoredEvent | StoredRejection, { now, out: { paint } }: Context): Cell[] {
  const time = { text: relativeTime(one.receivedAt, now()), paint: paint.dim };
  if (one.type === "rejected")
    return [
      time,
      { text: one.id },
      { text: String(one.status), paint: paint.red },
      { text: one.code },
      { text: one.detail },
    ];
  const { record } = asReceived(one);
  const marks = [
    ...(one.repeats > 0 ? [`${one.repeats} repeated`] : []),
    ...(one.accepted ? ["forwarded"] : []),
    ...(one.failed ? ["failed"] : []),
    ...waitingMarks(one.queued, now()),
    ...(one.queued?.state === "skipped" ? ["skipped"] : []),
    ...(one.verdict.verdict === "valid" ? [] : ["UNVERIFIED"]),
  ];
  const outcome = outcomeOf(record);
  return [
    time,
    { text: outcome, paint: () => paintOutcome(outcome, paint) },
    { text: record === null ? "–" : amountOf(record), right: true },
    { text: one.reference || "–" },
    { text: nameOf(one) },
    { text: marks.join(", "), paint: paint.yellow },
  ];
}

/** How many attempts were made, and when the next one is due. */
function waitingMarks(queued: Queued | null, now: Date): string[] {
  if (queued?.state !== "pending") return [];
  const { attempts, next } = queued;
  if (attempts === 0) return ["pending"];
  const made = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  return [`pending, ${made}, next ${next === null || next <= now ? "now" : relativeTime(next, now)}`];
}

function lineOf(one: StoredEvent | StoredRejection): Record<string, unknown> {
  if (one.type === "rejected") {
    const { type, id, receivedAt, code, status, detail, verdict } = one;
    return { type, id, receivedAt, code, status, detail, check: failedCheck(verdict) };
  }
  const { id, receivedAt, repeats, accepted, failed, queued, verdict } = one;
  return {
    type: "event",
    id,
    receivedAt,
    ...summaryOf(asReceived(one)),
    verified: verdict.verdict === "valid",
    repeats,
    accepted,
    failed,
    forwarding: queued,
  };
}

/** Events as the lines of `listen --json`, in order of arrival. */
export async function exportEvents(
  context: Context,
  filter: EventFilter,
  database: string | undefined,
): Promise<number> {
  await withEvents(context, database, (store) =>
    printEach(store.events(filter), (event) => safeJson(eventLine(asReceived(event))), context),
  );
  return 0;
}

/** Deletes what was received before a given time. */
export async function pruneEvents(
  context: Context,
  before: Date,
  database: string | undefined,
): Promise<number> {
  const { out } = context;
  await withEvents(context, database, async (store) => {
    if (!(await mayPrune(store, before, context))) {
      out.note("Nothing was deleted.");
      return;
    }
    const pruned = await store.prune(before);
    await store.shrink();
    out.data(out.json ? JSON.stringify({ before, ...pruned }) : `Deleted ${deletedWords(pruned, before)}`);
  });
  return 0;
}

/** Asks on a terminal, unless there is nothing to delete. */
async function mayPrune(store: EventStore, before: Date, context: Context): Promise<boolean> {
  const old = await store.countBefore(before);
  if (old.events + old.rejections === 0) return true;
  return isConfirmed(context, `Delete ${deletedWords(old, before)}?`);
}
