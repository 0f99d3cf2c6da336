/** Writes a group of events, attempts, rejections and orders in one transaction, with the same statements in both databases. */
import { hash } from "node:crypto";
import { UNITS } from "../domain/time.ts";
import { type ReadRecord, readRecord, type TransactionRecord } from "../domain/transaction.ts";
import type { Warning } from "../domain/reasons.ts";
import type { Stored } from "../events/event.ts";
import { idAt } from "../events/event-id.ts";
import { joinedLine } from "../events/event-json.ts";
import {
  addDeliveries,
  applyOrder,
  backlogOf,
  claim,
  endAttempts,
  endRepeats,
  keepDelays,
  release,
  recordReplays,
  statesOf,
} from "./deliveries.ts";
import { type DatabaseSession, forRows, inOrder, insert, type Transact } from "./dialects.ts";
import { advanceFact } from "./facts.ts";
import { standingsAtArrival } from "./order-standings.ts";
import { recordNumber } from "../orders/order-number.ts";
import { type Payment, paymentIn } from "../orders/order.ts";
import { isPaidTwiceWith, type OrderStanding } from "../orders/standing.ts";
import { verdictColumn } from "./rows.ts";
import { oldEvents } from "./selection.ts";
import {
  EVENT_COLUMNS,
  type EventWrite,
  eventValues,
  indexed,
  storedPayment,
  type Pruned,
  type RejectionWrite,
  type Told,
  type Write,
  type WriteResult,
} from "./writes.ts";
import { mayBeWebhook, WORTH } from "./worth.ts";

/** The most rejections to store of those with a signature, which may be payments, and of the others. */
const MAX_REJECTIONS = [
  { least: WORTH.signed, most: WORTH.verified, count: 10_000 },
  { least: WORTH.unsigned, most: WORTH.unsigned, count: 1_000 },
];
/** Events deleted in one transaction, for which a `listen` on the same database may have to wait. */
const PRUNE_SIZE = 500;

/** Milliseconds by which a clock may be corrected without a look at what waits. */
const CLOCK_STEP = 1_000;

/** Returns one result for each write once the successful ones are durable. Rejects if nothing can be written. */
export type WriteGroup = (writes: readonly Write[]) => Promise<readonly WriteResult[]>;

interface WriterParts {
  readonly transact: Transact;
  /** Whether a failure may be of one write, so that the others can be stored. */
  readonly isOfOne: (reason: unknown) => boolean;
}

export function createGroupWriter({ transact, isOfOne }: WriterParts): WriteGroup {
  /** The latest time of the database: before the first group, any clock may have been ahead. */
  let latest = Infinity;
  const writeGroup: WriteGroup = async (writes) => {
    try {
      const told = await transact(async (session) => {
        const wasSet = latest - session.now > CLOCK_STEP;
        if (wasSet) await keepDelays(session);
        const results = await writeAll(session, writes);
        latest = wasSet ? session.now : Math.max(latest, session.now);
        return results;
      });
      return told.map((value) => ({ status: "fulfilled", value }));
    } catch (reason) {
      if (writes.length <= 1 || !isOfOne(reason)) return writes.map(() => ({ status: "rejected", reason }));
      // One write that fails must not fail the others. Halving finds it in few commits.
      const half = writes.length >> 1;
      return [...(await writeGroup(writes.slice(0, half))), ...(await writeGroup(writes.slice(half)))];
    }
  };
  return writeGroup;
}

export async function writeAll(session: DatabaseSession, writes: readonly Write[]): Promise<Told[]> {
  const of = <Type extends Write["type"]>(type: Type) =>
    writes.filter((write): write is Extract<Write, { type: Type }> => write.type === type);
  const stored = await storeEvents(session, of("event"));
  await endAttempts(session, of("end"));
  await release(
    session,
    of("release").flatMap(({ claims }) => claims),
  );
  await recordReplays(session, of("replay"));
  const dropped = await insertRejections(session, of("rejection"));
  await keepDropped(session, [...dropped, ...of("dropped").map(({ until }) => until)]);
  const told: Told[] = [];
  for (const write of writes) {
    if (write.type === "event") told.push({ stored: stored.get(write.id) });
    else if (write.type === "claim") told.push({ claimed: await claim(session, write) });
    else if (write.type === "order") told.push({ changed: await applyOrder(session, write) });
    else if (write.type === "prune") told.push({ pruned: await pruneStore(session, write.before) });
    else if (write.type === "backlog") told.push({ backlog: await backlogOf(session) });
    else told.push({});
  }
  return told;
}

