/** The statements of the deliveries: which events wait, who attempts which, how attempts end, and what operators order. */
import { OUTCOMES } from "../domain/outcome.ts";
import { readRecord } from "../domain/transaction.ts";
import type { Backlog, Claim, ClaimRequest, KeyBacklog, RunKeys, Stored } from "../events/event.ts";
import {
  type DatabaseSession,
  type Dialect,
  type Row,
  type Sql,
  type Value,
  forRows,
  inOrder,
  insert,
  isOneOf,
} from "./dialects.ts";
import { deliveryStateOf } from "./rows.ts";
import { requireSeal } from "./seal.ts";
import { IN_STATE } from "./schema.ts";
import { EVERYTHING, type Selection, selectEvents, selectionConditions } from "./selection.ts";
import {
  EVENT_COLUMNS,
  type EndWrite,
  type OperatorOrder,
  type OrderWrite,
  type ReplayWrite,
  storedPayment,
} from "./writes.ts";

/** An event, new or arrived again, for which a delivery may be wanted. */
interface ArrivedDelivery {
  /** The id of its first delivery. */
  readonly first: string;
  /** Null if it is not forwarded. With a lease of 0 it waits; with another, it is claimed for so long. */
  readonly plan: {
    readonly lease: number;
    readonly receivedAt: number;
    readonly payment: readonly Value[];
  } | null;
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
    events.flatMap(({ first, plan }) => {
      if (plan === null) return [];
      const { lease, receivedAt, payment } = plan;
      return [
        [first, [first, ...payment, now + lease, Math.min(now, receivedAt), lease > 0 ? 1 : 0]] as const,
      ];
    }),
  );
  const added = await forRows(
    session,
    inOrder([...rows], ([first]) => first).map(([, values]) => values),
    (asked) =>
      // What was deleted is not forwarded again.
      `WITH asked (event, outcome, currency, amount, payment, due, since, claimed) AS (VALUES ${asked})
       INSERT INTO ${schema}deliveries (event, outcome, currency, amount, payment, key, state, due, set_at, since, attempts)
       SELECT asked.event, asked.outcome, asked.currency, asked.amount, asked.payment, key,
         CASE claimed WHEN 0 THEN 'pending' ELSE 'trying' END, due, ?, since, claimed
       FROM asked JOIN ${schema}events ON events.id = asked.event WHERE TRUE
       ON CONFLICT (event) DO UPDATE SET state = excluded.state, due = excluded.due, set_at = excluded.set_at,
         attempts = deliveries.attempts + excluded.attempts,
         planned = CASE deliveries.state WHEN 'failed' THEN deliveries.attempts ELSE deliveries.planned END
       WHERE deliveries.state = 'failed' OR (excluded.attempts > 0
         AND (deliveries.state = 'pending' OR (deliveries.state = 'trying' AND deliveries.due <= ?)))
       RETURNING event, attempts, state`,
    {
      types: ["text", "text", "text", types.integer, "text", types.integer, types.integer, "integer"],
      more: [now, now],
    },
  );
  const attempts = new Map(
    added.flatMap(({ event, attempts: made, state }) =>
      state === "trying" ? [[String(event), Number(made)] as const] : [],
    ),
  );
  const repeats = events.filter(({ isRepeated }) => isRepeated);
  await endRepeats(
    session,
    repeats.filter(({ isKnown }) => isKnown).map(({ first }) => first),
  );
  const kept = await keptDeliveries(
    session,
    repeats.map(({ first }) => first),
  );
  return new Map(
    events.map(({ first, plan, isRepeated }) => {
      const own: Omit<AddedDelivery, "attempt"> = { state: plan && "pending", isKept: true };
      const known = isRepeated ? kept.get(first) : own;
      return [first, { ...(known ?? { state: "delivered", isKept: false }), attempt: attempts.get(first) }];
    }),
  );
}

/**
 * The sender was told that these events are known, and does not send them again: a late repeat is acknowledged without being
 * forwarded, so what had failed is left to operators.
 */
