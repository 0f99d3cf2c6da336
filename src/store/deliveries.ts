/** The statements that change deliveries: events are added to them, claimed, attempted, given back, and ordered by operators. */
import type { Claim, ClaimRequest, Stored } from "../events/event.ts";
import { type DatabaseSession, forRows, inOrder, insert } from "./dialects.ts";
import { eventCondition } from "./event-query.ts";
import { deliveryStateOf } from "./event-rows.ts";
import { selectEvents } from "./sources.ts";
import { isOneOf, raw, type Row, sql } from "./sql.ts";
import { dueFirst, waitingKeys } from "./waiting.ts";
import {
  EVENT_COLUMNS,
  type EndWrite,
  type OperatorOrder,
  type OrderWrite,
  type ReplayWrite,
} from "./writes.ts";

/** An event, new or arrived again, for which a delivery may be wanted. */
interface ArrivedDelivery {
  /** The id of its first delivery. */
  readonly first: string;
  readonly receivedAt: number;
  /** Null if it is not forwarded. With 0 it waits; with another one, it is claimed for so many milliseconds. */
  readonly lease: number | null;
  readonly isRepeated: boolean;
  /** It is acknowledged without being forwarded. */
  readonly isKnown: boolean;
}

interface AddedDelivery extends Pick<Stored, "state" | "attempt"> {
  /** Whether the event is still stored. */
  readonly isKept: boolean;
}

/**
 * Adds deliveries, or begins them again where the event had failed. With a lease, each is claimed, unless it is delivered,
 * skipped, or being attempted. Tells of each event how it stands, by the id of its first delivery. A deleted event did not have to be
 * forwarded any more.
 */
export async function addDeliveries(
  session: DatabaseSession,
  events: readonly ArrivedDelivery[],
): Promise<ReadonlyMap<string, AddedDelivery>> {
  const { now, dialect } = session;
  const { schema, types } = dialect;
  const rows = new Map(
    events.flatMap(({ first, receivedAt, lease }) =>
      lease === null
        ? []
        : [[first, [first, now + lease, Math.min(now, receivedAt), Number(lease > 0)]] as const],
    ),
  );
  const added = await forRows(
    session,
    inOrder([...rows], ([first]) => first).map(([, values]) => values),
    (asked) =>
      // What was deleted is not forwarded again.
      sql`WITH asked (event, due, since, claimed) AS (VALUES ${asked})
       INSERT INTO ${schema}deliveries (event, outcome, key, state, due, set_at, since, attempts)
       SELECT asked.event, events.outcome, events.key, CASE claimed WHEN 0 THEN 'pending' ELSE 'trying' END,
         due, ${now}, since, claimed
       FROM asked JOIN ${schema}events ON events.id = asked.event WHERE TRUE
       ON CONFLICT (event) DO UPDATE SET state = excluded.state, due = excluded.due, set_at = excluded.set_at,
         attempts = deliveries.attempts + excluded.attempts,
         planned = CASE deliveries.state WHEN 'failed' THEN deliveries.attempts ELSE deliveries.planned END
       WHERE deliveries.state = 'failed' OR (excluded.attempts > 0
         AND (deliveries.state = 'pending' OR (deliveries.state = 'trying' AND deliveries.due <= ${now})))
       RETURNING event, attempts, state`,
    ["text", types.integer, types.integer, "integer"],
  );
  const attempts = new Map(
    added.flatMap(({ event, attempts: made, state }) =>
      state === "trying" ? [[String(event), Number(made)] as const] : [],
    ),
  );
  const repeats = [...new Set(events.flatMap(({ first, isRepeated }) => (isRepeated ? [first] : [])))];
  const known = new Set(events.flatMap(({ first, isKnown }) => (isKnown ? [first] : [])));
  // The sender was told that these are known, and does not send them again: what had failed is left to operators.
  await forRows(
    session,
    inOrder([...known], (event) => event).map((event) => [event]),
    (asked) => sql`UPDATE ${schema}deliveries SET comes_again = 0 WHERE event IN (VALUES ${asked})`,
  );
  const kept = await forRows(
    session,
    repeats.map((event) => [event]),
    (asked) =>
      sql`SELECT id, (SELECT state FROM ${schema}deliveries WHERE event = events.id) AS state
       FROM ${schema}events WHERE id IN (VALUES ${asked})`,
    ["text"],
  );
  const stateOf = new Map(kept.map(({ id, state }) => [id, deliveryStateOf(state)]));
  return new Map(
    events.map(({ first, lease, isRepeated }) => {
      const attempt = attempts.get(first);
      if (!isRepeated) return [first, { state: lease === null ? null : "pending", isKept: true, attempt }];
      const state = stateOf.get(first);
      return [
        first,
        { state: state === undefined ? "delivered" : state, isKept: state !== undefined, attempt },
      ];
    }),
  );
}

