/** `paylink events list`: the newest events as a table, or as JSON lines. */
import type { Context } from "../../context.ts";
import { stringifyJson } from "../../domain/json.ts";
import { outcomeOf, summaryOf } from "../../domain/transaction.ts";
import { amountOf, paintOutcome } from "../../render/transaction-record.ts";
import { safeText } from "../../render/safe-text.ts";
import { type Cell, relativeTime, renderTable } from "../../render/layout.ts";
import { asReceived, type StoredEvent, type StoredRejection } from "../../receiver/event-store.ts";
import type { ListOptions } from "./options.ts";
import { withEvents } from "./stored-events.ts";

export async function listEvents(context: Context, options: ListOptions): Promise<number> {
  const { out } = context;
  const { filter, rejected, quiet } = options;
  const recordAt = (await context.settings()).get("recordAt");
  const found: (StoredEvent | StoredRejection)[] = [];
  await withEvents(context, options, async (store) => {
    for await (const one of rejected ? store.rejections(filter) : store.events(filter)) found.push(one);
  });
  // Stores are read in order of arrival.
  found.reverse();
  if (out.json) out.lines(found.map((one) => stringifyJson(lineOf(one, recordAt))));
  else if (quiet) out.lines(found.map((one) => safeText(nameOf(one))));
  else if (found.length === 0)
    out.note(
      `No ${rejected ? "rejected webhooks" : filter.failed === true ? "failed events" : "events"} found.`,
    );
  else {
    const header = HEADERS[rejected ? "rejections" : "events"].map((text): Cell => ({
      text,
      paint: out.paint.dim,
      right: text === "AMOUNT",
    }));
    const rows = found.map((one) => cellsOf(one, recordAt, context));
    out.lines([renderTable([header, ...rows], out.lineWidth)]);
  }
  return 0;
}

const HEADERS = {
  events: ["RECEIVED", "OUTCOME", "AMOUNT", "REFERENCE", "UTI", "NOTES"],
  rejections: ["RECEIVED", "ID", "STATUS", "CODE", "REASON"],
} as const;

const nameOf = (one: StoredEvent | StoredRejection): string =>
  one.type === "rejected" ? one.id : one.uti || one.id;

function cellsOf(
  one: StoredEvent | StoredRejection,
  recordAt: string | undefined,
  { now, out: { paint } }: Context,
): Cell[] {
  const time = { text: relativeTime(one.receivedAt, now()), paint: paint.dim };
  if (one.type === "rejected")
    return [
      time,
      { text: one.id },
      { text: String(one.status), paint: paint.red },
      { text: one.code },
      { text: one.detail },
    ];
  const { record } = asReceived(one, recordAt);
  const marks = [
    ...(one.repeats > 0 ? [`${one.repeats} repeated`] : []),
    ...(one.accepted ? ["forwarded"] : []),
    ...(one.failed ? ["failed"] : []),
    ...(one.queued?.state === "pending" ? ["pending"] : []),
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

function lineOf(one: StoredEvent | StoredRejection, recordAt: string | undefined): Record<string, unknown> {
  if (one.type === "rejected") {
    const { type, id, receivedAt, code, status, detail, checks } = one;
    return { type, id, receivedAt, code, status, detail, checks };
  }
  const { id, receivedAt, repeats, accepted, failed, queued, verdict } = one;
  return {
    type: "event",
    id,
    receivedAt,
    ...summaryOf(asReceived(one, recordAt)),
    verified: verdict.verdict === "valid",
    repeats,
    accepted,
    failed,
    forwarding: queued,
  };
}
