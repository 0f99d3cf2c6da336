/** The queue of acknowledged events: its statements, which give each event to one forwarder at a time. */
import { isAccepted } from "../receiver/events.ts";
import { changeRows, forRows, inOrder, removeRows, type Session } from "./dialects.ts";
import { selectEvents } from "./reading.ts";
import type { AttemptWrite, ClaimedRows, ClaimWrite, EventWrite } from "./writes.ts";

/**
 * Adds the events that the application has not accepted: new ones in order of arrival, then repeated ones in the order of
 * their key. One that failed stays failed. Events without a reference go out side by side.
 */
export async function enqueue(
  session: Session,
  events: readonly EventWrite[],
  firstOf: (event: EventWrite) => string,
): Promise<void> {
  const { schema, types } = session.dialect;
  const queued = events
    .filter((event) => event.queued)
    .map((event) => {
      const first = firstOf(event);
      return { event, first, reference: event.reference || first };
    });
  const added = queued.filter(({ event, first }) => first === event.id);
  const repeated = queued.filter(({ event, first }) => first !== event.id);
  await changeRows(
    session,
    [...added, ...inOrder(repeated, ({ first }) => first)].map(({ event, first, reference }, place) => [
      place,
      first,
      reference,
      event.outcome,
      event.receivedAt,
    ]),
    (places) =>
      `WITH asked (place, event, reference, outcome, received_at) AS (VALUES ${places})
       INSERT INTO ${schema}queued (event, reference, outcome, received_at)
       SELECT event, reference, outcome, received_at FROM asked
       WHERE NOT EXISTS (
         SELECT 1 FROM ${schema}forwards WHERE forwards.event = asked.event AND status BETWEEN 200 AND 299)
       ORDER BY place ON CONFLICT (event) DO NOTHING`,
    { types: [types.integer, "text", "text", "text", types.integer] },
  );
  await bringTurns(
    session,
    inOrder(queued, ({ reference }) => reference).map(({ first }) => first),
  );
}

/** The turn of a reference comes no later than its events are due: call this whenever some are due earlier than before. */
export async function bringTurns(session: Session, events: readonly string[]): Promise<void> {
  const { schema } = session.dialect;
  await changeRows(
    session,
    events.map((event) => [event]),
    (places) =>
      `INSERT INTO ${schema}turns (reference, due, seq, outcome)
       SELECT reference, due, seq, outcome FROM (
         SELECT queued.*, row_number() OVER (PARTITION BY reference ORDER BY due, seq) AS place FROM ${schema}queued
         WHERE event IN (VALUES ${places}) AND due IS NOT NULL) AS asked
       WHERE place = 1 ORDER BY reference
       ON CONFLICT (reference) DO UPDATE SET due = excluded.due, seq = excluded.seq, outcome = excluded.outcome
         WHERE (excluded.due, excluded.seq) < (turns.due, turns.seq)`,
  );
}

/** By the clock of the server, if there is one: those of machines differ. */
export const timeOf = ({ now }: Session, own: number): number => now ?? own;

/** The events of a turn, the next one first. */
const ofTurn = (schema: string): string =>
  `FROM ${schema}queued WHERE queued.reference = turns.reference AND queued.due IS NOT NULL
   ORDER BY queued.due, queued.seq LIMIT 1`;

/**
 * Renews the claims of the events that this forwarder holds, and claims more that are due, in the order of `due` and
 * arrival, as many as `bytes` of bodies allow, and at least one. An event waits while another one of its reference is
 * claimed, or is ahead of it.
 */
