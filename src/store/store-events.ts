/** Stores what arrived in a group: new events, further deliveries of known ones, and rejections that have become events. */
import { addTo } from "../values/groups.ts";
import { hash } from "node:crypto";
import { type ReadRecord, readRecord } from "../domain/transaction.ts";
import type { Stored } from "../events/event.ts";
import { joinedLine } from "../events/event-json.ts";
import { recordNumber } from "../orders/order-number.ts";
import { type Payment, paymentIn } from "../orders/order.ts";
import { isPaidTwiceWith, type OrderStanding } from "../orders/standing.ts";
import { addDeliveries } from "./deliveries.ts";
import { type DatabaseSession, forRows, inOrder, insert } from "./dialects.ts";
import { sql } from "./sql.ts";
import { orderRecords, type OrderRecords, standingsAtArrival } from "./order-standings.ts";
import { verdictColumn } from "./event-rows.ts";
import { EVENT_COLUMNS, type EventWrite, eventValues, indexed, storedUti } from "./writes.ts";

/** A webhook of a group. */
interface Arrived {
  readonly write: EventWrite;
  readonly content: ReadRecord;
  readonly payment: Payment | null;
  readonly uti: string;
  /** Its digest, and those that it has if another key of the run has verified it: by each of them it is a repeat. */
  readonly digests: readonly [own: string, ...others: string[]];
  /** The id of its first delivery: its own, unless it is a repeat. */
  readonly first: string;
}

/** One result for each, undefined for one that had to be known and is not. What is forwarded at once is also claimed. */
export async function storeEvents(
  session: DatabaseSession,
  writes: readonly EventWrite[],
): Promise<readonly (Stored | undefined)[]> {
  const arrived = writes.map(arrivedAs);
  const records = await orderRecords(session, arrived.map(numberOf));
  await insertNew(session, arrived, standingsOf(records, arrived));
  const events = await withFirst(session, arrived);
  const orders = standingsOf(records, events);
  const deliveries = await addDeliveries(
    session,
    events.map((event) => {
      const { lease, receivedAt, isKnown } = event.write;
      return { first: event.first, receivedAt, lease, isRepeated: isRepeat(event), isKnown };
    }),
  );
  await insert(
    session,
    "arrivals",
    ["event", "id", "received_at"],
    events
      // Nothing would delete an arrival whose event was deleted before.
      .filter((event) => isRepeat(event) && deliveries.get(event.first)?.isKept === true)
      .map(({ write, first }) => [first, write.id, write.receivedAt]),
  );
  await endAcceptance(session, events);
  const attempted = new Set<string>();
  const stored = new Map<string, Stored>();
  for (const event of events) {
    const { write, first } = event;
    const repeated = isRepeat(event);
    const { state = null, attempt } = deliveries.get(first) ?? {};
    // Of several deliveries in one group, one makes the attempt.
    const own = attempt === undefined || attempted.has(first) ? {} : { attempt };
    attempted.add(first);
    const order = orders.get(first);
    const isSecond = isSecondPayment(event, order);
    const line = repeated ? undefined : printed(isSecond ? withWarning(event) : event, order);
    const told = line === undefined && order !== undefined ? { order } : {};
    const paid = isSecond ? { isPaidBefore: true } : {};
    stored.set(write.id, { repeated, first, state, line, ...told, ...paid, ...own });
  }
  return writes.map(({ id }) => stored.get(id));
}

const isRepeat = ({ write, first }: Arrived): boolean => first !== write.id;

/** As if it were new. */
function arrivedAs(write: EventWrite): Arrived {
  const { key, keys, body } = write;
  const content = readRecord(body);
  return {
    write,
    content,
    payment: content.record && paymentIn(content.record),
    uti: storedUti(content.record),
    // With one key, the usual case, there are no others.
    digests: [
      eventDigest(key, body),
      ...keys.filter((other) => other !== key).map((other) => eventDigest(other, body)),
    ],
    first: write.id,
  };
}

/** Of a body that a key has verified: what another key has verified is never the same event. Half of the SHA-256, for the index. */
const eventDigest = (key: string, body: Uint8Array): string =>
  hash("sha256", Buffer.concat([Buffer.from(key), body]), "base64url").slice(0, 22);

const numberOf = ({ content }: Arrived): string => indexed(recordNumber(content.record));

const standingsOf = (records: OrderRecords, arrived: readonly Arrived[]) =>
  standingsAtArrival(
    records,
    arrived.map((one) => {
      const { write, payment, first } = one;
      return { first, number: numberOf(one), key: write.key, keys: write.keys, payment };
    }),
  );

const isSecondPayment = ({ payment }: Arrived, order: OrderStanding | undefined): boolean =>
  order !== undefined && payment !== null && isPaidTwiceWith(payment, order);

/** Inserts those that the database does not have, as far as its unique index tells: another receiver may store the same one. */
async function insertNew(
  session: DatabaseSession,
  arrived: readonly Arrived[],
  orders: ReadonlyMap<string, OrderStanding>,
): Promise<void> {
  const asked = arrived.filter(({ write }) => !write.isKnown);
  await insert(
    session,
    "events",
    EVENT_COLUMNS.events,
    // On a server, two groups may have the same events; in a file they stay in the order of arrival.
    (session.dialect.concurrent ? inOrder(asked, ({ digests: [own] }) => own) : asked).map((event) => {
      const { write } = isSecondPayment(event, orders.get(event.first)) ? withWarning(event) : event;
      return eventValues(write, event.content.record, event.digests[0]);
    }),
    sql`ON CONFLICT (uti, digest) DO NOTHING`,
  );
}

/**
 * Finds the first deliveries, verified by any key of the run, since the service may sign a repeat with its next key; also of those
 * events that were deleted. What was inserted beside a first delivery is deleted again. Without those that had to be known and are not.
 */
async function withFirst(session: DatabaseSession, arrived: readonly Arrived[]): Promise<readonly Arrived[]> {
  const { schema } = session.dialect;
  const found = await forRows(
    session,
    arrived.flatMap(({ uti, digests }) => digests.map((digest) => [uti, digest])),
    (places) =>
      sql`WITH asked (uti, digest) AS (VALUES ${places})
       SELECT asked.digest AS digest, id FROM asked JOIN ${schema}events AS events
         ON events.uti = asked.uti AND events.digest = asked.digest
       UNION ALL SELECT asked.digest, event FROM asked JOIN ${schema}digests AS deleted ON deleted.digest = asked.digest`,
    ["text", "text"],
  );
  const idsOf = new Map<string, string[]>();
  for (const { digest, id } of found) addTo(idsOf, String(digest), String(id));
  const own = new Set(arrived.map(({ write }) => write.id));
  const events = arrived.flatMap((one) => {
    const ids = one.digests.flatMap((digest) => idsOf.get(digest) ?? []);
    // Of several that arrived together, the first.
    const first = ids.find((id) => !own.has(id)) ?? ids.toSorted()[0];
    return first === undefined ? [] : [{ ...one, first }];
  });
  const inserted = new Set(found.map(({ id }) => id));
  await forRows(
    session,
    events.filter((event) => isRepeat(event) && inserted.has(event.write.id)).map(({ write }) => [write.id]),
    (places) => sql`DELETE FROM ${schema}events WHERE id IN (VALUES ${places})`,
    ["text"],
  );
  return events;
}

/** The JSON of its verdict has one more warning. */
function withWarning(arrived: Arrived): Arrived {
  const read = verdictColumn.parse(arrived.write.verdict);
  const verdict = JSON.stringify({ ...read, warnings: [...read.warnings, "order_paid_before"] });
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
