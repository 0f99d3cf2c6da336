/** Writes a group of events, attempts, rejections and orders in one transaction, with the same statements in both databases. */
import { UNITS } from "../values/time.ts";
import { idAt } from "../events/event-id.ts";
import { applyOrder, claim, endAttempts, recordReplays, release } from "./deliveries.ts";
import { type DatabaseSession, forRows, insert, type Transact } from "./dialects.ts";
import { advanceFact } from "./facts.ts";
import { oldEvents } from "./sources.ts";
import { raw, sql } from "./sql.ts";
import { storeEvents } from "./store-events.ts";
import { backlogOf, keepDelays } from "./waiting.ts";
import {
  type WriteResult,
  EVENT_COLUMNS,
  type Pruned,
  type RejectionWrite,
  type ResultOf,
  type Write,
  type SettledWrite,
} from "./writes.ts";
import { mayBeWebhook, WORTH } from "./rejection-worth.ts";

/** The most rejections to store of those with a signature, which may be payments, and of the others. */
const MAX_REJECTIONS = [
  { least: WORTH.signed, most: WORTH.verified, count: 10_000 },
  { least: WORTH.unsigned, most: WORTH.unsigned, count: 1_000 },
];
/** Events deleted in one transaction, for which a `listen` on the same database may have to wait. */
const PRUNE_SIZE = 500;

/** Milliseconds by which a clock may be corrected without a look at what waits. */
const CLOCK_STEP = 1_000;

/** Returns one result for each write once the successful ones are durable. Rejects if nothing can be written. */
export type WriteGroup = (writes: readonly Write[]) => Promise<readonly SettledWrite[]>;

interface WriterParts {
  readonly transact: Transact;
  /** Whether a failure may be of one write, so that the others can be stored. */
  readonly isOfOne: (reason: unknown) => boolean;
}

export function createGroupWriter({ transact, isOfOne }: WriterParts): WriteGroup {
  /** The latest time of the database: before the first group, any clock may have been ahead. */
  let latest = Infinity;
  const wasSet = (now: number): boolean => latest - now > CLOCK_STEP;
  const writeGroup: WriteGroup = async (writes) => {
    try {
      const { written, now } = await transact(async (session) => {
        if (wasSet(session.now)) await keepDelays(session);
        return { written: await writeAll(session, writes), now: session.now };
      });
      latest = wasSet(now) ? now : Math.max(latest, now);
      return written.map((value) => ({ status: "fulfilled", value }));
    } catch (reason) {
      if (writes.length <= 1 || !isOfOne(reason)) return writes.map(() => ({ status: "rejected", reason }));
      // One write that fails must not fail the others. Halving finds it in few commits.
      const half = writes.length >> 1;
      return [...(await writeGroup(writes.slice(0, half))), ...(await writeGroup(writes.slice(half)))];
    }
  };
  return writeGroup;
}

type WriteOf<Type extends Write["type"]> = Extract<Write, { readonly type: Type }>;

/** How the writes of each kind are made, in this order, with the result of each. */
const WRITERS: {
  readonly [Type in Write["type"]]: (
    session: DatabaseSession,
    writes: readonly WriteOf<Type>[],
  ) => Promise<readonly ResultOf[Type][]>;
} = {
  event: storeEvents,
  end: endAttempts,
  release: (session, writes) =>
    release(
      session,
      writes.flatMap(({ claims }) => claims),
    ),
  replay: recordReplays,
  rejection: async (session, writes) => keepDropped(session, await insertRejections(session, writes)),
  dropped: (session, writes) =>
    keepDropped(
      session,
      writes.map(({ until }) => until),
    ),
  claim: eachOf(claim),
  order: eachOf(applyOrder),
  prune: eachOf((session, { before }) => pruneStore(session, before)),
  backlog: eachOf(backlogOf),
};

