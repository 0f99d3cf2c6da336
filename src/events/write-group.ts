/** Writes a group of events, forwards, rejections and claims in one transaction, with the same statements in both databases. */
import { hash } from "node:crypto";
import type { Pruned } from "../receiver/event-store.ts";
import { isAccepted, type StoreResult } from "../receiver/events.ts";
import {
  changeRows,
  forRows,
  inOrder,
  removeRows,
  type Dialect,
  type Row,
  type Session,
  type Statements,
  type Value,
} from "./dialects.ts";
import { OLD_REJECTIONS, oldEvents } from "./reading.ts";
import { applyOrder } from "./queue-orders.ts";
import { claimTurns, endTurns, enqueue } from "./queue.ts";
import { COLUMNS, NO_ANSWER } from "./writes.ts";
import type { EventWrite, ForwardWrite, LookUp, RejectionWrite, Told, Write, WriteResult } from "./writes.ts";

/** The most rejections to store; beyond it, the oldest are deleted. */
const MAX_REJECTIONS = 1000;
/** The most bytes of rejected bodies to store: invalid requests must not fill the disk. */
const MAX_REJECTED_BYTES = 32 * 1024 * 1024;
/** Events deleted in one transaction, for which a `listen` on the same database may have to wait. */
const PRUNE_SIZE = 500;

/** Returns one result for each write once the successful ones are durable. Never rejects. */
export type WriteGroup = (writes: readonly Write[]) => Promise<readonly WriteResult[]>;

interface WriterParts {
  readonly dialect: Dialect;
  /** Runs the statements of `work` in one transaction. */
  readonly transaction: <T>(work: (statements: Statements) => Promise<T>) => Promise<T>;
  /** Whether a failure may be of one write, so that the others can be stored. */
  readonly isOfOne: (reason: unknown) => boolean;
}

export function createGroupWriter({ dialect, transaction, isOfOne }: WriterParts): WriteGroup {
  const writeGroup: WriteGroup = async (writes) => {
    try {
      const told = await transaction((statements) => writeAll({ dialect, ...statements }, writes));
      return told.map((value) => ({ status: "fulfilled", value }));
    } catch (reason) {
      if (writes.length <= 1 || !isOfOne(reason)) return writes.map(() => ({ status: "rejected", reason }));
      // One write that fails must not fail the others. Halving finds it in few commits.
      const half = writes.length >> 1;
      return [...(await writeGroup(writes.slice(0, half))), ...(await writeGroup(writes.slice(half)))];
    }
  };
  return writeGroup;
}

async function writeAll(session: Session, writes: readonly Write[]): Promise<Told[]> {
  const of = <Type extends Write["type"]>(type: Type) =>
    writes.filter((write): write is Extract<Write, { type: Type }> => write.type === type);
  const events = of("event");
  const firsts = await insertEvents(session, events);
  const firstOf = ({ id }: EventWrite): string => firsts.get(id) ?? id;
  const forwards = of("forward");
  const back = of("claim").flatMap(({ back, owner }) => back.map((event) => [event, owner] as const));
  await insertForwards(session, [...forwards, ...(await endTurns(session, of("attempt"), back))]);
  await endClaims(session, forwards);
  await insertRejections(session, of("rejection"));
  await enqueue(session, events, firstOf);
  await insertClaims(session, events, firstOf);
  const repeats = events.filter((event) => firstOf(event) !== event.id);
  const states = await lookUp(session, [
    ...of("look-up"),
    ...repeats.map((event) => ({ first: firstOf(event), owner: event.owner, now: event.receivedAt })),
  ]);
  const told: Told[] = [];
  for (const write of writes) {
    if (write.type === "event") told.push({ state: states.get(firsts.get(write.id) ?? "") });
    else if (write.type === "look-up") told.push({ state: states.get(write.first) });
    else if (write.type === "claim") told.push({ claimed: await claimTurns(session, write) });
    else if (write.type === "order") told.push({ changed: await applyOrder(session, write) });
    else if (write.type === "prune") told.push({ pruned: await prune(session, write.before) });
    else told.push({});
  }
  return told;
}

const insert = (
  session: Session,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
  ending = "",
) =>
  changeRows(
    session,
    rows,
    (places) =>
      `INSERT INTO ${session.dialect.schema}${table} (${columns.join()}) VALUES ${places} ${ending}`,
  );

/** Returns the first delivery of each event that was already stored. */
async function insertEvents(
  session: Session,
  events: readonly EventWrite[],
): Promise<ReadonlyMap<string, string>> {
  const { schema, types, concurrent } = session.dialect;
  const firsts = new Map<string, string>();
  if (events.length === 0) return firsts;
  const keyed = events.map((event) => {
    const digest = hash("sha256", event.body, "buffer");
    return { event, digest, key: keyOf(event.uti, digest) };
  });
  const inserted = await insert(
    session,
    "events",
    ["digest", ...COLUMNS.events],
    (concurrent ? inOrder(keyed, ({ key }) => key) : keyed).map(({ event, digest }) => [
      digest,
      ...event.values,
    ]),
    "ON CONFLICT (uti, digest) DO NOTHING",
  );
  if (inserted === events.length) return firsts;
  const found = await forRows(
    session,
    keyed.map(({ event, digest }) => [event.uti, digest]),
    (places) => `SELECT id, uti, digest FROM ${schema}events WHERE (uti, digest) IN (VALUES ${places})`,
    { types: ["text", types.bytes] },
  );
  const ids = new Map(found.map((row) => [keyOfRow(row), String(row["id"])]));
  for (const { event, key } of keyed) {
    const first = ids.get(key);
    if (first === undefined) throw new Error("the event was deleted while it was stored again");
    // They are equal if this delivery is the first, now or in a log that was then removed.
    if (first !== event.id) firsts.set(event.id, first);
  }
  await insert(
    session,
    "arrivals",
    ["event", "id", "received_at"],
    keyed.flatMap(({ event: { id, receivedAt } }) => {
      const first = firsts.get(id);
      return first === undefined ? [] : [[first, id, receivedAt]];
    }),
  );
  return firsts;
}

