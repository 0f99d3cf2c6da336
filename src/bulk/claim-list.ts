/** Opens a list for this run alone, and finds out which of its rows were sent before. */
import * as z from "zod/mini";
import { lockFile, rollBack, transaction, type Value } from "../store/database.ts";
import {
  alreadyRunning,
  BOUND,
  digestOfList,
  digestParts,
  endRun,
  insertList,
  INTERRUPTED,
  listFacts,
  lockOf,
  outcomeReader,
  SentList,
  type Memory,
  type NewList,
  type StoredOutcome,
} from "./memory.ts";
import type { RowSet } from "./repeated-rows.ts";
import { NO_DIGEST } from "./row.ts";

export interface WantedList extends NewList {
  /** The digest of each row, by its position. */
  readonly digests: ArrayLike<number>;
  /** The positions of the invalid rows. */
  readonly invalid: Pick<RowSet, "has" | "size">;
  /** This process, for others to name. */
  readonly runner: number;
}

/** A list that is open for this run. */
interface Claimed {
  readonly kind: "claimed";
  readonly list: SentList;
  /** The name of the list when it was sent first. */
  readonly input: string;
}

/** A row whose link exists, or may exist. */
export interface SentRow {
  readonly row: number;
  readonly outcome: StoredOutcome;
}

/** The list is not opened: rows of it were sent, and have changed since, or another list has sent them. */
export interface Refused {
  readonly kind: "changed" | "sent before";
  /** The number of all such rows; `first` has only the first ones. */
  readonly count: number;
  readonly first: readonly SentRow[];
}

/** Rows in a refusal that are named one by one. */
const NAMED = 10;

/**
 * Everything is decided in one transaction, so of two runs that begin at the same time, one sees the other. Throws
 * `already_running`.
 */
export function claimList(memory: Memory, wanted: WantedList): Claimed | Refused {
  loadDigests(memory, wanted.digests);
  return transaction(memory.database, () => new Claim(memory, wanted, true).decide());
}

/** What `claimList` would decide now. Nothing of it is remembered, and other runs may have the list. */
export function previewList(memory: Memory, wanted: WantedList): Claimed | Refused {
  loadDigests(memory, wanted.digests);
  memory.database.exec("BEGIN IMMEDIATE");
  try {
    return new Claim(memory, wanted, false).decide();
  } finally {
    rollBack(memory.database);
  }
}

/** The rows of the list, in tables that only this connection sees: any number of them takes little memory. */
function loadDigests({ database }: Memory, digests: ArrayLike<number>): void {
  database.exec(`
    CREATE TEMP TABLE wanted (position INTEGER PRIMARY KEY, digest INTEGER NOT NULL);
    CREATE TEMP TABLE repeated (position INTEGER PRIMARY KEY, list INTEGER NOT NULL, other INTEGER NOT NULL);
  `);
  const insert = database.prepare("INSERT INTO wanted SELECT ? + key, value FROM json_each(?)");
  for (const { from, json } of digestParts(digests)) insert.run(from, json);
}

const storedList = z.extend(listFacts, {
  number: z.number(),
  digest: z.string(),
  /** The process that is sending it. */
  runner: z.nullable(z.number()),
});
type Own = z.infer<typeof storedList>;

/** SQLite takes a negative limit for none. */
const NO_LIMIT = -1;
/** No list has this number. */
const NO_LIST = 0;

/** The rows that have a link, or may have one, and that are different or missing in the list now. */
const CHANGED = `FROM rows LEFT JOIN wanted ON wanted.position = rows.position
  WHERE list = ? AND state IN ${BOUND} AND wanted.digest IS NOT rows.digest`;

/** The rows that have no link in this list, at their places in it. */
const PENDING = `FROM wanted LEFT JOIN rows ON rows.list = ?1 AND rows.position = wanted.position
  WHERE wanted.digest <> ${NO_DIGEST} AND (rows.digest IS NOT wanted.digest OR rows.state NOT IN ${BOUND})`;

const IS_SHARED = `SELECT 1 ${PENDING}
  AND EXISTS (SELECT 1 FROM rows AS other WHERE other.digest = wanted.digest AND other.list = ?2) LIMIT 1`;

/** For each pending row, the same row of another list that has a link: of identical rows, as many as were sent. */
const FIND_REPEATED = `
  WITH pending AS (
    SELECT wanted.position, wanted.digest,
           row_number() OVER (PARTITION BY wanted.digest ORDER BY wanted.position) AS nth
    ${PENDING}
  ), sent AS (
    SELECT rows.list, rows.position, rows.digest,
           row_number() OVER (PARTITION BY rows.digest ORDER BY lists.begun DESC, rows.list DESC, rows.position) AS nth
    FROM (SELECT DISTINCT digest FROM pending) AS due
      CROSS JOIN rows ON rows.digest = due.digest
      CROSS JOIN lists ON lists.number = rows.list
    WHERE lists.service = ?2 AND lists.number <> ?1 AND lists.begun > ?3 AND rows.state IN ${BOUND}
  )
  INSERT INTO repeated SELECT pending.position, sent.list, sent.position
  FROM pending JOIN sent ON sent.digest = pending.digest AND sent.nth = pending.nth`;

const TAKE_REPEATED = `
  UPDATE rows AS own
  SET state = 'sent_before', id = other.id, url = other.url, error = iif(other.state = 'sending', ?2, other.error)
  FROM repeated CROSS JOIN rows AS other ON other.list = repeated.list AND other.position = repeated.other
  WHERE own.list = ?1 AND own.position = repeated.position`;

