/** The rows of a list against those that were sent before: which of them this run sends, and what becomes of each. */
import * as z from "zod/mini";
import { PaylinkError } from "../domain/errors.ts";
import { transaction, type Database, type Statement, type Value } from "../store/database.ts";
import { beforeSending } from "./memory.ts";

/** With `unknown`, the link may or may not exist. */
export type Status = "created" | "refused" | "not_reached" | "unknown" | "not_sent";

export interface Outcome {
  readonly status: Status;
  readonly id?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly error?: string | null | undefined;
}

/** Rows, and groups of rows, that are named one by one. */
const NAMED = 10;

/** The states in which a link exists or may exist; `sending` if a run was killed shortly before or during the request. */
const BOUND = "('created', 'unknown', 'sending')";

const INTERRUPTED = "an earlier run ended during this request; the link may exist";

/** A row of the list as the first pass found it. */
export interface CheckedRow {
  readonly line: number;
  /** Undefined for a row that cannot be sent. */
  readonly digest?: string;
  readonly orderNumber?: string | undefined;
}

/** Rows that ask for the same payment; with an order number, rows that have it and ask for different ones. */
export interface Group {
  /** The lines of the first ones. */
  readonly lines: readonly number[];
  readonly orderNumber: string | undefined;
}

/** What a run does with a list. */
export interface Plan {
  readonly rows: number;
  /** Rows that cannot be sent. */
  readonly invalid: number;
  /** Rows that were sent before, and are not sent again. */
  readonly sentBefore: number;
  /** Rows that this run sends. */
  readonly due: number;
  /** Those of `due` that have a link already, or may have one. */
  readonly second: number;
  /** Whether an earlier run with `--again` was stopped, and this one sends the rest of it. */
  readonly continues: boolean;
}

/** A row by its place in the list. */
export interface PlannedRow {
  /** Its number in the memory, which a row that is sent has once the run begins. */
  readonly number: number;
  readonly isDue: boolean;
}

/** A row that is about to be sent. Times are in ms since 1970. */
export interface Intent {
  readonly number: number;
  /** What the row means, as JSON. */
  readonly request: string;
  readonly sent: number;
  readonly expires: number;
}

/** A row whose order number was sent with other values: `request` is what was sent, as JSON, and `sent` when (ms since 1970). */
const conflict = z.object({
  position: z.number(),
  orderNumber: z.string(),
  request: z.string(),
  sent: z.number(),
  url: z.nullable(z.string()),
});

/** `invalid` for a row that cannot be sent; `isEarlier` for one that was left as an earlier run had left it. */
const result = z.object({
  status: z.enum(["created", "refused", "not_reached", "unknown", "not_sent", "invalid"]),
  id: z.nullable(z.string()),
  url: z.nullable(z.string()),
  error: z.nullable(z.string()),
  isEarlier: z.number(),
});
export type Result = z.infer<typeof result>;

const NO_LINK = { id: null, url: null, error: null };

const RESULTS = `SELECT number,
    CASE WHEN list.digest IS NULL THEN 'invalid' WHEN state = 'sending' THEN 'unknown' ELSE coalesce(state, 'not_sent') END AS status,
    id, url, iif(state = 'sending', '${INTERRUPTED}', error) AS error, NOT due OR coalesce(again, 0) AS isEarlier
  FROM list LEFT JOIN rows USING (number)`;

/** The list, in a table that only this connection sees: any number of rows takes little memory. */
const LIST = `CREATE TEMP TABLE list (
    position INTEGER PRIMARY KEY,
    line INTEGER NOT NULL,
    digest TEXT,
    order_number TEXT,
    occurrence INTEGER NOT NULL DEFAULT 1,
    number INTEGER,
    due INTEGER NOT NULL DEFAULT 0
  )`;

/** Of rows that mean the same, the second is not the first. */
const OCCURRENCES = `UPDATE list SET occurrence = counted.nth
  FROM (SELECT position, row_number() OVER (PARTITION BY digest ORDER BY position) AS nth FROM list
        WHERE digest IS NOT NULL) AS counted
  WHERE counted.position = list.position AND counted.nth > 1`;

const FIND_SENT = `UPDATE list SET number = (
    SELECT number FROM rows
    WHERE service = ?1 AND digest = list.digest AND occurrence = list.occurrence AND expires > ?2 AND state IN ${BOUND}
  ) WHERE digest IS NOT NULL`;

const IS_STOPPED_AGAIN = "SELECT 1 FROM list JOIN rows USING (number) WHERE again = 1 LIMIT 1";

/** `?1`: every row once more; `?2`: those that `--again` has left; `?3`: rows of unknown outcome. */
const DECIDE = `UPDATE list SET due = number IS NULL OR ?1 OR (
    SELECT (?2 AND again) OR (?3 AND state <> 'created') FROM rows WHERE rows.number = list.number
  ) WHERE digest IS NOT NULL`;

