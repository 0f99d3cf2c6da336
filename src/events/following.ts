/** Follows a store: returns the events, or the rejections, that any receiver has stored since the last look. */
import type { EventFilter, Followed } from "../receiver/event-store.ts";
import type { All, Row } from "./dialects.ts";
import { conditionsOf, type Readable, sourceOf } from "./reading.ts";
import { followedRejectionFromRow, queuedEventFromRow } from "./rows.ts";

/** Rows in memory at once. */
const PAGE_SIZE = 100;
/** Milliseconds from the number of an event on a server to its commit, and more. */
const COMMIT_TIME = 10_000;
/** Events that all receivers may have numbered and not committed when the first look is taken. */
const UNCOMMITTED = 10_000;

interface Numbered {
  readonly seq: number;
  readonly id: string;
}

const numbered = (row: Row): Numbered => ({ seq: Number(row["seq"]), id: String(row["id"]) });

/**
 * Events are followed by their number, since clocks differ. On a server an event may appear after one with a higher number: what
 * was numbered less than 10 s ago is looked through again.
 */
export function follow(
  { dialect, open }: Readable,
  filter: EventFilter,
  rejected = false,
): (now: Date) => Promise<Followed> {
  const { table, select } = sourceOf(rejected ? "rejections" : "events", dialect);
  const from = `${dialect.schema}${table}`;
  const { where, values } = conditionsOf(filter, dialect);
  /** Below it, nothing appears any more. */
  let floor: number | undefined;
  let cursor = 0;
  /** The events above the floor that are known, and when each was seen. */
  const seen = new Map<number, number>();
  let last: Numbered = { seq: 0, id: "" };
  let after = "";

  const one = async (all: All, sql: string, ...given: number[]): Promise<Numbered | undefined> =>
    (await all(sql, given)).map(numbered)[0];
  const newest = (all: All) => one(all, `SELECT seq, id FROM ${from} ORDER BY seq DESC LIMIT 1`);
  const start = async (all: All, now: number): Promise<void> => {
    const top = (await newest(all)) ?? last;
    const settled = Math.max(0, dialect.concurrent ? top.seq - UNCOMMITTED : top.seq);
    const { since } = filter;
    floor = settled;
    cursor = settled;
    if (since !== undefined) {
      const [row] = await all(`SELECT min(seq) AS seq FROM ${from} WHERE received_at >= ?`, [
        since.getTime(),
      ]);
      cursor = row?.["seq"] == null ? settled : Math.min(settled, Number(row["seq"]) - 1);
      return;
    }
    last = top;
    const recent = await all(`SELECT seq FROM ${from} WHERE seq > ?`, [settled]);
    for (const { seq } of recent) seen.set(Number(seq), now);
  };
  /** Numbers begin again in another store, and ids grow with the time. */
  const isAnother = async (all: All): Promise<boolean> => {
    const top = await newest(all);
    const same = await one(all, `SELECT seq, id FROM ${from} WHERE seq = ?`, last.seq);
    if (same !== undefined) return same.id !== last.id;
    return top !== undefined && top.seq < last.seq && top.id > last.id;
  };
  const look = async (all: All, now: number): Promise<Followed> => {
    if (floor === undefined) await start(all, now);
    const moved = await isAnother(all);
    if (moved) {
      [floor, cursor, after] = [0, 0, last.id];
      last = { seq: 0, id: "" };
      seen.clear();
    }
    const rows = (
      await all(`SELECT seq, id FROM ${from} WHERE seq > ? ORDER BY seq LIMIT ${PAGE_SIZE}`, [cursor])
    ).map(numbered);
    const found = rows.filter(({ seq, id }) => !seen.has(seq) && id > after);
    const whole =
      found.length === 0
        ? []
        : await all(
            `${select}
             WHERE ${table}.seq IN (${found.map(() => "?").join()}) AND ${where} ORDER BY ${table}.seq`,
            [...found.map(({ seq }) => seq), ...values],
          );
    // From here on nothing can fail: what is marked as seen is given.
    for (const row of found) {
      if (row.seq > (floor ?? 0)) seen.set(row.seq, now);
      if (row.seq > last.seq) last = row;
    }
    const isEnd = rows.length < PAGE_SIZE;
    cursor = rows.at(-1)?.seq ?? cursor;
    if (isEnd) {
      const settled = dialect.concurrent ? now - COMMIT_TIME : now;
      for (const [seq, at] of seen) if (at <= settled) floor = Math.max(floor ?? 0, seq);
      for (const seq of seen.keys()) if (seq <= (floor ?? 0)) seen.delete(seq);
      cursor = floor ?? 0;
    }
    return {
      found: rejected ? whole.map(followedRejectionFromRow) : whole.map(queuedEventFromRow),
      isEnd,
      isAnother: moved,
    };
  };
  return async (now) => {
    const reader = open();
    try {
      return await look(reader.all, now.getTime());
    } finally {
      reader.close();
    }
  };
}
