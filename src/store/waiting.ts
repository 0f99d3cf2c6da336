/** What waits to be forwarded: by key, in the order in which it is due, and how long it has waited. */
import type { Backlog, ClaimRequest, KeyBacklog } from "../events/event.ts";
import type { DatabaseSession, Dialect, Statements } from "./dialects.ts";
import { IN_STATE } from "./schema.ts";
import { isOneOf, joined, raw, type Sql, sql } from "./sql.ts";

/** The keys whose events wait, each found by one lookup in the index: the events may be many, the keys are few. */
export async function waitingKeys({ all, dialect: { schema } }: Statements): Promise<string[]> {
  const first = sql`SELECT min(key) FROM ${schema}deliveries WHERE due IS NOT NULL`;
  const rows = await all(
    sql`WITH RECURSIVE waiting (key) AS (${first} UNION ALL
       SELECT (${first} AND key > waiting.key) FROM waiting WHERE key IS NOT NULL)
     SELECT key FROM waiting WHERE key IS NOT NULL`,
  );
  return rows.map(({ key }) => String(key));
}

/** The events that are due first, until a time. Those of each key are read by themselves, so that the index gives the rows in order. */
export function dueFirst(
  { schema }: Dialect,
  { keys, outcomes, until, limit, isFresh = false }: Omit<ClaimRequest, "lease"> & { readonly until: number },
  lock = raw(""),
): Sql {
  const ordered = sql`ORDER BY due, event LIMIT ${limit}`;
  const fresh = raw(isFresh ? "AND attempts = planned" : "");
  const lists = keys.map(
    (key, number) =>
      sql`SELECT * FROM (SELECT event, due FROM ${schema}deliveries
        WHERE key = ${key} AND due <= ${until} AND ${isOneOf(sql`outcome`, outcomes)} ${fresh} ${ordered} ${lock}) AS ${raw(`key${number}`)}`,
  );
  return sql`SELECT event FROM (${joined(lists, " UNION ALL ")}) AS found ${ordered}`;
}

/**
 * A clock that was ahead, and was set, has left times later than now: what waits keeps its delay, counted from now. Only what is due
 * later is looked at.
 */
export async function keepDelays(session: DatabaseSession): Promise<void> {
  const { all, now, dialect } = session;
  const { schema, skipLocked } = dialect;
  for (const key of await waitingKeys(session))
    await all(
      sql`UPDATE ${schema}deliveries SET due = due - set_at + ${now}, set_at = ${now},
         since = CASE WHEN since > ${now} THEN ${now} ELSE since END
       WHERE event IN (SELECT event FROM ${schema}deliveries WHERE key = ${key}
         AND due > ${now} AND set_at > ${now} ${skipLocked})`,
    );
}

/** What waits and what has failed of each key, and when an attempt was last made. From indexes alone, since both may be many. */
export async function backlogOf(session: Statements): Promise<Backlog> {
  const { all, dialect } = session;
  const waiting = await waitingByKey(session);
  const failed = await all(
    sql`SELECT key, count(*) AS n FROM ${dialect.schema}deliveries WHERE ${IN_STATE.failed} GROUP BY key`,
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
}: Statements): Promise<ReadonlyMap<string, Pick<KeyBacklog, "events" | "oldest" | "overdue">>> {
  const rows = await all(
    sql`SELECT key, events, overdue, (SELECT since FROM ${schema}deliveries WHERE event = first) AS oldest
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
export async function lastForward({ all, dialect: { schema } }: Statements): Promise<Date | undefined> {
  const [attempt] = await all(
    sql`SELECT at FROM ${schema}attempts WHERE seq = (SELECT max(seq) FROM ${schema}attempts)`,
  );
  return asDate(attempt?.["at"]);
}

const asDate = (time: unknown): Date | undefined => (time == null ? undefined : new Date(Number(time)));