/** Stores new events and further deliveries of known ones, and claims what is forwarded now. */
async function storeEvents(
  session: DatabaseSession,
  arrived: readonly EventWrite[],
): Promise<ReadonlyMap<string, Stored>> {
  const contents = new Map(arrived.map(({ id, body }) => [id, readRecord(body)]));
  const recordOf = ({ id }: EventWrite): TransactionRecord | null => contents.get(id)?.record ?? null;
  const firsts = await firstDeliveries(session, arrived);
  const firstOf = ({ id }: EventWrite): string => firsts.get(id) ?? id;
  const taken = arrived.filter(({ id, isKnown }) => !isKnown || firsts.has(id));
  const paymentOf = (event: EventWrite): Payment | null => {
    const record = recordOf(event);
    return record && paymentIn(record);
  };
  const orders = await standingsAtArrival(
    session,
    taken.map((event) => ({
      first: firstOf(event),
      number: indexed(recordNumber(recordOf(event))),
      key: event.key,
      keys: event.keys,
      payment: paymentOf(event),
    })),
  );
  const isSecond = (event: EventWrite): boolean => {
    const [order, payment] = [orders.get(firstOf(event)), paymentOf(event)];
    return order !== undefined && payment !== null && isPaidTwiceWith(payment, order);
  };
  const events = taken.map((event) =>
    isSecond(event) ? { ...event, verdict: withWarning(event.verdict, "order_paid_before") } : event,
  );
  const isRepeated = (event: EventWrite): boolean => firstOf(event) !== event.id;
  await insert(
    session,
    "events",
    EVENT_COLUMNS.events,
    events.filter((event) => !isRepeated(event)).map((event) => eventValues(event, recordOf(event))),
    // It was stored before, and the receiver did not learn of it.
    "ON CONFLICT (id) DO NOTHING",
  );
  const repeated = events.filter(isRepeated);
  // Nothing would delete an arrival whose event was deleted before.
  const kept = await keptOf(session, repeated.map(firstOf));
  await insert(
    session,
    "arrivals",
    ["event", "id", "received_at"],
    repeated
      .filter((event) => kept.has(firstOf(event)))
      .map((event) => [firstOf(event), event.id, event.receivedAt]),
  );
  await endAcceptance(
    session,
    events.flatMap((event) =>
      event.acceptedBy === undefined ? [] : [{ id: event.id, first: firstOf(event), by: event.acceptedBy }],
    ),
  );
  const claims = await addDeliveries(
    session,
    events.map((event) => {
      const { lease, receivedAt } = event;
      return [firstOf(event), { lease, receivedAt, payment: storedPayment(recordOf(event)) }];
    }),
  );
  await endRepeats(session, repeated.filter(({ isKnown }) => isKnown).map(firstOf));
  const states = await statesOf(session, repeated.map(firstOf));
  const claimed = new Set<string>();
  return new Map(
    events.map((event) => {
      const first = firstOf(event);
      // Of several deliveries in one group, one makes the attempt.
      const own = claimed.has(first) ? undefined : claims.get(first);
      if (own !== undefined) claimed.add(first);
      const state = isRepeated(event) ? (states.get(first) ?? null) : event.lease === null ? null : "pending";
      const content = isRepeated(event) ? undefined : contents.get(event.id);
      const order = orders.get(first);
      const line = content && printed(event, content, order);
      const told = line === undefined && order !== undefined ? { order } : {};
      const paid = isSecond(event) ? { isPaidBefore: true } : {};
      return [event.id, { repeated: isRepeated(event), first, state, line, ...told, ...paid, ...own }];
    }),
  );
}

/** The JSON of a verdict with one more warning. */
function withWarning(verdict: string, warning: Warning): string {
  const read = verdictColumn.parse(verdict);
  return JSON.stringify({ ...read, warnings: [...read.warnings, warning] });
}

/** Only verified events are stored. The line of a repeat differs, and is rare: it is made when it is printed. */
const printed = (
  event: EventWrite,
  content: ReadRecord,
  order: OrderStanding | undefined,
): string | undefined =>
  event.print === null
    ? undefined
    : joinedLine(event, content, {
        repeated: false,
        level: "info",
        order,
        isCompact: event.print === "compact",
      });

/**
 * The first deliveries of those events that were stored before, by the digests of their bodies: verified by any key of the run,
 * since the service may sign a repeat with its next key.
 */
async function firstDeliveries(
  session: DatabaseSession,
  events: readonly EventWrite[],
): Promise<ReadonlyMap<string, string>> {
  const identified = events.map((event) => ({
    event,
    own: webhookIdentity(event.key, event),
    // With one key, the usual case, there are none.
    others: event.keys.filter((key) => key !== event.key).map((key) => webhookIdentity(key, event)),
  }));
  const known = await eventsWith(
    session,
    identified.flatMap(({ event, own, others }) => (event.isKnown ? [own, ...others] : others)),
  );
  const isNew = ({ event, others }: (typeof identified)[number]): boolean =>
    !event.isKnown && !others.some((other) => known.has(other));
  const added = inOrder(identified.filter(isNew), ({ own }) => own);
  const inserted = await insert(
    session,
    "digests",
    ["digest", "event", "received_at"],
    added.map(({ event, own }) => [Buffer.from(own, "hex"), event.id, event.receivedAt]),
    "ON CONFLICT (digest) DO NOTHING RETURNING event",
  );
  const repeated =
    inserted.length === added.length
      ? new Map<string, string>()
      : await eventsWith(
          session,
          added.map(({ own }) => own),
        );
  return new Map(
    identified.flatMap(({ event, own, others }) => {
      const [first] = [own, ...others].flatMap((digest) => repeated.get(digest) ?? known.get(digest) ?? []);
      // They are equal if this delivery is the first.
      return first === undefined || first === event.id ? [] : [[event.id, first] as const];
    }),
  );
}

