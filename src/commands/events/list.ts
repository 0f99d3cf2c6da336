/** `paylink events list`: the newest events as a table, or as JSON lines. */
import type { Context } from "../../context.ts";
import { memberOf, stringifyJson } from "../../domain/json.ts";
import { amountOf, paintOutcome } from "../../render/transaction-record.ts";
import { safeText } from "../../render/safe-text.ts";
import { renderTable, type Cell } from "../../render/table.ts";
import { relativeTime } from "../../render/time.ts";
import type { KeptEvent, KeptRejection } from "../../store/event-archive.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import { asReceived, readFilter, withEvents } from "./archive.ts";
import type { ListFlags } from "./command.ts";

/** As many as a screen holds; `--limit` says otherwise. */
const LISTED = 20;

export async function list(context: Context, flags: ListFlags): Promise<void> {
  const { out, now } = context;
  const filter = readFilter(flags, now(), LISTED);
  await withEvents(context, flags, (store) => {
    const rejected = flags.rejected === true;
    const found = rejected ? [...store.rejections(filter)] : [...store.events(filter)];
    if (out.json) for (const one of found) out.data(stringifyJson(lineOf(one)));
    else if (flags.quiet === true) for (const one of found) out.data(safeText(nameOf(one)));
    else if (found.length === 0) out.note(rejected ? "Nothing was rejected." : "There are no such events.");
    else out.data(renderTable(found.map((one) => cells(one, context))));
  });
}

const nameOf = (one: KeptEvent | KeptRejection): string =>
  one.type === "rejected" ? one.id : one.uti || one.id;

function cells(one: KeptEvent | KeptRejection, { now, out: { paint } }: Context): Cell[] {
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
    ...(one.taken ? ["forwarded"] : []),
    ...(one.verdict.verdict === "valid" ? [] : ["UNVERIFIED"]),
  ];
  const outcome = outcomeOf(record ?? {});
  return [
    time,
    { text: outcome, paint: () => paintOutcome(outcome, paint) },
    { text: record === null ? "-" : amountOf(record), right: true },
    { text: one.reference || "-" },
    { text: nameOf(one) },
    { text: marks.join(", "), paint: paint.yellow },
  ];
}

function lineOf(one: KeptEvent | KeptRejection): Record<string, unknown> {
  if (one.type === "rejected") {
    const { type, id, receivedAt, code, status, detail, checks } = one;
    return { type, id, receivedAt, code, status, detail, checks };
  }
  const { id, uti, receivedAt, reference, repeats, taken, verdict } = one;
  const { record } = asReceived(one);
  const amount = record === null ? undefined : memberOf(record, "amountTrans");
  return {
    type: "event",
    id,
    uti,
    receivedAt,
    outcome: one.outcome,
    amount: amount === undefined ? null : amount,
    currency: record === null ? null : (memberOf(record, "transCurrencyCode") ?? null),
    reference,
    verified: verdict.verdict === "valid",
    repeats,
    taken,
  };
}