/** Claims the events that have been due for longest, and reads them. */
export async function claim(
  session: DatabaseSession,
  { lease, ...wanted }: ClaimRequest,
): Promise<readonly Row[]> {
  const { all, now, dialect } = session;
  const { schema, skipLocked } = dialect;
  const keys = (await waitingKeys(session)).filter((key) => wanted.keys.includes(key));
  if (keys.length === 0) return [];
  const due = await all(dueFirst(dialect, { ...wanted, keys, until: now }, skipLocked));
  const events = due.map(({ event }) => String(event));
  if (events.length === 0) return [];
  const claimed = await all(
    sql`UPDATE ${schema}deliveries SET due = ${now + lease}, set_at = ${now}, attempts = attempts + 1, state = 'trying'
     WHERE ${isOneOf(sql`event`, events)}
     RETURNING event, attempts, planned, outcome AS planned_as, key AS claimed_by`,
  );
  const rows = await all(sql`${selectEvents(dialect)} WHERE ${isOneOf(sql`events.id`, events)}`);
  const byId = new Map(rows.map((row) => [row["id"], row]));
  return inOrder(claimed, ({ event }) => String(event)).map(({ event, attempts, planned, ...rest }) => {
    const attempt = Number(attempts);
    return { ...byId.get(event), ...rest, id: event, attempt, made: attempt - Number(planned) - 1 };
  });
}

/** Writes how attempts ended, of those events that nobody has claimed again. */
export async function endAttempts(session: DatabaseSession, ends: readonly EndWrite[]): Promise<[]> {
  const { now, dialect } = session;
  const { schema, types } = dialect;
  const ended = await forRows(
    session,
    inOrder(ends, ({ claim }) => claim.id).map(({ claim: { id, attempt }, at, isAccepted, retry }) => [
      id,
      attempt,
      at,
      isAccepted ? "delivered" : typeof retry === "number" ? "pending" : "failed",
      isAccepted || typeof retry !== "number" ? null : now + retry,
      Number(retry === "by the sender"),
    ]),
    (rows) =>
      // What an operator has decided meanwhile stays, unless the application has accepted the event. The end of one attempt
      // comes twice if the first answer of the database was lost.
      sql`WITH ended (event, attempt, at, state, due, comes_again) AS (VALUES ${rows})
       UPDATE ${schema}deliveries SET state = ended.state, due = ended.due, set_at = ${now}, comes_again = ended.comes_again
       FROM ended
       WHERE deliveries.event = ended.event AND deliveries.attempts = ended.attempt
         AND (deliveries.state = 'trying' OR (ended.state = 'delivered' AND NOT EXISTS (
           SELECT 1 FROM ${schema}attempts
           WHERE attempts.event = ended.event AND attempts.at = ended.at AND replay = 0)))
       RETURNING deliveries.event AS event`,
    ["text", "integer", types.integer, "text", types.integer, "integer"],
  );
  const events = new Set(ended.map(({ event }) => String(event)));
  await insert(
    session,
    "attempts",
    EVENT_COLUMNS.attempts,
    ends.filter(({ claim }) => events.has(claim.id)).map(({ values }) => values),
  );
  return [];
}

