/** The queue of acknowledged events: its statements, which give each event to one forwarder at a time. */
import { changeRows, inOrder, type Session } from "./dialects.ts";
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
  const queued = events.filter((event) => event.queued);
  const added = queued.filter((event) => firstOf(event) === event.id);
  const repeated = queued.filter((event) => firstOf(event) !== event.id);
  await changeRows(
    session,
    [...added, ...inOrder(repeated, firstOf)].map((event, place) => {
      const first = firstOf(event);
      return [place, first, event.reference || first, event.receivedAt];
    }),
    (places) =>
      `WITH asked (place, event, reference, received_at) AS (VALUES ${places})
       INSERT INTO ${schema}queued (event, reference, received_at)
       SELECT event, reference, received_at FROM asked
       WHERE NOT EXISTS (
         SELECT 1 FROM ${schema}forwards WHERE forwards.event = asked.event AND status BETWEEN 200 AND 299)
       ORDER BY place ON CONFLICT (event) DO NOTHING`,
    { types: [types.integer, "text", "text", types.integer] },
  );
}

/** By the clock of the server, if there is one: those of machines differ. */
async function timeOf({ dialect: { clock }, all }: Session, own: number): Promise<number> {
  if (clock === undefined) return own;
  const [row] = await all(clock);
  return Number(row?.["now"]);
}

/**
 * Renews the claims of the events that are being forwarded, and claims more that are due, in the order of `due` and
 * arrival. An event waits while another one of its reference is claimed, or is ahead of it. Where two forwarders see the
 * same turn, the key of the table gives it to one of them.
 */
export async function claimTurns(
  session: Session,
  { owner, now: own, duration, limit, held, delays }: ClaimWrite,
): Promise<ClaimedRows> {
  const { all, change, dialect } = session;
  const { schema, types, skipLocked } = dialect;
  const now = await timeOf(session, own);
  const until = now + duration;
  const renewed = held.length === 0 ? "" : `owner = ? AND until < ? AND event IN (${places(held)}) OR`;
  await change(`UPDATE ${schema}turns SET until = ? WHERE ${renewed} until > ?`, [
    until,
    ...(held.length === 0 ? [] : [owner, now + duration / 2, ...held]),
    // Written by a clock that was ahead: the difference of two forwarders that look at the same time is no such clock.
    now + duration * 1.5,
  ]);
  if (delays !== undefined) await bringForward(session, delays, now);
  if (limit <= 0) return { rows: [], nextDue: undefined };
  const turns = await all(
    `INSERT INTO ${schema}turns (reference, event, owner, until)
     SELECT reference, event, CAST(? AS text), CAST(? AS ${types.integer}) FROM ${schema}queued AS waiting
     WHERE due <= ?
       AND NOT EXISTS (
         SELECT 1 FROM ${schema}turns WHERE turns.reference = waiting.reference AND turns.until > ?)
       AND NOT EXISTS (
         SELECT 1 FROM ${schema}queued AS ahead
         WHERE ahead.reference = waiting.reference AND (ahead.due, ahead.seq) < (waiting.due, waiting.seq))
     ORDER BY due, seq LIMIT ? ${skipLocked}
     ON CONFLICT (reference) DO UPDATE
       SET event = excluded.event, owner = excluded.owner, until = excluded.until WHERE turns.until <= ?
     RETURNING event`,
    [owner, until, now, now, limit, now],
  );
  const claimed = turns.map(({ event }) => String(event));
  const rows =
    claimed.length === 0
      ? []
      : await all(
          `${selectEvents(dialect)} WHERE events.id IN (${places(claimed)})
           ORDER BY due, (SELECT seq FROM ${schema}queued WHERE queued.event = events.id)`,
          claimed,
        );
  const [next] = await all(`SELECT min(due) AS due FROM ${schema}queued WHERE due > ?`, [now]);
  return { rows, nextDue: next?.["due"] == null ? undefined : Number(next["due"]) - now };
}

/** Milliseconds: forwarders that plan and look at the same time read the clock one after the other. */
const SAME_TIME = 1_000;

/** A retry that is due later than its delay from now was planned by a clock that was ahead: it is due now. */
async function bringForward(
  { change, dialect: { schema, skipLocked } }: Session,
  delays: readonly number[],
  now: number,
): Promise<void> {
  const longest = Math.max(0, ...delays);
  const cases = delays.map((delay, index) => `WHEN ${index + 1} THEN ${Math.ceil(delay)}`).join(" ");
  const delay = delays.length === 0 ? "0" : `CASE attempts ${cases} ELSE ${Math.ceil(longest)} END`;
  await change(
    `UPDATE ${schema}queued SET due = ? WHERE event IN (
       SELECT event FROM ${schema}queued WHERE due > ? AND due - ${delay} > ? ORDER BY event ${skipLocked})`,
    [now, now + SAME_TIME, now + SAME_TIME],
  );
}

const places = (values: readonly unknown[]): string => values.map(() => "?").join();

/** Plans what follows on attempts. Returns those whose turn was not given to another forwarder meanwhile. */
export async function endTurns(
  session: Session,
  attempts: readonly AttemptWrite[],
): Promise<readonly AttemptWrite[]> {
  const { schema } = session.dialect;
  const [first] = attempts;
  if (first === undefined) return [];
  const now = await timeOf(session, first.now);
  const ended: AttemptWrite[] = [];
  for (const attempt of attempts) {
    const { first: event, owner, retryAfter } = attempt;
    const turns = await session.change(`DELETE FROM ${schema}turns WHERE event = ? AND owner = ?`, [
      event,
      owner,
    ]);
    if (turns === 0) continue;
    await session.change(`UPDATE ${schema}queued SET attempts = attempts + 1, due = ? WHERE event = ?`, [
      retryAfter === null ? null : now + retryAfter,
      event,
    ]);
    ended.push(attempt);
  }
  return ended;
}