/** A row that asks for something else has not been sent. */
const INSERT_ROWS = `INSERT INTO rows (list, position, digest) SELECT ?, position, digest FROM wanted WHERE true
  ON CONFLICT DO UPDATE SET digest = excluded.digest, state = 'not_sent', id = NULL, url = NULL, error = NULL, key = NULL
  WHERE digest <> excluded.digest`;

class Claim {
  private readonly memory: Memory;
  private readonly wanted: WantedList;
  private readonly locks: boolean;

  constructor(memory: Memory, wanted: WantedList, locks: boolean) {
    this.memory = memory;
    this.wanted = wanted;
    this.locks = locks;
  }

  decide(): Claimed | Refused {
    const { service, repeats, digests } = this.wanted;
    const running = this.running();
    const digest = digestOfList(digests);
    const { own, changed } = this.find(digest);
    if (typeof own?.runner === "number")
      throw alreadyRunning(`Process ${own.runner} is sending this list now.`);
    if (changed !== undefined && repeats === "refuse") return this.changes(changed);
    const number = own?.number ?? NO_LIST;
    for (const other of running)
      if (this.all(IS_SHARED, number, other.number).length > 0)
        throw alreadyRunning(
          `Process ${other.runner} is sending rows of this list now. This run sent nothing.`,
        );
    const { begun, repeats: since } = own ?? this.wanted;
    // A list that is sent once more repeats only what was sent after it had begun.
    this.all(FIND_REPEATED, number, service, since === "send" ? begun : "");
    const sentBefore = this.count("FROM repeated");
    if (sentBefore > 0 && repeats !== "skip" && since !== "skip") return this.repeats(sentBefore);
    return this.open(own, digest);
  }

  /** The lists of the service that other processes are sending. Ends the runs of processes that were killed. */
  private running(): { readonly number: number; readonly runner: number }[] {
    const { memory, wanted } = this;
    const select = "SELECT number, runner FROM lists WHERE service = ? AND runner IS NOT NULL";
    return this.all(select, wanted.service).flatMap((list) => {
      const [number, runner] = [Number(list["number"]), Number(list["runner"])];
      const release = lockFile(lockOf(memory, number));
      if (release === undefined) return [{ number, runner }];
      endRun(memory, number, release);
      return [];
    });
  }

  /**
   * The list that this run continues: the last one with the same rows, or that of the same file if no row that was sent
   * has changed. With `--again`, only one that was begun with it and is not finished.
   */
  private find(digest: string): { own?: Own | undefined; changed?: Own } {
    const { input, repeats } = this.wanted;
    const same = this.lists("digest = ?", digest);
    if (repeats === "send")
      return { own: same.find((list) => list.repeats === "send" && !this.isFinished(list)) };
    const [own] = same;
    const [file] = input === "-" ? [] : this.lists("input = ?", input, 1);
    if (file === undefined || (own !== undefined && own.begun >= file.begun)) return { own };
    if (this.count(CHANGED, file.number) === 0) return { own: file };
    return own === undefined ? { changed: file } : { own };
  }

  /** The latest first. */
  private lists(condition: string, value: string, most = NO_LIMIT): Own[] {
    const select = `SELECT * FROM lists WHERE service = ? AND ${condition} ORDER BY begun DESC, number DESC LIMIT ?`;
    return this.all(select, this.wanted.service, value, most).map((list) => storedList.parse(list));
  }

  private isFinished({ number }: Own): boolean {
    const { invalid } = this.wanted;
    // One row more than are invalid is enough to find one that is valid.
    const unsent = this.all(
      "SELECT position FROM rows WHERE list = ? AND state IN ('not_sent', 'not_reached') LIMIT ?",
      number,
      invalid.size + 1,
    );
    return unsent.every(({ position }) => invalid.has(Number(position)));
  }

  private changes({ number }: Own): Refused {
    const first = this.all(`SELECT rows.position ${CHANGED} LIMIT ?`, number, NAMED);
    const outcomeOf = outcomeReader(this.memory);
    return {
      kind: "changed",
      count: this.count(CHANGED, number),
      first: first.map(({ position }) => {
        const row = Number(position);
        return { row, outcome: outcomeOf(number, row) };
      }),
    };
  }

  private repeats(count: number): Refused {
    const first = this.all("SELECT * FROM repeated ORDER BY position LIMIT ?", NAMED);
    const outcomeOf = outcomeReader(this.memory);
    return {
      kind: "sent before",
      count,
      first: first.map(({ position, list, other }) => ({
        row: Number(position),
        outcome: outcomeOf(Number(list), Number(other)),
      })),
    };
  }

  private open(own: Own | undefined, digest: string): Claimed {
    const { memory, wanted } = this;
    const { input, digests, runner } = wanted;
    const number = own?.number ?? insertList(memory.database, wanted);
    const release = this.locks ? lockFile(lockOf(memory, number)) : undefined;
    if (this.locks && release === undefined) throw alreadyRunning("Another run is sending this list now.");
    if (own?.digest !== digest) {
      this.all("DELETE FROM rows WHERE list = ? AND position >= ?", number, digests.length);
      this.all(INSERT_ROWS, number);
    }
    this.all("UPDATE lists SET runner = ?, digest = ? WHERE number = ?", runner, digest, number);
    // Found anew by each run.
    this.all("UPDATE rows SET state = 'not_sent' WHERE list = ? AND state = 'sent_before'", number);
    this.all(TAKE_REPEATED, number, INTERRUPTED.error ?? null);
    const claimed = new SentList({ memory, number, release });
    return { kind: "claimed", list: claimed, input: own?.input ?? input };
  }

  private all(sql: string, ...values: Value[]): Record<string, Value>[] {
    return this.memory.database.prepare(sql).all(...values);
  }

  private count(from: string, ...values: Value[]): number {
    return Number(this.all(`SELECT count(*) AS count ${from}`, ...values)[0]?.["count"]);
  }
}