export async function claimTurns(
  session: Session,
  { owner, now: own, duration, held, delays, ...wanted }: ClaimWrite,
): Promise<ClaimedRows> {
  const { all, change, dialect } = session;
  const { schema } = dialect;
  const now = timeOf(session, own);
  const until = now + duration;
  let failed = 0;
  if (held.length > 0)
    await change(`UPDATE ${schema}turns SET until = ? WHERE owner = ? AND event IN (${places(held)})`, [
      until,
      owner,
      ...held,
    ]);
  if (delays !== undefined) {
    // Written by a clock that was ahead: the difference of two forwarders that look at the same time is no such clock.
    await change(`UPDATE ${schema}turns SET until = ? WHERE event IS NOT NULL AND until > ?`, [
      until,
      now + duration * 1.5,
    ]);
    failed = await replan(session, delays, now);
  }
  if (wanted.limit <= 0) return { rows: [], nextDue: undefined, failed };
  const claimed = await takeTurns(session, { ...wanted, owner, now, until });
  const rows =
    claimed.length === 0
      ? []
      : await all(
          `${selectEvents(dialect)} WHERE events.id IN (${places(claimed)})
           ORDER BY due, (SELECT seq FROM ${schema}queued WHERE queued.event = events.id)`,
          claimed,
        );
  // Whoever has as many as it wanted asks again soon.
  if (claimed.length >= wanted.limit) return { rows, nextDue: undefined, failed };
  const [next] = await all(`SELECT min(due) AS due FROM ${schema}queued WHERE due > ?`, [now]);
  return { rows, nextDue: next?.["due"] == null ? undefined : Number(next["due"]) - now, failed };
}

type Take = Pick<ClaimWrite, "owner" | "outcomes" | "now" | "firsts" | "limit" | "bytes"> & {
  readonly until: number;
};

/** Claims turns that are due, and returns their events. */
async function takeTurns(session: Session, take: Take): Promise<readonly string[]> {
  const claimed: string[] = [];
  let size = 0;
  let isFull = false;
  while (claimed.length < take.limit && !isFull) {
    const turns = await lockTurns(session, { ...take, limit: take.limit - claimed.length });
    const left: string[] = [];
    for (const { reference, event, size: own } of turns) {
      isFull ||= event !== undefined && claimed.length > 0 && size + own > take.bytes;
      if (event === undefined || isFull) left.push(reference);
      else {
        claimed.push(event);
        size += own;
      }
    }
    if (left.length === 0) break;
    await freeTurns(session, left);
  }
  return claimed;
}

interface Turn {
  readonly reference: string;
  /** Undefined if none is due: those that were have left the queue. */
  readonly event: string | undefined;
  /** Bytes of the event's body. */
  readonly size: number;
}

/**
 * What is next in a turn is read once its row is locked: another forwarder may have ended the turn meanwhile. Each outcome
 * is looked for by itself, so that no waiting events of other outcomes are read.
 */
async function lockTurns(
  { all, dialect: { schema, skipLocked } }: Session,
  { owner, outcomes, now, until, firsts = false, limit }: Take,
): Promise<readonly Turn[]> {
  const latest = firsts ? 0 : now;
  const due = await all(
    `SELECT reference FROM (${outcomes
      .map(
        (_, index) => `SELECT * FROM (
           SELECT reference, due, seq FROM ${schema}turns WHERE outcome = ? AND due <= ? AND until <= ?
           ORDER BY due, seq LIMIT ? ${skipLocked}) AS of${index}`,
      )
      .join(" UNION ALL ")}) AS found ORDER BY due, seq LIMIT ?`,
    [...outcomes.flatMap((outcome) => [outcome, latest, now, limit]), limit],
  );
  const references = due.map(({ reference }) => String(reference));
  if (references.length === 0) return [];
  const taken = await all(
    `UPDATE ${schema}turns SET owner = ?, until = ?,
       event = (SELECT CASE WHEN queued.due <= ? AND queued.outcome IN (${places(outcomes)}) THEN queued.event END
         ${ofTurn(schema)})
     WHERE reference IN (${places(references)})
     RETURNING reference, event,
       (SELECT length(body) FROM ${schema}events WHERE events.id = turns.event) AS size`,
    [owner, until, latest, ...outcomes, ...references],
  );
  const turns = new Map(
    taken.map(({ reference, event, size }) => [
      String(reference),
      { event: typeof event === "string" ? event : undefined, size: Number(size) },
    ]),
  );
  return references.flatMap((reference) => {
    const turn = turns.get(reference);
    return turn === undefined ? [] : [{ reference, ...turn }];
  });
}

