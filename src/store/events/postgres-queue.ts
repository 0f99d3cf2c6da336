/** The queue of events to forward in PostgreSQL. Its times are from the clock of the server, as those of machines differ. */
import type { ForwardQueue } from "../../receiver/event-store.ts";
import { isAccepted } from "../../receiver/events.ts";
import type { Connection } from "../postgres/server-connections.ts";
import { queuedEventFromRow, type Row } from "./event-rows.ts";
import { text } from "./postgres-insert.ts";
import { EVENTS, readable, type Use } from "./postgres-queries.ts";
import { type EventWrite, NO_ANSWER } from "./writes.ts";

const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** `name` is the database's, for messages. */
export function createPostgresQueue(use: Use, owner: string, name: string): ForwardQueue {
  const query = (sql: string, ...values: readonly unknown[]): Promise<Row[]> =>
    use((connection) => connection.query(sql, values));
  return {
    lease: async (duration) => {
      const [row] = await query(
        `UPDATE paylink.forwarder
         SET epoch = CASE WHEN owner = $1 THEN epoch ELSE epoch + 1 END, owner = $1, expires = ${NOW} + $2
         WHERE owner = $1 OR expires <= ${NOW} RETURNING epoch`,
        owner,
        duration,
      );
      return row === undefined ? undefined : Number(row["epoch"]);
    },
    release: async (epoch) => {
      await query("UPDATE paylink.forwarder SET expires = 0 WHERE owner = $1 AND epoch = $2", owner, epoch);
    },
    // The index can be searched for the time only if it is a subquery.
    next: async (epoch, kind, limit) => {
      const rows = await query(
        `SELECT ${EVENTS.columns} FROM paylink.queue JOIN paylink.events ON events.id = queue.event
         WHERE queue.state = $1 AND queue.due <= (SELECT ${NOW})
           AND EXISTS (SELECT FROM paylink.forwarder WHERE owner = $2 AND epoch = $3 AND expires > ${NOW})
         ORDER BY queue.due, queue.seq LIMIT $4`,
        kind,
        owner,
        epoch,
        limit,
      );
      return rows.map(readable(queuedEventFromRow, name));
    },
    untilRetry: async () => {
      const [row] = await query(`SELECT min(due) - ${NOW} AS wait FROM paylink.queue WHERE state = 'retry'`);
      return row?.["wait"] == null ? undefined : Number(row["wait"]);
    },
    attempted: async (epoch, { id, queued }, { at, target, status, ms, detail }, retryAfter) => {
      const change = isAccepted(status)
        ? "DELETE FROM paylink.queue USING lease"
        : `UPDATE paylink.queue SET attempts = attempts + 1,
             state = CASE WHEN $10::bigint IS NULL THEN 'failed' ELSE 'retry' END,
             due = coalesce(${NOW} + $10, 0) FROM lease`;
      // The lock keeps another forwarder from taking the lease before the attempt is recorded.
      await query(
        `WITH lease AS (SELECT FROM paylink.forwarder WHERE owner = $1 AND epoch = $2 FOR SHARE),
           changed AS (${change} WHERE event = $3 AND attempts = $4 RETURNING event)
         INSERT INTO paylink.forwards (event, at, target, status, ms, detail)
         SELECT event, $5::bigint, $6, $7::integer, $8::bigint, $9 FROM changed`,
        owner,
        epoch,
        id,
        queued?.attempts ?? 0,
        at.getTime(),
        text(target),
        status ?? NO_ANSWER,
        Math.round(ms),
        text(detail),
        ...(isAccepted(status) ? [] : [retryAfter ?? null]),
      );
    },
    backlog: async () => {
      const [row] = await query(
        "SELECT count(*) AS events, min(received_at) AS oldest FROM paylink.queue WHERE state <> 'failed'",
      );
      const oldest = row?.["oldest"];
      return {
        events: Number(row?.["events"]),
        oldest: oldest == null ? undefined : new Date(Number(oldest)),
      };
    },
  };
}

/**
 * Adds the events that the application has not accepted to the queue: new ones in order of arrival, then repeated ones in
 * the order of their key, since two groups can have the same.
 */
export async function insertQueued(
  connection: Connection,
  events: readonly EventWrite[],
  firstOf: (event: EventWrite) => string,
): Promise<void> {
  const queued = events.filter((event) => event.queued);
  const added = queued.filter((event) => firstOf(event) === event.id);
  const repeated = queued
    .filter((event) => firstOf(event) !== event.id)
    .toSorted((one, other) => (firstOf(one) < firstOf(other) ? -1 : 1));
  const rows = [...added, ...repeated];
  if (rows.length === 0) return;
  await connection.query(
    `INSERT INTO paylink.queue (event, received_at)
     SELECT event, received_at FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS asked (event, received_at, place)
     WHERE NOT EXISTS (
       SELECT FROM paylink.forwards WHERE forwards.event = asked.event AND status BETWEEN 200 AND 299)
     ORDER BY place ON CONFLICT (event) DO NOTHING`,
    [rows.map(firstOf), rows.map(({ receivedAt }) => receivedAt)],
  );
}
