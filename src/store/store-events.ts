/** Stores what arrived in a group: new events, further deliveries of known ones, and rejections that have become events. */
import { hash } from "node:crypto";
import { type ReadRecord, readRecord } from "../domain/transaction.ts";
import type { Warning } from "../domain/reasons.ts";
import type { Stored } from "../events/event.ts";
import { joinedLine } from "../events/event-json.ts";
import { recordNumber } from "../orders/order-number.ts";
import { type Payment, paymentIn } from "../orders/order.ts";
import { isPaidTwiceWith, type OrderStanding } from "../orders/standing.ts";
import { addDeliveries } from "./deliveries.ts";
import { type DatabaseSession, forRows, inOrder, insert } from "./dialects.ts";
import { sql } from "./sql.ts";
import { standingsAtArrival } from "./order-standings.ts";
import { verdictColumn } from "./event-rows.ts";
import { EVENT_COLUMNS, type EventWrite, eventValues, indexed } from "./writes.ts";

/** A webhook of a group, once it is known whether it is new. */
interface Arrived {
  readonly write: EventWrite;
  readonly content: ReadRecord;
  readonly payment: Payment | null;
  /** The id of its first delivery: its own, unless it is a repeat. */
  readonly first: string;
  /** Nothing of it was stored before: not by a group whose success the receiver did not learn of. */
  readonly isNew: boolean;
  readonly isRepeated: boolean;
}

/** One result for each, undefined for one that had to be known and is not. What is forwarded at once is also claimed. */
export async function storeEvents(
  session: DatabaseSession,
  writes: readonly EventWrite[],
): Promise<readonly (Stored | undefined)[]> {
  const arrived = await identified(session, writes);
  const orders = await standingsAtArrival(
    session,
    arrived.map(({ write: { key, keys }, content, payment, first }) => ({
      first,
      number: indexed(recordNumber(content.record)),
      key,
      keys,
      payment,
    })),
  );
  const isSecond = ({ payment, first }: Arrived): boolean => {
    const order = orders.get(first);
    return order !== undefined && payment !== null && isPaidTwiceWith(payment, order);
  };
  const events = arrived.map((one) => (isSecond(one) ? warnedOf(one, "order_paid_before") : one));
  await insert(
    session,
    "events",
    EVENT_COLUMNS.events,
    events.filter(({ isNew }) => isNew).map(({ write, content }) => eventValues(write, content.record)),
  );
  const deliveries = await addDeliveries(
    session,
    events.map(({ write: { lease, receivedAt, isKnown }, first, isRepeated }) => ({
      first,
      receivedAt,
      lease,
      isRepeated,
      isKnown,
    })),
  );
  await insert(
    session,
    "arrivals",
    ["event", "id", "received_at"],
    events
      // Nothing would delete an arrival whose event was deleted before.
      .filter(({ first, isRepeated }) => isRepeated && deliveries.get(first)?.isKept === true)
      .map(({ write, first }) => [first, write.id, write.receivedAt]),
  );
  await endAcceptance(session, events);
  const attempted = new Set<string>();
  const stored = new Map<string, Stored>();
  for (const event of events) {
    const { write, first, isRepeated } = event;
    const { state = null, attempt } = deliveries.get(first) ?? {};
    // Of several deliveries in one group, one makes the attempt.
    const own = attempt === undefined || attempted.has(first) ? {} : { attempt };
    attempted.add(first);
    const order = orders.get(first);
    const line = isRepeated ? undefined : printed(event, order);
    const told = line === undefined && order !== undefined ? { order } : {};
    const paid = isSecond(event) ? { isPaidBefore: true } : {};
    stored.set(write.id, { repeated: isRepeated, first, state, line, ...told, ...paid, ...own });
  }
  return writes.map(({ id }) => stored.get(id));
}

/** The JSON of its verdict has one more warning. */
function warnedOf(arrived: Arrived, warning: Warning): Arrived {
  const read = verdictColumn.parse(arrived.write.verdict);
  const verdict = JSON.stringify({ ...read, warnings: [...read.warnings, warning] });
  return { ...arrived, write: { ...arrived.write, verdict } };
}

/** Only verified events are stored. The line of a repeat differs, and is rare: it is made when it is printed. */
const printed = ({ write, content }: Arrived, order: OrderStanding | undefined): string | undefined =>
  write.print === null
    ? undefined
    : joinedLine(write, content, {
        repeated: false,
        level: "info",
        order,
        isCompact: write.print === "compact",
      });

/**
 * Finds the first deliveries by the digests of the bodies: verified by any key of the run, since the service may sign a repeat with its
 * next key. Stores the digests of new ones. Without those that had to be known and are not.
 */
async function identified(
  session: DatabaseSession,
  writes: readonly EventWrite[],
): Promise<readonly Arrived[]> {
  const digested = writes.map((write) => ({
    write,
    own: webhookIdentity(write.key, write),
    // With one key, the usual case, there are none.
    others: write.keys.filter((key) => key !== write.key).map((key) => webhookIdentity(key, write)),
  }));
  const known = await eventsWith(
    session,
    digested.flatMap(({ write, own, others }) => (write.isKnown ? [own, ...others] : others)),
  );
  const asked = digested.filter(
    ({ write, others }) => !write.isKnown && !others.some((other) => known.has(other)),
  );
  const inserted = await insert(
    session,
    "digests",
    ["digest", "event", "received_at"],
    inOrder(asked, ({ own }) => own).map(({ write, own }) => [
      Buffer.from(own, "hex"),
      write.id,
      write.receivedAt,
    ]),
    sql`ON CONFLICT (digest) DO NOTHING RETURNING event`,
  );
  const added = new Set(inserted.map(({ event }) => String(event)));
  const before = await eventsWith(
    session,
    asked.filter(({ write }) => !added.has(write.id)).map(({ own }) => own),
  );
  return digested.flatMap(({ write, own, others }) => {
    const isNew = added.has(write.id);
    const [found] = [own, ...others].flatMap((digest) => before.get(digest) ?? known.get(digest) ?? []);
    const first = isNew ? write.id : found;
    if (first === undefined) return [];
    const content = readRecord(write.body);
    const payment = content.record && paymentIn(content.record);
    return [{ write, content, payment, first, isNew, isRepeated: first !== write.id }];
  });
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
    (places) => sql`SELECT digest, event FROM ${schema}digests WHERE digest IN (VALUES ${places})`,
    [types.bytes],
  );
  return new Map(
    found.map(({ digest, event }) => [
      digest instanceof Uint8Array ? Buffer.from(digest).toString("hex") : "",
      String(event),
    ]),
  );
}

/** Removes the rejections that have become events, or repeats of events, and keeps who accepted them. */
async function endAcceptance(session: DatabaseSession, events: readonly Arrived[]): Promise<void> {
  const { schema } = session.dialect;
  const accepted = events.flatMap(({ write: { id, acceptedBy }, first }) =>
    acceptedBy === undefined ? [] : [{ id, first, by: acceptedBy }],
  );
  await insert(
    session,
    "actions",
    EVENT_COLUMNS.actions,
    accepted.map(({ first, by }) => [first, session.now, "accept", by]),
  );
  await forRows(
    session,
    accepted.map(({ id }) => [id]),
    (places) => sql`DELETE FROM ${schema}rejections WHERE id IN (VALUES ${places})`,
  );
}