const keyOf = (uti: string, digest: Buffer): string => `${uti} ${digest.toString("hex")}`;

const keyOfRow = ({ uti, digest }: Row): string =>
  keyOf(String(uti), digest instanceof Uint8Array ? Buffer.from(digest) : Buffer.of());

const insertForwards = (session: Session, forwards: readonly Pick<ForwardWrite, "values">[]) =>
  insert(
    session,
    "forwards",
    COLUMNS.forwards,
    forwards.map(({ values }) => values),
  );

/** Ends the claims of those that forwarded these events by themselves, and takes accepted ones out of the queue. */
async function endClaims(session: Session, forwards: readonly ForwardWrite[]): Promise<void> {
  await removeRows(
    session,
    "claims",
    "(event, owner)",
    forwards.map(({ first, owner }) => [first, owner]),
  );
  const accepted = forwards.filter(({ status }) => isAccepted(status));
  await removeRows(
    session,
    "queued",
    "event",
    accepted.map(({ first }) => [first]),
  );
}

/**
 * Claims the events that a receiver forwards by itself, unless another one has a claim. One that lasts twice as long as this
 * one may was made by a clock that was ahead: the clocks of two receivers differ less.
 */
async function insertClaims(
  session: Session,
  events: readonly EventWrite[],
  firstOf: (event: EventWrite) => string,
): Promise<void> {
  const claims = new Map<string, readonly Value[]>();
  const now = Math.min(...events.map(({ receivedAt }) => receivedAt));
  for (const event of events)
    if (event.claimUntil !== null)
      claims.set(firstOf(event), [firstOf(event), event.owner, event.claimUntil]);
  await changeRows(
    session,
    inOrder([...claims], ([first]) => first).map(([, claim]) => claim),
    (places) =>
      `INSERT INTO ${session.dialect.schema}claims (event, owner, until) VALUES ${places}
       ON CONFLICT (event) DO UPDATE SET owner = excluded.owner, until = excluded.until
       WHERE claims.owner = excluded.owner OR claims.until <= ? OR claims.until > 2 * excluded.until - ?`,
    { more: [now, now] },
  );
}

async function lookUp(
  session: Session,
  questions: readonly Omit<LookUp, "type">[],
): Promise<ReadonlyMap<string, StoreResult>> {
  const { schema, types } = session.dialect;
  const found = await forRows(
    session,
    questions.map(({ first, owner, now }) => [first, owner, now]),
    (places) =>
      `WITH asked (event, owner, now) AS (VALUES ${places})
       SELECT event,
         (SELECT count(*) FROM ${schema}forwards WHERE forwards.event = asked.event
            AND status BETWEEN 200 AND 299)
           + (SELECT count(*) FROM ${schema}queued WHERE queued.event = asked.event AND skipped IS NOT NULL) AS done,
         (SELECT count(*) FROM ${schema}claims WHERE claims.event = asked.event
            AND claims.owner <> asked.owner AND until > now) AS claimed,
         (SELECT status FROM ${schema}forwards WHERE forwards.event = asked.event
          ORDER BY ${types.orderName} DESC LIMIT 1) AS answered
       FROM asked`,
    { types: ["text", "text", types.integer] },
  );
  return new Map(
    found.map(({ event, done, claimed, answered }) => [
      String(event),
      {
        repeated: true,
        first: String(event),
        accepted: done !== 0,
        claimedElsewhere: claimed !== 0,
        answered: typeof answered === "number" && answered !== NO_ANSWER ? answered : undefined,
      },
    ]),
  );
}

/** Two groups that trim at the same time delete different rows, and do not wait for each other. */
async function insertRejections(session: Session, rejections: readonly RejectionWrite[]): Promise<void> {
  if (rejections.length === 0) return;
  const { schema, skipLocked } = session.dialect;
  await insert(
    session,
    "rejections",
    COLUMNS.rejections,
    rejections.map(({ values }) => values),
  );
  await session.change(
    `DELETE FROM ${schema}rejections WHERE seq IN (
       SELECT seq FROM ${schema}rejections WHERE seq <= (
         SELECT max(seq) FROM (
           SELECT seq, row_number() OVER newest AS number, sum(length(body)) OVER newest AS bytes
           FROM ${schema}rejections WINDOW newest AS (ORDER BY seq DESC)) AS sizes
         WHERE number > ${MAX_REJECTIONS} OR bytes > ${MAX_REJECTED_BYTES})
       ${skipLocked})`,
  );
}

/** Deletes some of the old events, and the old rejections when no such event is left. */
async function prune(session: Session, before: number): Promise<Pruned> {
  const { all, dialect } = session;
  const { schema, skipLocked } = dialect;
  const events = await all(
    `DELETE FROM ${schema}events WHERE seq IN (
       SELECT seq FROM ${schema}${oldEvents(dialect)} LIMIT ${PRUNE_SIZE} ${skipLocked}) RETURNING id`,
    [before],
  );
  for (const table of ["arrivals", "forwards", "claims", "queued"])
    await changeRows(
      session,
      events.map(({ id }) => [String(id)]),
      (places) => `DELETE FROM ${schema}${table} WHERE event IN (VALUES ${places})`,
    );
  const rejections =
    events.length > 0 ? 0 : await session.change(`DELETE FROM ${schema}${OLD_REJECTIONS}`, [before]);
  if (dialect.giveBack !== undefined) await all(dialect.giveBack);
  return { events: events.length, rejections };
}