/** Rows of this list do not contradict each other: it was checked before, or the user wants them all. */
const CONFLICTS = `SELECT position, rows.order_number AS orderNumber, request, sent, url
  FROM list CROSS JOIN rows
    ON rows.service = ?1 AND rows.order_number = list.order_number AND rows.digest <> list.digest
  WHERE list.number IS NULL AND list.order_number IS NOT NULL AND rows.expires > ?2 AND rows.state IN ${BOUND}
    AND NOT EXISTS (SELECT 1 FROM list AS own WHERE own.digest = rows.digest)
  GROUP BY position ORDER BY position LIMIT ${NAMED}`;

/** What is left there has no link, or one that has expired. */
const ADD_ROWS = `INSERT INTO rows (service, digest, occurrence, order_number)
    SELECT ?1, digest, occurrence, order_number FROM list WHERE digest IS NOT NULL AND number IS NULL ORDER BY position
  ON CONFLICT (service, digest, occurrence) DO UPDATE
    SET state = 'not_sent', again = 0, id = NULL, url = NULL, error = NULL, sent = NULL, expires = 0`;

const FIND_ADDED = `UPDATE list SET number = (
    SELECT number FROM rows WHERE service = ?1 AND digest = list.digest AND occurrence = list.occurrence
  ) WHERE digest IS NOT NULL AND number IS NULL`;

const INTEND = `UPDATE rows SET state = 'sending', again = 0, id = NULL, url = NULL, error = NULL,
    request = iif(order_number IS NULL, NULL, ?), sent = ?, expires = ?
  WHERE number = ?`;

const SETTLE = "UPDATE rows SET state = ?, id = ?, url = ?, error = ? WHERE number = ?";

/** A row whose link, or possible link, this run is about to follow with a second one. */
const EARLIER = `SELECT state, again, id, url, error, request, sent, expires FROM rows WHERE number = ? AND state IN ${BOUND}`;

const RESTORE = `UPDATE rows SET state = ?, again = ?, id = ?, url = ?, error = ?, request = ?, sent = ?, expires = ?
  WHERE number = ?`;

/** What a run forgets grows with its list, never with what was sent before. */
const FORGET = `DELETE FROM rows WHERE number IN (
    SELECT number FROM rows WHERE expires <= ?1 ORDER BY expires LIMIT 1000 + 2 * (SELECT count(*) FROM list))`;

const IDENTICAL = "count(*) > 1";
/** Rows in memory at once. */
const PAGE = 1000;

export class SentRows {
  private readonly database: Database;
  private readonly service: string;
  private readonly insert: Statement;
  /** What became of rows of this run, if the disk did not take it. */
  private readonly unwritten = new Map<number, Outcome>();
  /** Rows in progress that had a link: where this run makes no second one, the next run must find the first. */
  private readonly before = new Map<number, readonly Value[]>();
  /** Those of them that got no second one, for the results. */
  private readonly failed = new Map<number, Outcome>();
  private count = 0;
  private plannedAt = 0;

  /** `service` is its base URL, in the canonical spelling. */
  constructor(database: Database, service: string) {
    this.database = database;
    this.service = service;
    database.exec(LIST);
    // Ends with `plan`.
    database.exec("BEGIN");
    this.insert = database.prepare(
      "INSERT INTO list (position, line, digest, order_number) VALUES (?, ?, ?, ?)",
    );
  }

  /** Adds the next row of the list. */
  add({ line, digest, orderNumber }: CheckedRow): void {
    this.insert.run(this.count++, line, digest ?? null, orderNumber ?? null);
  }

  /** The rows of which a customer would get several links for one payment, those that begin first. */
  repeated(): readonly Group[] {
    return [
      ...this.groups("digest", IDENTICAL),
      ...this.groups("order_number", "count(DISTINCT digest) > 1"),
    ];
  }

  /** Decides what this run sends, after the last row. It leaves no trace in the memory. `now` in ms since 1970. */
  plan(now: number, { again, retryUnknown }: Readonly<Record<"again" | "retryUnknown", boolean>>): Plan {
    const { database } = this;
    this.plannedAt = now;
    return beforeSending(() => {
      database.exec("CREATE INDEX list_by_digest ON list (digest)");
      if (this.groups("digest", IDENTICAL).length > 0) database.exec(OCCURRENCES);
      database.exec("COMMIT");
      this.all(FIND_SENT, this.service, now);
      const continues = again && this.all(IS_STOPPED_AGAIN).length > 0;
      this.all(DECIDE, Number(again && !continues), Number(again), Number(retryUnknown));
      return {
        rows: this.count,
        invalid: this.number("SELECT count(*) FROM list WHERE digest IS NULL"),
        sentBefore: this.number("SELECT count(*) FROM list WHERE digest IS NOT NULL AND NOT due"),
        due: this.number("SELECT count(*) FROM list WHERE due"),
        second: this.number("SELECT count(*) FROM list WHERE due AND number IS NOT NULL"),
        continues,
      };
    });
  }

