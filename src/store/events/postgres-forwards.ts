/** The statements about forwarding: attempts, claims, and the state of an event. */
import { isAccepted, type StoreResult } from "../../receiver/events.ts";
import type { Connection } from "../postgres/server-connections.ts";
import { insert, text } from "./postgres-insert.ts";
import type { EventWrite, ForwardWrite, LookUp } from "./writes.ts";

/** Stores attempts, ends the claims of the logs that made them, and takes accepted events out of the queue. */
export async function insertForwards(
  connection: Connection,
  forwards: readonly ForwardWrite[],
): Promise<void> {
  if (forwards.length === 0) return;
  await insert(
    connection,
    "forwards (event, at, target, status, ms, detail)",
    forwards.map(({ first, at, target, status, ms, detail }) => [
      first,
      at,
      text(target),
      status,
      ms,
      text(detail),
    ]),
  );
  await connection.query(
    `DELETE FROM paylink.claims WHERE event IN (
       SELECT event FROM paylink.claims
       WHERE (event, owner) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY event FOR UPDATE)`,
    [forwards.map(({ first }) => first), forwards.map(({ owner }) => owner)],
  );
  const accepted = forwards.filter(({ status }) => isAccepted(status)).map(({ first }) => first);
  if (accepted.length === 0) return;
  await connection.query(
    `DELETE FROM paylink.queue WHERE event IN (
       SELECT event FROM paylink.queue WHERE event = ANY ($1) ORDER BY event FOR UPDATE)`,
    [accepted],
  );
}

/** Claims the events that the log forwards, in the order of their key, unless another log has a claim. */
export async function insertClaims(
  connection: Connection,
  events: readonly EventWrite[],
  firstOf: (event: EventWrite) => string,
): Promise<void> {
  const claims = new Map<string, readonly unknown[]>();
  for (const event of events)
    if (event.claimUntil !== null)
      claims.set(firstOf(event), [firstOf(event), event.owner, event.claimUntil, event.receivedAt]);
  if (claims.size === 0) return;
  const rows = [...claims].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  const column = (index: number): unknown[] => rows.map((row) => row[index]);
  await connection.query(
    `INSERT INTO paylink.claims AS held (event, owner, until)
     SELECT event, owner, until FROM unnest($1::text[], $2::text[], $3::bigint[]) AS asked (event, owner, until)
     ON CONFLICT (event) DO UPDATE SET owner = excluded.owner, until = excluded.until
       WHERE held.owner = excluded.owner OR held.until <= $4`,
    [column(0), column(1), column(2), Math.min(...column(3).map(Number))],
  );
}

export async function lookUp(
  connection: Connection,
  questions: readonly Omit<LookUp, "type">[],
): Promise<ReadonlyMap<string, StoreResult>> {
  if (questions.length === 0) return new Map();
  const rows = await connection.query(
    `SELECT asked.event,
       EXISTS (SELECT FROM paylink.forwards f WHERE f.event = asked.event AND status BETWEEN 200 AND 299)
         AS accepted,
       EXISTS (SELECT FROM paylink.claims c WHERE c.event = asked.event AND c.owner <> asked.owner
         AND c.until > asked.now) AS claimed,
       (SELECT status FROM paylink.forwards f WHERE f.event = asked.event ORDER BY seq DESC LIMIT 1) AS answered
     FROM unnest($1::text[], $2::text[], $3::bigint[]) AS asked (event, owner, now)`,
    [
      questions.map(({ first }) => first),
      questions.map(({ owner }) => owner),
      questions.map(({ now }) => now),
    ],
  );
  return new Map(
    rows.map(({ event, accepted, claimed, answered }) => [
      String(event),
      {
        repeated: true,
        first: String(event),
        accepted: accepted === true,
        claimedElsewhere: claimed === true,
        answered: typeof answered === "number" ? answered : undefined,
      },
    ]),
  );
}
