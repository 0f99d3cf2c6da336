/** The statements that store events and rejections in PostgreSQL. */
import { hash } from "node:crypto";
import type { Connection } from "../postgres/server-connections.ts";
import { insert, text } from "./postgres-insert.ts";
import {
  MAX_REJECTED_BYTES,
  MAX_REJECTIONS,
  type EventWrite,
  type RejectionWrite,
  type StoredMessage,
} from "./writes.ts";

const MESSAGE = "method, scheme, authority, target, headers, trailers, body";
const NO_MESSAGE: readonly null[] = [null, null, null, null, null, null, null];

const messageValues = ({ method, scheme, authority, target, headers, trailers, body }: StoredMessage) => [
  method,
  scheme,
  text(authority),
  text(target),
  headers,
  trailers,
  Buffer.from(body.buffer, body.byteOffset, body.byteLength),
];

/** An index entry can take at most a third of a page. The body keeps the whole text. */
const indexed = (value: string): string => text(value.slice(0, 500));

/**
 * Returns the first delivery of each event that was already stored. The events are in the order of their key: two groups
 * with the same events in another order would wait for each other.
 */
export async function insertEvents(
  connection: Connection,
  events: readonly EventWrite[],
): Promise<ReadonlyMap<string, string>> {
  const firsts = new Map<string, string>();
  if (events.length === 0) return firsts;
  const keyed = events
    .map((event) => {
      const digest = hash("sha256", event.body, "buffer");
      const uti = indexed(event.uti);
      return { event, uti, digest, key: keyOf(uti, digest) };
    })
    .toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const inserted = await insert(
    connection,
    `events (id, uti, digest, received_at, outcome, reference, code, warnings, details, ${MESSAGE})`,
    keyed.map(({ event, uti, digest }) => [
      event.id,
      uti,
      digest,
      event.receivedAt,
      event.outcome,
      indexed(event.reference),
      event.code,
      event.warnings,
      text(event.details),
      ...messageValues(event),
    ]),
    "ON CONFLICT (uti, digest) DO NOTHING RETURNING id",
  );
  if (inserted.length === events.length) return firsts;
  const stored = new Set(inserted.map(({ id }) => id));
  const repeats = keyed.filter(({ event }) => !stored.has(event.id));
  const found = await connection.query(
    `SELECT id, uti, digest FROM paylink.events
     WHERE (uti, digest) IN (SELECT * FROM unnest($1::text[], $2::bytea[]))`,
    [repeats.map(({ uti }) => uti), repeats.map(({ digest }) => digest)],
  );
  const ids = new Map(
    found.map(({ id, uti, digest }) => [keyOf(String(uti), digest as Buffer), String(id)] as const),
  );
  for (const { event, key } of repeats) {
    const first = ids.get(key);
    if (first === undefined) throw new Error("the event was deleted while it was stored again");
    firsts.set(event.id, first);
  }
  await insert(
    connection,
    "arrivals (event, id, received_at)",
    repeats.map(({ event }) => [firsts.get(event.id), event.id, event.receivedAt]),
  );
  return firsts;
}

const keyOf = (uti: string, digest: Buffer): string => `${uti} ${digest.toString("hex")}`;

/** Two groups that trim at the same time delete different rows, and do not wait for each other. */
export async function insertRejections(
  connection: Connection,
  rejections: readonly RejectionWrite[],
): Promise<void> {
  if (rejections.length === 0) return;
  await insert(
    connection,
    `rejections (id, received_at, code, status, detail, checks, ${MESSAGE})`,
    rejections.map(({ id, receivedAt, code, status, detail, checks, message }) => [
      id,
      receivedAt,
      code,
      status,
      text(detail),
      checks,
      ...(message === null ? NO_MESSAGE : messageValues(message)),
    ]),
  );
  await connection.query(
    `DELETE FROM paylink.rejections WHERE seq IN (
       SELECT seq FROM paylink.rejections WHERE seq <= greatest(
         (SELECT seq FROM paylink.rejections ORDER BY seq DESC OFFSET ${MAX_REJECTIONS} LIMIT 1),
         (SELECT max(seq) FROM (
            SELECT seq, sum(length(body)) OVER (ORDER BY seq DESC) AS bytes FROM paylink.rejections) AS sizes
          WHERE bytes > ${MAX_REJECTED_BYTES}))
       FOR UPDATE SKIP LOCKED)`,
  );
}