  /** The first rows whose order number was sent with other values. */
  conflicts(): readonly z.infer<typeof conflict>[] {
    return this.all(CONFLICTS, this.service, this.plannedAt).map((found) => conflict.parse(found));
  }

  /** Forgets links that have expired, and gives every row its place in the memory, so that a disk that takes nothing is noticed before the first request. */
  begin(again: boolean): void {
    beforeSending(() =>
      transaction(this.database, () => {
        this.all(FORGET, this.plannedAt);
        // A run that is stopped leaves the mark at the rows that it has not sent once more.
        if (again) this.all("UPDATE rows SET again = 1 WHERE number IN (SELECT number FROM list WHERE due)");
        this.all(ADD_ROWS, this.service);
        this.all(FIND_ADDED, this.service);
      }),
    );
  }

  /** What was planned for each row, in the order of the list. */
  *planned(): Generator<PlannedRow, undefined> {
    for (const { number, due } of this.pages("SELECT position, number, due FROM list"))
      yield { number: Number(number), isDue: due === 1 };
  }

  /** What became of each row, in the order of the list. */
  *results(): Generator<Result, undefined> {
    for (const found of this.pages(RESULTS)) {
      const number = Number(found["number"]);
      const own = this.unwritten.get(number) ?? this.failed.get(number);
      yield result.parse(own === undefined ? found : { ...found, ...NO_LINK, ...own });
    }
  }

  /** Both are on disk when it returns: what became of rows, and which rows are about to be sent. */
  write(
    settled: readonly (Pick<PlannedRow, "number"> & { readonly outcome: Outcome })[],
    intents: readonly Intent[],
  ): void {
    const { database } = this;
    for (const { number, outcome } of settled) this.unwritten.set(number, outcome);
    // Without their intent on disk, they are not sent.
    for (const { number } of intents) this.unwritten.set(number, { status: "not_sent" });
    const [settle, restore] = [database.prepare(SETTLE), database.prepare(RESTORE)];
    const [find, intend] = [database.prepare(EARLIER), database.prepare(INTEND)];
    transaction(database, () => {
      for (const { number, outcome } of settled) {
        const { status, id = null, url = null, error = null } = outcome;
        const before = this.before.get(number);
        if (before === undefined || status === "created" || status === "unknown")
          settle.run(status, id, url, error, number);
        else restore.run(...before, number);
      }
      for (const { number, request, sent, expires } of intents) {
        const earlier = find.get(number);
        if (earlier !== undefined) this.before.set(number, Object.values(earlier));
        intend.run(request, sent, expires, number);
      }
    });
    // The next run would not find what goes to a file without a name.
    if (!database.isInPlace())
      throw new PaylinkError("file_unwritable", `${database.path} was removed or replaced during this run.`);
    this.unwritten.clear();
    for (const { number, outcome } of settled) {
      if (!this.before.has(number)) continue;
      if (outcome.status === "refused" || outcome.status === "not_reached") this.failed.set(number, outcome);
      else this.failed.delete(number);
      if (!intents.some((intent) => intent.number === number)) this.before.delete(number);
    }
  }

  /** Whether the next run will know less than the results of this one. */
  hasUnwritten(): boolean {
    return this.unwritten.size > 0;
  }

  private groups(column: "digest" | "order_number", having: string): Group[] {
    const rows = `FROM list WHERE digest IS NOT NULL AND ${column}`;
    const lines = `SELECT line ${rows} = ? ORDER BY position LIMIT ${NAMED}`;
    return this.all(
      `SELECT ${column} AS common ${rows} IS NOT NULL GROUP BY 1 HAVING ${having} ORDER BY min(position) LIMIT ${NAMED}`,
    ).map(({ common = null }) => ({
      lines: this.all(lines, common).map(({ line }) => Number(line)),
      orderNumber: column === "digest" ? undefined : String(common),
    }));
  }

  private *pages(select: string): Generator<Record<string, Value>> {
    const page = this.database.prepare(`${select} WHERE position >= ? ORDER BY position LIMIT ${PAGE}`);
    for (let from = 0; from < this.count; from += PAGE) yield* page.all(from);
  }

  private all(sql: string, ...values: Value[]): Record<string, Value>[] {
    return this.database.prepare(sql).all(...values);
  }

  private number(sql: string): number {
    return Number(Object.values(this.all(sql)[0] ?? {})[0]);
  }
}