/** Each by itself, one after the other. */
function eachOf<One, Result>(write: (session: DatabaseSession, one: One) => Promise<Result>) {
  return async (session: DatabaseSession, writes: readonly One[]): Promise<Result[]> => {
    const results: Result[] = [];
    for (const one of writes) results.push(await write(session, one));
    return results;
  };
}

const WRITE_KINDS = Object.keys(WRITERS) as Write["type"][];

export async function writeAll(
  session: DatabaseSession,
  writes: readonly Write[],
): Promise<readonly WriteResult[]> {
  const results = new Map<Write, WriteResult>();
  const make = async <Type extends Write["type"]>(type: Type): Promise<void> => {
    const own = writes.filter((write): write is WriteOf<Type> => write.type === type);
    if (own.length === 0) return;
    const ofKind = await WRITERS[type](session, own);
    own.forEach((write, at) => results.set(write, ofKind[at]));
  };
  for (const type of WRITE_KINDS) await make(type);
  return writes.map((write) => results.get(write));
}

/**
 * Beyond the most that are kept, the least worth goes first, and of equal worth the oldest. Two groups that trim at the same time
 * delete different rows, and do not wait for each other. Gives when those were received that may have been webhooks and are not kept.
 */
async function insertRejections(
  session: DatabaseSession,
  rejections: readonly RejectionWrite[],
): Promise<readonly number[]> {
  const { schema, skipLocked } = session.dialect;
  await insert(
    session,
    "rejections",
    EVENT_COLUMNS.rejections,
    rejections.map(({ values }) => values),
  );
  const dropped: number[] = [];
  for (const { least, most, count } of MAX_REJECTIONS) {
    if (!rejections.some(({ worth }) => worth >= least && worth <= most)) continue;
    const rows = await session.all(
      sql`DELETE FROM ${schema}rejections WHERE seq IN (
         SELECT seq FROM ${schema}rejections WHERE worth >= ${least} AND (worth, seq) <= (
           SELECT worth, seq FROM ${schema}rejections WHERE worth BETWEEN ${least} AND ${most}
           ORDER BY worth DESC, seq DESC LIMIT 1 OFFSET ${count})
         ${skipLocked}) RETURNING received_at, worth, code`,
    );
    for (const { received_at: at, worth, code } of rows)
      if (mayBeWebhook({ worth: Number(worth), code: String(code) })) dropped.push(Number(at));
  }
  return dropped;
}

/** To the minute, so that most groups of a flood have nothing to change. */
async function keepDropped(session: DatabaseSession, times: readonly number[]): Promise<[]> {
  if (times.length === 0) return [];
  const last = times.reduce((one, other) => Math.max(one, other));
  await advanceFact(session, "dropped", Math.ceil((last + 1) / UNITS.m) * UNITS.m);
  return [];
}

/** Deletes some of the old events, and the old rejections when no such event is left. Their digests are kept. */
async function pruneStore(session: DatabaseSession, time: Date): Promise<Pruned> {
  const { all, dialect } = session;
  const { schema, skipLocked } = dialect;
  const before = idAt(time);
  const events = await all(
    sql`DELETE FROM ${schema}events WHERE seq IN (
       SELECT seq FROM ${oldEvents(dialect, before)} LIMIT ${PRUNE_SIZE} ${skipLocked}) RETURNING digest, id`,
  );
  await insert(
    session,
    "digests",
    ["digest", "event"],
    events.map(({ digest, id }) => [String(digest), String(id)]),
    sql`ON CONFLICT (digest) DO NOTHING`,
  );
  for (const table of ["arrivals", "deliveries", "attempts", "actions"])
    await forRows(
      session,
      events.map(({ id }) => [String(id)]),
      (places) => sql`DELETE FROM ${schema}${raw(table)} WHERE event IN (VALUES ${places})`,
    );
  const rejections =
    events.length > 0
      ? []
      : await all(sql`DELETE FROM ${schema}rejections WHERE id < ${before} RETURNING seq`);
  if (events.length + rejections.length > 0) await advanceFact(session, "pruned", time.getTime());
  return { events: events.length, rejections: rejections.length };
}