/** Ends the claims of these turns, and plans the next event of each. */
async function freeTurns(
  { change, dialect: { schema } }: Session,
  references: readonly string[],
): Promise<void> {
  const ofThese = `reference IN (${places(references)})`;
  const ended = await change(
    `DELETE FROM ${schema}turns WHERE ${ofThese} AND NOT EXISTS (SELECT 1 ${ofTurn(schema)})`,
    references,
  );
  if (ended === references.length) return;
  await change(
    `UPDATE ${schema}turns SET event = NULL, owner = NULL, until = 0,
       (due, seq, outcome) = (SELECT queued.due, queued.seq, queued.outcome ${ofTurn(schema)})
     WHERE ${ofThese}`,
    references,
  );
  // Its events may have left the queue between these statements.
  await change(`DELETE FROM ${schema}turns WHERE ${ofThese} AND due IS NULL`, references);
}

/** Milliseconds: what another forwarder planned since this transaction began was not planned by a clock that was ahead. */
const SAME_TIME = 10_000;

/**
 * Holds what waits to these delays, which may be others than those of the run before: an event that has had all attempts
 * fails, and a retry that is due later than its delay from now is due now. The latter is also what a clock that was ahead
 * has planned. Returns how many failed.
 */
async function replan(session: Session, delays: readonly number[], now: number): Promise<number> {
  const { all, change, dialect } = session;
  const { schema, skipLocked } = dialect;
  const these = (condition: string): string =>
    `event IN (SELECT event FROM ${schema}queued WHERE ${condition} ORDER BY event ${skipLocked})`;
  const failed = await change(
    `UPDATE ${schema}queued SET due = NULL WHERE ${these("due > 0 AND attempts > ?")}`,
    [delays.length],
  );
  if (delays.length === 0) return failed;
  const cases = delays.map((delay, index) => `WHEN ${index + 1} THEN ${Math.ceil(delay)}`).join(" ");
  const earlier = await all(
    `UPDATE ${schema}queued SET due = ? WHERE ${these(`due > ? AND due - CASE attempts ${cases} END > ?`)}
     RETURNING event, reference`,
    [now, now + SAME_TIME, now + SAME_TIME],
  );
  await bringTurns(
    session,
    inOrder(earlier, ({ reference }) => String(reference)).map(({ event }) => String(event)),
  );
  return failed;
}

const places = (values: readonly unknown[]): string => values.map(() => "?").join();

/**
 * Plans what follows on attempts, and ends the claims of the events that are given back. Returns the attempts whose turn was
 * not given to another forwarder meanwhile.
 */
export async function endTurns(
  session: Session,
  attempts: readonly AttemptWrite[],
  back: readonly (readonly [event: string, owner: string])[],
): Promise<readonly AttemptWrite[]> {
  const { schema, types, lock } = session.dialect;
  const turns = await forRows(
    session,
    [...attempts.map(({ first, owner }) => [first, owner]), ...back],
    (rows) =>
      `SELECT reference, event FROM ${schema}turns
       WHERE event IS NOT NULL AND (event, owner) IN (VALUES ${rows}) ORDER BY reference ${lock}`,
  );
  if (turns.length === 0) return [];
  const ended = attempts.filter(({ first: event }) => turns.some((turn) => turn["event"] === event));
  await removeRows(
    session,
    "queued",
    "event",
    ended.filter(({ status }) => isAccepted(status)).map(({ first }) => [first]),
  );
  await changeRows(
    session,
    ended
      .filter(({ status }) => !isAccepted(status))
      .map(({ first, now, retryAfter }) => [
        first,
        retryAfter === null ? null : timeOf(session, now) + retryAfter,
      ]),
    (rows) =>
      `WITH made (event, due) AS (VALUES ${rows})
       UPDATE ${schema}queued SET attempts = attempts + 1, due = made.due FROM made
       WHERE queued.event = made.event AND skipped IS NULL`,
    { types: ["text", types.integer] },
  );
  await freeTurns(
    session,
    turns.map(({ reference }) => String(reference)),
  );
  return ended;
}
