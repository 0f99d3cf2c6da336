/** What `paylink events` does with the stored events by itself: it lists, counts and deletes them. */
import { addTo } from "../../values/groups.ts";
import type { Context } from "../../context.ts";
import { type Effect, PaylinkError } from "../../domain/errors.ts";
import { amountIn, outcomeOf, textOf } from "../../domain/transaction.ts";
import type { StoredDelivery, StoredEvent, StoredRequest } from "../../events/history.ts";
import type { EventStore } from "../../store/event-store.ts";
import { formatAmount } from "../../domain/money.ts";
import { type CurrencySum, type KeyStats, NO_EVENTS, type StateStats } from "../../store/stats.ts";
import { shortKey } from "../../signatures/thumbprint.ts";
import { eventStanding } from "../../events/event-standing.ts";
import { standingLabel } from "../../events/event-standing-words.ts";
import { eventLine, jsonLine, rejectionLine } from "../../events/event-json.ts";
import {
  type Cell,
  fitLines,
  formatPeriod,
  listedTime,
  renderListing,
  NO_VALUE,
} from "../../render/layout.ts";
import { deletedWords } from "../../render/received-webhook.ts";
import { csvRecord, csvTime } from "../../render/csv-listing.ts";
import { safeJson, safeText } from "../../render/safe-text.ts";
import { statsSentence, sumTexts } from "../../render/stats.ts";
import { recordAmount, paintOutcome } from "../../render/transaction-record.ts";
import { isTelling, STANDING_LABELS } from "../../orders/standing-words.ts";
import type { ValuesOf } from "../command.ts";
import { readingKeys, withOrders } from "../order-standings.ts";
import { isConfirmed, saidNo } from "../shared-flags.ts";
import { DEFAULT_LIMIT, type listFlags } from "./command.ts";
import { UNITS } from "../../values/time.ts";

type ListValues = ValuesOf<typeof listFlags> & { readonly order: string | undefined };

/** Beyond it, more events are not counted. */
export const MOST_COUNTED = 10_000;

/** The newest events as a table, or as JSON lines. Without a limit of the user, it says how many more there are. */
export async function listEvents(context: Context, values: ListValues): Promise<number> {
  const { out, now } = context;
  const { rejected, quiet, all } = values;
  const { limit = all ? undefined : DEFAULT_LIMIT } = values;
  const state = values.failed ? ("failed" as const) : values.pending ? ("pending" as const) : undefined;
  const filter = { ...values, limit, state, newestFirst: true };
  const store = await context.events(values.db);
  const found: AsyncIterable<StoredRequest> = rejected
    ? store.rejections(filter)
    : quiet
      ? store.events(filter)
      : withOrders(store.events(filter), store, readingKeys(context));
  let shown = 0;
  if (out.json) shown = await printEach(found, (one) => storedLine(one), context);
  else if (quiet) shown = await printEach(found, (one) => safeText(utiOrId(one)), context);
  else if (values.csv) {
    out.lines([csvRecord(LISTING_TITLES[rejected ? "rejections" : "events"].flatMap(csvTitles))]);
    shown = await printEach(found, (one) => csvRecord(storedCsv(one, context)), context);
  } else {
    const byKey = new Map<string, Cell[][]>();
    for await (const one of found) {
      addTo(byKey, one.type === "event" ? one.key : "", storedCells(one, context));
      shown += 1;
    }
    if (shown === 0) {
      const what = rejected ? "rejected webhooks" : `${state ?? ""} events`.trim();
      const place = [safeText(store.place), formatPeriod(values)].filter(Boolean).join(", ");
      out.note(`No ${what} found in ${place}.`);
      return 0;
    }
    for (const [key, rows] of byKey) {
      if (byKey.size > 1) out.lines([out.paint.bold(`Verified by the key ${key}`)]);
      out.lines([renderListing(LISTING_TITLES[rejected ? "rejections" : "events"], rows, out)]);
    }
  }
  if (values.limit !== undefined || limit === undefined || shown < limit) return 0;
  const count = await store.count(filter, MOST_COUNTED, rejected);
  if (count <= shown) return 0;
  out.line(() => jsonLine("summary", now(), { shown, of: count }), undefined);
  out.note(`${shown} of ${count === MOST_COUNTED ? `${MOST_COUNTED} or more` : count}; --all shows the rest`);
  return 0;
}