async function endRepeats(session: DatabaseSession, events: readonly string[]): Promise<void> {
  await forRows(
    session,
    inOrder([...new Set(events)], (event) => event).map((event) => [event]),
    (asked) =>
      `UPDATE ${session.dialect.schema}deliveries SET comes_again = 0 WHERE event IN (VALUES ${asked})`,
  );
}

/** Of those events that are still stored. */
async function keptDeliveries(
  session: DatabaseSession,
  events: readonly string[],
): Promise<ReadonlyMap<string, Omit<AddedDelivery, "attempt">>> {
  const { schema } = session.dialect;
  const found = await forRows(
    session,
    events.map((event) => [event]),
    (asked) =>
      `SELECT id, (SELECT state FROM ${schema}deliveries WHERE event = events.id) AS state
       FROM ${schema}events WHERE id IN (VALUES ${asked})`,
    { types: ["text"] },
  );
  return new Map(found.map(({ id, state }) => [String(id), { state: deliveryStateOf(state), isKept: true }]));
}

/**
 * A clock that was ahead, and was set, has left times later than now: what waits keeps its delay, counted from now. Only what is due
 * later is looked at.
 */
export async function keepDelays(session: DatabaseSession): Promise<void> {
  const { all, now, dialect } = session;
  const { schema, skipLocked } = dialect;
  const ofOutcomes = isOneOf("outcome", OUTCOMES);
  for (const key of await waitingKeys(session))
    await all(
      `UPDATE ${schema}deliveries SET due = due - set_at + ?, set_at = ?, since = CASE WHEN since > ? THEN ? ELSE since END
       WHERE event IN (SELECT event FROM ${schema}deliveries
         WHERE key = ? AND ${ofOutcomes.sql} AND due > ? AND set_at > ? ${skipLocked})`,
      [now, now, now, now, key, ...ofOutcomes.values, now, now],
    );
}

/** The keys whose events wait, each found by one lookup in the index: the events may be many, the keys are few. */
export async function waitingKeys({ all, dialect: { schema } }: Pick<DatabaseSession, "all" | "dialect">) {
  const first = `SELECT min(key) FROM ${schema}deliveries WHERE due IS NOT NULL`;
  const rows = await all(
    `WITH RECURSIVE waiting (key) AS (${first} UNION ALL
       SELECT (${first} AND key > waiting.key) FROM waiting WHERE key IS NOT NULL)
     SELECT key FROM waiting WHERE key IS NOT NULL`,
  );
  return rows.map(({ key }) => String(key));
}

/**
 * The events that are due first, until a time. Those of each key and outcome are read by themselves, so that the index gives
 * the rows in order.
 */
export function dueFirst(
  { schema }: Dialect,
  { keys, outcomes, until, limit, isFresh = false }: Omit<ClaimRequest, "lease"> & { readonly until: number },
  lock = "",
): Sql {
  const ordered = `ORDER BY due, event LIMIT ?`;
  const ofOutcome = (_: string, index: number): string => `SELECT * FROM (
    SELECT event, due FROM ${schema}deliveries
    WHERE key = ? AND outcome = ? AND due <= ? ${isFresh ? "AND attempts = planned" : ""}
    ${ordered} ${lock}) AS of${index}`;
  // SQLite joins at most 500 lists: those of a key are one.
  const ofKey = outcomes.map(ofOutcome).join(" UNION ALL ");
  const ofKeys = keys.map((_, index) => `SELECT * FROM (${ofKey} ${ordered}) AS key${index}`);
  return {
    sql: `SELECT event FROM (${ofKeys.join(" UNION ALL ")}) AS found ${ordered}`,
    values: [
      ...keys.flatMap((key) => [...outcomes.flatMap((outcome) => [key, outcome, until, limit]), limit]),
      limit,
    ],
  };
}