/** Gives claimed events back: an attempt that was not made does not count in the plan. */
export async function release(session: DatabaseSession, claims: readonly Claim[]): Promise<[]> {
  const { now, dialect } = session;
  await forRows(
    session,
    inOrder(claims, ({ id }) => id).map(({ id, attempt }) => [id, attempt]),
    (rows) =>
      sql`WITH released (event, attempt) AS (VALUES ${rows})
       UPDATE ${dialect.schema}deliveries SET due = ${now}, set_at = ${now}, state = 'pending', planned = planned + 1
       FROM released WHERE deliveries.event = released.event AND deliveries.attempts = released.attempt
         AND deliveries.state = 'trying'`,
    ["text", "integer"],
  );
  return [];
}

/** Records attempts that belong to no claim, and ends the deliveries that they settle. */
export async function recordReplays(session: DatabaseSession, replays: readonly ReplayWrite[]): Promise<[]> {
  const { schema } = session.dialect;
  await insert(
    session,
    "attempts",
    EVENT_COLUMNS.attempts,
    replays.map(({ values }) => values),
  );
  const settled = replays.flatMap(({ event, settles }) => (settles ? [event] : []));
  await session.all(
    sql`INSERT INTO ${schema}deliveries (event, outcome, key, state, attempts)
     SELECT id, outcome, key, 'delivered', 0 FROM ${schema}events WHERE ${isOneOf(sql`id`, settled)}
     ON CONFLICT (event) DO UPDATE SET state = 'delivered', due = NULL`,
  );
  return [];
}

/** Events that one order changes, for which a `listen` on the same database may have to wait. */
export const ORDER_SIZE = 20_000;

/**
 * Does what an operator orders for events, and keeps who ordered it. Returns those that it has changed, at most
 * `ORDER_SIZE`: none that the application has accepted, and none that is being attempted.
 */
export async function applyOrder(
  session: DatabaseSession,
  { order, events, keys, actor }: OrderWrite,
): Promise<readonly string[]> {
  const { all, now, dialect } = session;
  const { schema, skipLocked } = dialect;
  const owned = keys === null ? sql`TRUE` : isOneOf(sql`key`, keys);
  if ("ids" in events)
    // One that was not to be forwarded so far gets a delivery.
    await all(
      sql`INSERT INTO ${schema}deliveries (event, outcome, key, state, since, attempts)
       SELECT id, outcome, key, 'failed', received_at, 0 FROM ${schema}events
       WHERE ${isOneOf(sql`id`, events.ids)} AND ${owned} ON CONFLICT (event) DO NOTHING`,
    );
  const chosen =
    "ids" in events
      ? isOneOf(sql`event`, events.ids)
      : sql`event IN (SELECT id FROM ${schema}events WHERE ${eventCondition({ ...events, state: "open" }, dialect)})`;
  const { assigned, isOther } = orderSql(order, now);
  const changed = await all(
    sql`UPDATE ${schema}deliveries SET ${assigned} WHERE event IN (
       SELECT event FROM ${schema}deliveries WHERE ${chosen} AND ${owned} AND state <> 'delivered'
         AND NOT (state = 'trying' AND due > ${now}) AND ${isOther}
       LIMIT ${ORDER_SIZE} ${skipLocked}) RETURNING event`,
  );
  const ids = changed.map(({ event }) => String(event));
  await insert(
    session,
    "actions",
    EVENT_COLUMNS.actions,
    ids.map((id) => [id, now, order, actor]),
  );
  return ids;
}

/** What an order assigns, and what it would change: an event that is due with a new plan is retried already. */
const orderSql = (order: OperatorOrder, now: number) =>
  order === "retry"
    ? {
        assigned: sql`state = 'pending', due = ${now}, set_at = ${now}, planned = attempts`,
        isOther: sql`(due IS NULL OR due > ${now} OR planned < attempts)`,
      }
    : { assigned: raw("state = 'skipped', due = NULL"), isOther: raw("state <> 'skipped'") };
