/** Follows a store: returns the events, or the rejections, that any receiver has stored since the last look. */
import { idAt } from "../receiver/events.ts";
import type { All, Readable, Row, Value } from "./dialects.ts";
import {
  type DamagedRow,
  eventFromRow,
  orDamaged,
  rejectionFromRow,
  type StoredEvent,
  type StoredRejection,
} from "./rows.ts";

/** Rows in memory at once. */
const PAGE_SIZE = 100;
/** Milliseconds in which a number that a server has given to a row is committed, or never. */
const COMMIT_TIME = 10_000;
/** Rows that all receivers may have numbered and not committed when the first look is taken. */
const UNCOMMITTED = 1_000;

/** What a look gives, a page at a time. */
export interface Followed {
  readonly found: readonly (StoredEvent | StoredRejection | DamagedRow)[];
  /** There is no more for now. */
  readonly isEnd: boolean;
  /** The database is another one than at the last look. */
  readonly isAnother: boolean;
}

interface Source {
  readonly table: "events" | "rejections";
  readonly select: string;
  readonly where: string;
  readonly values: readonly Value[];
}

/**
 * Rows are followed by their number, since clocks differ. On a server a row may appear after one with a higher number, so numbers
 * that were passed over are looked for again until they cannot appear any more.
 */
export function follow(
  { dialect: { schema, concurrent }, open }: Readable,
  { table, select, where, values }: Source,
  since: Date | undefined,
): (now: Date) => Promise<Followed> {
  const from = `${schema}${table}`;
  const convert = orDamaged<StoredEvent | StoredRejection>(
    table === "events" ? eventFromRow : rejectionFromRow,
  );
  let store: string | undefined;
  let last = 0;
  /** The numbers below `last` that have not appeared, and until when they may. */
  const missing = new Map<number, number>();

  const numbers = async (all: All, sql: string, given: readonly Value[]): Promise<number[]> =>
    (await all(sql, given)).map((row: Row) => Number(row["seq"]));
  const pass = (found: readonly number[], now: number): void => {
    for (const seq of found) {
      missing.delete(seq);
      if (concurrent)
        for (let number = Math.max(last + 1, seq - UNCOMMITTED); number < seq; number++)
          missing.set(number, now + COMMIT_TIME);
      last = Math.max(last, seq);
    }
  };
  const start = async (all: All, now: number): Promise<void> => {
    const [top = 0] = await numbers(all, `SELECT seq FROM ${from} ORDER BY seq DESC LIMIT 1`, []);
    last = top;
    if (since !== undefined) {
      const [first] = await numbers(all, `SELECT min(seq) AS seq FROM ${from} WHERE id >= ?`, [idAt(since)]);
      last = first === undefined || first === 0 ? top : first - 1;
    } else if (concurrent) {
      last = Math.max(0, top - UNCOMMITTED);
      pass(await numbers(all, `SELECT seq FROM ${from} WHERE seq > ? ORDER BY seq`, [last]), now);
    }
  };
  const look = async (all: All, now: number): Promise<Followed> => {
    const [identity] = await all(`SELECT value FROM ${schema}facts WHERE name = 'store'`);
    const present = String(identity?.["value"]);
    const isAnother = store !== undefined && store !== present;
    if (store === undefined) await start(all, now);
    if (isAnother) {
      last = 0;
      missing.clear();
    }
    store = present;
    for (const [number, until] of missing) if (until < now) missing.delete(number);
    const seqs = await numbers(
      all,
      `SELECT seq FROM ${from} WHERE seq > ? OR seq IN (${[...missing.keys()].join() || "0"}) ORDER BY seq LIMIT ${PAGE_SIZE}`,
      [last],
    );
    const rows =
      seqs.length === 0
        ? []
        : await all(
            `${select} WHERE ${table}.seq IN (${seqs.map(() => "?").join()}) AND ${where} ORDER BY ${table}.seq`,
            [...seqs, ...values],
          );
    pass(seqs, now);
    return { found: rows.map(convert), isEnd: seqs.length < PAGE_SIZE, isAnother };
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
