/** Follows a store: returns the events, or the rejections, that any receiver has stored since the last look. */
import { idAt } from "../events/event-id.ts";
import type { Readable } from "./dialects.ts";
import { factOf } from "./facts.ts";
import type { Source } from "./sources.ts";
import { isOneOf, type Sql, sql } from "./sql.ts";

/** Rows in memory at once. */
const EVENTS_PER_READ = 100;
/** Milliseconds in which a number that a server has given to a row is committed, or never. */
const COMMIT_TIME = 10_000;
/** Rows that all receivers may have numbered and not committed. */
const UNCOMMITTED = 1_000;
/** No event has a later id. */
const END_OF_TIME = new Date(8.64e15);

/** What a look gives, a page at a time. */
export interface Followed<T> {
  readonly found: readonly T[];
  /** There is no more for now. */
  readonly isEnd: boolean;
}

/**
 * Rows are followed by their number, since clocks differ. On a server a row may appear after one with a higher number, so numbers
 * that were passed over are looked for again until they cannot appear any more. A database that takes the place of another is
 * followed from its beginning.
 */
export function follow<T>(
  readable: Readable,
  { table, select, where, convert }: Source<T>,
  since = END_OF_TIME,
): (now: Date) => Promise<Followed<T>> {
  const { dialect, all } = readable;
  const { schema, concurrent } = dialect;
  const from = sql`${schema}${table}`;
  let store: string | undefined;
  let last = 0;
  /** The numbers below `last` that have not appeared, and until when they may. */
  const missing = new Map<number, number>();

  const numbers = async (statement: Sql): Promise<number[]> =>
    (await all(statement)).map((row) => Number(row["seq"]));
  const start = async (): Promise<number> => {
    const [before = 0] = await numbers(
      sql`SELECT coalesce((SELECT min(seq) - 1 FROM ${from} WHERE id >= ${idAt(since)}),
        (SELECT max(seq) FROM ${from}), 0) AS seq`,
    );
    return before;
  };
  const pass = (seq: number, until: number): void => {
    missing.delete(seq);
    if (concurrent)
      for (let number = Math.max(last + 1, seq - UNCOMMITTED); number < seq; number++)
        missing.set(number, until);
    last = Math.max(last, seq);
  };
  return async (now) => {
    const present = await factOf(readable, "store");
    if (store !== present) {
      last = store === undefined ? await start() : 0;
      missing.clear();
      store = present;
    }
    for (const [number, until] of missing) if (until < now.getTime()) missing.delete(number);
    const seqs = await numbers(
      sql`SELECT seq FROM ${from} WHERE seq > ${last} OR ${isOneOf(sql`seq`, [...missing.keys()])}
        ORDER BY seq LIMIT ${EVENTS_PER_READ}`,
    );
    const found = isOneOf(sql`${table}.seq`, seqs);
    const rows = await all(sql`${select} WHERE ${found} AND ${where} ORDER BY ${table}.seq`);
    for (const seq of seqs) pass(seq, now.getTime() + COMMIT_TIME);
    return { found: rows.map(convert), isEnd: seqs.length < EVENTS_PER_READ };
  };
}