/** The digest of a body that a key has verified: what another key has verified is never the same event. In hex. */
const webhookIdentity = (key: string, { body }: EventWrite): string =>
  hash("sha256", Buffer.concat([Buffer.from(key), body]), "hex");

/** The events that are stored under these digests. */
async function eventsWith(
  session: DatabaseSession,
  digests: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { schema, types } = session.dialect;
  const found = await forRows(
    session,
    digests.map((digest) => [Buffer.from(digest, "hex")]),
    (places) => `SELECT digest, event FROM ${schema}digests WHERE digest IN (VALUES ${places})`,
    { types: [types.bytes] },
  );
  return new Map(
    found.map(({ digest, event }) => [
      digest instanceof Uint8Array ? Buffer.from(digest).toString("hex") : "",
      String(event),
    ]),
  );
}

/** Which of these events are still stored. */
async function keptOf(session: DatabaseSession, events: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await forRows(
    session,
    events.map((event) => [event]),
    (places) => `SELECT id FROM ${session.dialect.schema}events WHERE id IN (VALUES ${places})`,
    { types: ["text"] },
  );
  return new Set(found.map(({ id }) => String(id)));
}

interface Acceptance {
  /** The id of the rejection. */
  readonly id: string;
  /** The event that it became, or that was stored before with the same bytes. */
  readonly first: string;
  readonly by: string;
}

/** Removes the rejections that have become events, and keeps who accepted them. */
async function endAcceptance(session: DatabaseSession, accepted: readonly Acceptance[]): Promise<void> {
  const { schema } = session.dialect;
  await insert(
    session,
    "actions",
    EVENT_COLUMNS.actions,
    accepted.map(({ first, by }) => [first, session.now, "accept", by]),
  );
  await forRows(
    session,
    accepted.map(({ id }) => [id]),
    (places) => `DELETE FROM ${schema}rejections WHERE id IN (VALUES ${places})`,
  );
}

/**
 * Beyond the most that are kept, the least worth goes first, and of equal worth the oldest. Two groups that trim at the same time
 * delete different rows, and do not wait for each other. Gives when those were received that may have been webhooks and are not kept.
 */
async function insertRejections(
  session: DatabaseSession,
  rejections: readonly RejectionWrite[],
): Promise<readonly number[]> {
  const { schema, skipLocked } = session.dialect;
  await insert(
    session,
    "rejections",
    EVENT_COLUMNS.rejections,
    rejections.map(({ values }) => values),
  );
  const dropped: number[] = [];
  for (const { least, most, count } of MAX_REJECTIONS) {
    if (!rejections.some(({ worth }) => worth >= least && worth <= most)) continue;
    const rows = await session.all(
      `DELETE FROM ${schema}rejections WHERE seq IN (
         SELECT seq FROM ${schema}rejections WHERE worth >= ? AND (worth, seq) <= (
           SELECT worth, seq FROM ${schema}rejections WHERE worth BETWEEN ? AND ?
           ORDER BY worth DESC, seq DESC LIMIT 1 OFFSET ?)
         ${skipLocked}) RETURNING received_at, worth, code`,
      [least, least, most, count],
    );
    for (const { received_at: at, worth, code } of rows)
      if (mayBeWebhook({ worth: Number(worth), code: String(code) })) dropped.push(Number(at));
  }
  return dropped;
}

/** To the minute, so that most groups of a flood have nothing to change. */
async function keepDropped(session: DatabaseSession, times: readonly number[]): Promise<void> {
  if (times.length === 0) return;
  const last = times.reduce((one, other) => Math.max(one, other));
  await advanceFact(session, "dropped", Math.ceil((last + 1) / UNITS.m) * UNITS.m);
}

/** Deletes some of the old events, and the old rejections when no such event is left. Their digests stay. */
async function pruneStore(session: DatabaseSession, time: Date): Promise<Pruned> {
  const { all, dialect } = session;
  const { schema, skipLocked } = dialect;
  const before = idAt(time);
  const events = await all(
    `DELETE FROM ${schema}events WHERE seq IN (
       SELECT seq FROM ${schema}${oldEvents(dialect)} LIMIT ${PRUNE_SIZE} ${skipLocked}) RETURNING id`,
    [before],
  );
  for (const table of ["arrivals", "deliveries", "attempts", "actions"])
    await forRows(
      session,
      events.map(({ id }) => [String(id)]),
      (places) => `DELETE FROM ${schema}${table} WHERE event IN (VALUES ${places})`,
    );
  const rejections =
    events.length > 0
      ? []
      : await all(`DELETE FROM ${schema}rejections WHERE id < ? RETURNING seq`, [before]);
  if (events.length + rejections.length > 0) await advanceFact(session, "pruned", time.getTime());
  if (dialect.giveBack !== undefined) await all(dialect.giveBack);
  return { events: events.length, rejections: rejections.length };
}