/** Prints a line for each as fast as it is read, so that memory stays constant. Returns how many were printed. */
async function printEach<T>(
  found: AsyncIterable<T>,
  lineOfOne: (one: T) => string,
  { out, signal }: Context,
): Promise<number> {
  const unread = out.unread();
  let printed = 0;
  for await (const one of found) {
    if (signal.aborted || unread.aborted) return printed;
    out.lines([lineOfOne(one)]);
    printed += 1;
    await out.drained();
  }
  return printed;
}

const LISTING_TITLES = {
  events: ["RECEIVED", "OUTCOME", "AMOUNT", "REFERENCE", "UTI", "NOTES"],
  rejections: ["RECEIVED", "ID", "STATUS", "CODE", "REASON"],
} as const;

export const utiOrId = (one: StoredRequest): string => (one.type === "rejected" ? one.id : one.uti || one.id);

/** The events that a user names, before anything is done with the first. */
export async function findEvents(
  store: EventStore,
  names: readonly string[],
  effect: Effect,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (const name of names) {
    const found = await store.findOne(name);
    if (found.type === "rejected")
      throw new PaylinkError("usage", `${name} was rejected, and rejected webhooks are never forwarded.`, {
        effect,
      });
    if (!events.some(({ id }) => id === found.id)) events.push(found);
  }
  return events;
}

/** An amount and its currency are apart. */
const csvTitles = (title: string): string[] =>
  title === "AMOUNT" ? ["amount", "currency"] : [title.toLowerCase()];

/** The columns of the table. */
function storedCsv(one: StoredRequest, context: Context): string[] {
  const [, ...cells] = storedCells(one, context).map(({ text }) => (text === NO_VALUE ? "" : text));
  const time = csvTime(one.receivedAt);
  if (one.type === "rejected") return [time, ...cells];
  const { record } = one.content;
  const [outcome = "", , ...others] = cells;
  const amount = record === null ? undefined : amountIn(record, "amountTrans");
  const currency = record === null ? undefined : textOf(record, "transCurrencyCode");
  return [time, outcome, amount?.toString() ?? "", currency ?? "", ...others];
}

function storedCells(one: StoredRequest, context: Context): Cell[] {
  const { paint } = context.out;
  const time = { text: listedTime(one.receivedAt, context), paint: paint.dim };
  if (one.type === "rejected")
    return [
      time,
      { text: one.id },
      { text: String(one.status), paint: paint.red },
      { text: one.code },
      { text: one.detail },
    ];
  const { record } = one.content;
  const marks = [
    ...(one.order !== undefined && isTelling(one.order, one.outcome)
      ? [`order ${STANDING_LABELS[one.order.standing]}`]
      : []),
    ...(one.repeats > 0 ? [`${one.repeats} repeated`] : []),
    ...(one.delivery === null ? [] : [deliveryLabel(one.delivery, context)]),
  ];
  const outcome = outcomeOf(record);
  return [
    time,
    { text: outcome, paint: () => paintOutcome(outcome, paint) },
    { text: record === null ? NO_VALUE : recordAmount(record), right: true },
    { text: one.reference || NO_VALUE },
    { text: utiOrId(one) },
    { text: marks.join(", "), paint: paint.yellow },
  ];
}

/** In a few words, for lists. */
export const deliveryLabel = (delivery: StoredDelivery | null, context: Context): string =>
  standingLabel(eventStanding(delivery), (next) => {
    if (next <= context.now()) return "now";
    const time = listedTime(next, context);
    return context.out.isTerminal ? time : `at ${time}`;
  });

