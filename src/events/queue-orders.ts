/** Changes the queue as an operator asks: makes events due now, or takes them out of forwarding. */
import type { Order } from "../receiver/event-store.ts";
import { changeRows, forRows, inOrder, type Session } from "./dialects.ts";
import { bringTurns, timeOf } from "./queue.ts";
import { IS_ACCEPTED } from "./reading.ts";
import type { OrderWrite } from "./writes.ts";

const NOW = "(SELECT now FROM at)";

/** Returns the events that were changed: none that the application has accepted, and none that is forwarded at this time. */
export async function applyOrder(
  session: Session,
  { order, events, now: own }: OrderWrite,
): Promise<readonly string[]> {
  const { dialect } = session;
  const { schema, types, lock } = dialect;
  const now = timeOf(session, own);
  const rows = inOrder(events, (event) => event).map((event) => [event]);
  const ofRows = { types: ["text"] };
  // Those that were not acknowledged before they were forwarded are not in the queue yet. They enter it as failed.
  await changeRows(
    session,
    rows,
    (places) =>
      `WITH asked (event) AS (VALUES ${places})
       INSERT INTO ${schema}queued (event, reference, outcome, received_at, due)
       SELECT id, CASE WHEN reference = '' THEN id ELSE reference END, outcome, received_at, NULL
       FROM ${schema}events WHERE id IN (SELECT event FROM asked)
         AND NOT EXISTS (SELECT 1 FROM ${schema}forwards WHERE forwards.event = events.id AND ${IS_ACCEPTED})
       ORDER BY id ON CONFLICT (event) DO NOTHING`,
    ofRows,
  );
  // A forwarder claims no event whose turn is locked, and the next statement sees what it has claimed before.
  await forRows(
    session,
    rows,
    (places) =>
      `SELECT reference FROM ${schema}turns
       WHERE reference IN (SELECT reference FROM ${schema}queued WHERE event IN (VALUES ${places}))
       ORDER BY reference ${lock}`,
    ofRows,
  );
  const isFree = ["turns", "claims"]
    .map(
      (table) => `NOT EXISTS (SELECT 1 FROM ${schema}${table} WHERE event = queued.event AND until > ${NOW})`,
    )
    .join(" AND ");
  const changed = await forRows(
    session,
    rows,
    (places) =>
      `WITH asked (event) AS (VALUES ${places}), at (now) AS (VALUES (CAST(? AS ${types.integer})))
       UPDATE ${schema}queued SET ${CHANGES[order]}
       WHERE event IN (SELECT event FROM asked) AND ${isFree} RETURNING event, reference`,
    { ...ofRows, more: [now] },
  );
  const ids = inOrder(changed, ({ reference }) => String(reference)).map(({ event }) => String(event));
  await bringTurns(session, ids);
  return ids;
}

/** What is retried gets a new plan of attempts, as if it had just arrived: first attempts go out also while a target pauses. */
const CHANGES: Readonly<Record<Order, string>> = {
  retry: "attempts = 0, due = 0, skipped = NULL",
  skip: `due = NULL, skipped = ${NOW}`,
};