/** Claims the events that have been due for longest, and reads them. */
export async function claim(
  session: DatabaseSession,
  { lease, ...wanted }: ClaimRequest,
): Promise<readonly Row[]> {
  const { all, now, dialect } = session;
  const { schema, skipLocked, materialized } = dialect;
  const keys = (await waitingKeys(session)).filter((key) => wanted.keys.includes(key));
  if (keys.length === 0) return [];
  const { sql, values } = dueFirst(dialect, { ...wanted, keys, until: now }, skipLocked);
  const claimed = await all(
    `WITH due_now AS ${materialized} (${sql})
     UPDATE ${schema}deliveries SET due = ?, set_at = ?, attempts = attempts + 1, state = 'trying'
     WHERE event IN (SELECT event FROM due_now)
     RETURNING event, attempts, planned, outcome AS planned_as, key AS claimed_by`,
    [...values, now + lease, now],
  );
  if (claimed.length === 0) return [];
  const ids = claimed.map(({ event }) => String(event));
  const found = isOneOf("events.id", ids);
  const rows = await all(`${selectEvents(dialect)} WHERE ${found.sql}`, found.values);
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
      `WITH ended (event, attempt, at, state, due, comes_again) AS (VALUES ${rows})
       UPDATE ${schema}deliveries SET state = ended.state, due = ended.due, set_at = ?, comes_again = ended.comes_again FROM ended
       WHERE deliveries.event = ended.event AND deliveries.attempts = ended.attempt
         AND (deliveries.state = 'trying' OR (ended.state = 'delivered' AND NOT EXISTS (
           SELECT 1 FROM ${schema}attempts
           WHERE attempts.event = ended.event AND attempts.at = ended.at AND replay = 0)))
       RETURNING deliveries.event AS event`,
    { types: ["text", "integer", types.integer, "text", types.integer, "integer"], more: [now] },
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
  await forRows(
    session,
    inOrder(claims, ({ id }) => id).map(({ id, attempt }) => [id, attempt]),
    (rows) =>
      `WITH released (event, attempt) AS (VALUES ${rows})
       UPDATE ${session.dialect.schema}deliveries SET due = ?, set_at = ?, state = 'pending', planned = planned + 1
       FROM released WHERE deliveries.event = released.event AND deliveries.attempts = released.attempt
         AND deliveries.state = 'trying'`,
    { types: ["text", "integer"], more: [session.now, session.now] },
  );
  return [];
}