/** As `listen --json` prints it, and what became of an event. */
function storedLine(one: StoredRequest): string {
  if (one.type === "rejected") return rejectionLine(one);
  const { repeats, delivery } = one;
  const line = safeJson(eventLine(one));
  return `${line.slice(0, -1)},${JSON.stringify({ repeats, delivery }).slice(1)}`;
}

/** The rows of the table, by what they are called. */
const STATS_LABELS = {
  pending: "pending",
  failed: "failed",
  comesAgain: "  of these, the service sends again",
  skipped: "skipped",
  delivered: "delivered, 24 h",
} as const;
type StatsRow = keyof typeof STATS_LABELS;
const STATS_ROWS: readonly StatsRow[] = ["pending", "failed", "comesAgain", "skipped", "delivered"];
const NO_STATES: Readonly<Record<StatsRow, StateStats>> = {
  pending: NO_EVENTS,
  failed: NO_EVENTS,
  comesAgain: NO_EVENTS,
  skipped: NO_EVENTS,
  delivered: NO_EVENTS,
};

/** `EUR 1152.80` */
const sumText = ({ amount, currency }: CurrencySum): string => formatAmount(amount, currency).trim();

/** Says whether money is being lost now. */
export async function showStats(context: Context, database: string | undefined): Promise<number> {
  const { out, now } = context;
  const store = await context.events(database);
  const stats = await store.stats(new Date(now().getTime() - UNITS.d), now());
  const right = (text: string): Cell => ({ text, right: true });
  const rowsOf = (of: Pick<KeyStats, StatsRow>): Cell[][] =>
    STATS_ROWS.filter((row) => row !== "comesAgain" || of[row].events > 0).map((row) => [
      { text: STATS_LABELS[row] },
      right(String(of[row].events)),
      { text: sumTexts(of[row].sums).join(", ") || NO_VALUE },
    ]);
  const [only = NO_STATES, ...others] = stats.keys;
  const listingOf = (of: typeof only, title: string): string =>
    renderListing([title, "COUNT", "APPROVED"], rowsOf(of), out);
  const targets = stats.attempts.map(({ target, accepted, refused, unanswered }) => [
    { text: target },
    right(String(accepted + refused + unanswered)),
    { text: `${accepted} accepted, ${refused} refused, ${unanswered} without an answer`, isWhole: true },
  ]);
  const shown = [
    statsSentence(stats, now()),
    ...(others.length === 0
      ? [listingOf(only, "EVENTS")]
      : stats.keys.map((one) => listingOf(one, `EVENTS OF KEY ${shortKey(one.key)}`))),
    ...(targets.length === 0 ? [] : [renderListing(["ATTEMPTS, 24 h", "COUNT", "ANSWERS"], targets, out)]),
  ];
  const keys = stats.keys.map((one) => ({
    ...one,
    ...Object.fromEntries(
      STATS_ROWS.map((row) => [row, { ...one[row], sums: (one[row].sums ?? []).map(sumText) }]),
    ),
  }));
  out.result({ ...stats, keys }, fitLines(shown.join("\n"), out.lineWidth));
  return 0;
}

/** Deletes what was received before a given time. */
export async function pruneEvents(
  context: Context,
  { before, db }: { readonly before: Date; readonly db: string | undefined },
): Promise<number> {
  const { out } = context;
  const store = await context.events(db, { upgrade: true });
  const old = await store.countBefore(before);
  if (
    old.events + old.rejections > 0 &&
    !(await isConfirmed(context, `Delete ${deletedWords(old, before)}?`))
  )
    return saidNo(context);
  const pruned = await store.prune(before);
  out.result({ before, ...pruned }, fitLines(`Deleted ${deletedWords(pruned, before)}`, out.lineWidth));
  return 0;
}