/** Records attempts that belong to no claim, and ends the deliveries that they settle. */
export async function recordReplays(session: DatabaseSession, replays: readonly ReplayWrite[]): Promise<[]> {
  const { schema, types } = session.dialect;
  await insert(
    session,
    "attempts",
    EVENT_COLUMNS.attempts,
    replays.map(({ values }) => values),
  );
  await forRows(
    session,
    replays.filter(({ settles }) => settles).map(({ event, payment }) => [event, ...payment]),
    (rows) =>
      `WITH settled (event, outcome, currency, amount, payment) AS (VALUES ${rows})
       INSERT INTO ${schema}deliveries (event, outcome, currency, amount, payment, key, state, attempts)
       SELECT settled.event, settled.outcome, settled.currency, settled.amount, settled.payment, key, 'delivered', 0
       FROM settled JOIN ${schema}events ON events.id = settled.event WHERE TRUE
       ON CONFLICT (event) DO UPDATE SET state = 'delivered', due = NULL`,
    { types: ["text", "text", "text", types.integer, "text"] },
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
  const owned = ofKeys(keys);
  const chosen =
    "ids" in events ? await chosenEvents(session, events.ids, owned) : openEvents(dialect, events);
  const { assigned, given, isOther, more } = orderSql(order, now);
  const changed = await all(
    `UPDATE ${schema}deliveries SET ${assigned} WHERE event IN (
       SELECT event FROM ${schema}deliveries WHERE ${chosen.sql} AND ${owned.sql} AND state <> 'delivered'
         AND NOT (state = 'trying' AND due > ?)
         AND ${isOther}
       LIMIT ${ORDER_SIZE} ${skipLocked}) RETURNING event`,
    [...given, ...chosen.values, ...owned.values, now, ...more],
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
        assigned: "state = 'pending', due = ?, set_at = ?, planned = attempts",
        given: [now, now],
        isOther: "(due IS NULL OR due > ? OR planned < attempts)",
        more: [now],
      }
    : { assigned: "state = 'skipped', due = NULL", given: [], isOther: "state <> 'skipped'", more: [] };

/** Of every key, if no list of keys is given. */
const ofKeys = (keys: RunKeys | null): Sql =>
  keys === null ? { sql: "TRUE", values: [] } : isOneOf("key", keys);

/** Events by their ids. One that was not to be forwarded so far gets a delivery. */
async function chosenEvents(session: DatabaseSession, ids: readonly string[], owned: Sql): Promise<Sql> {
  const { schema } = session.dialect;
  const named = isOneOf("id", ids);
  const unplanned = await session.all(
    `SELECT * FROM ${schema}events WHERE ${named.sql} AND ${owned.sql}
       AND NOT EXISTS (SELECT 1 FROM ${schema}deliveries WHERE event = events.id)`,
    [...named.values, ...owned.values],
  );
  await insert(
    session,
    "deliveries",
    EVENT_COLUMNS.deliveries,
    unplanned.map((row) => {
      requireSeal(row);
      const { id, key, body, received_at: receivedAt } = row;
      const { record } = readRecord(body instanceof Uint8Array ? body : new Uint8Array());
      return [String(id), ...storedPayment(record), String(key), "failed", Number(receivedAt), 0];
    }),
    "ON CONFLICT (event) DO NOTHING",
  );
  return isOneOf("event", ids);
}

/** The deliveries of all events that wait or failed, as far as they are selected. */
export function openEvents(dialect: Dialect, selection: Selection): Sql {
  const { schema } = dialect;
  const open = `event IN (SELECT event FROM ${schema}deliveries WHERE due IS NOT NULL
    UNION ALL SELECT event FROM ${schema}deliveries WHERE ${IN_STATE.failed})`;
  const { where, values } = selectionConditions(selection, dialect);
  if (where === EVERYTHING) return { sql: open, values };
  return { sql: `${open} AND event IN (SELECT id FROM ${schema}events WHERE ${where})`, values };
}

/** What waits and what has failed of each key, and when an attempt was last made. From indexes alone, since both may be many. */
export async function backlogOf(session: Pick<DatabaseSession, "all" | "dialect">): Promise<Backlog> {
  const { all, dialect } = session;
  const waiting = await waitingByKey(session);
  const failed = await all(
    `SELECT key, count(*) AS n FROM ${dialect.schema}deliveries WHERE ${IN_STATE.failed} GROUP BY key`,
  );
  const failedOf = new Map(failed.map(({ key, n }) => [String(key), Number(n)]));
  const keys = new Set([...waiting.keys(), ...failedOf.keys()]);
  return {
    keys: [...keys]
      .toSorted()
      .map((key) => ({ key, ...(waiting.get(key) ?? NONE_WAITING), failed: failedOf.get(key) ?? 0 })),
    lastForward: await lastForward(session),
  };
}

const NONE_WAITING = { events: 0, oldest: undefined, overdue: 0 };

/** What waits of each key. From the index of what waits, not that of events. */
export async function waitingByKey({
  all,
  dialect: { schema, now },
}: Pick<DatabaseSession, "all" | "dialect">): Promise<
  ReadonlyMap<string, Pick<KeyBacklog, "events" | "oldest" | "overdue">>
> {
  const rows = await all(
    `SELECT key, events, overdue, (SELECT since FROM ${schema}deliveries WHERE event = first) AS oldest
     FROM (SELECT key, count(*) AS events, ${now} - min(due) AS overdue, min(event || '') AS first
       FROM ${schema}deliveries WHERE due IS NOT NULL GROUP BY key) AS of_key`,
  );
  return new Map(
    rows.map(({ key, events, oldest, overdue }) => [
      String(key),
      { events: Number(events), oldest: asDate(oldest), overdue: Math.max(0, Number(overdue)) },
    ]),
  );
}

/** When an attempt was last made. */
export async function lastForward({
  all,
  dialect: { schema },
}: Pick<DatabaseSession, "all" | "dialect">): Promise<Date | undefined> {
  const [attempt] = await all(
    `SELECT at FROM ${schema}attempts WHERE seq = (SELECT max(seq) FROM ${schema}attempts)`,
  );
  return asDate(attempt?.["at"]);
}

const asDate = (time: unknown): Date | undefined => (time == null ? undefined : new Date(Number(time)));
