/** The file of an event store: its tables and indexes, and the transactions that write it. */
import { existsSync } from "node:fs";
import { PaylinkError } from "../../domain/errors.ts";
import { messageOf } from "../../values/system-reason.ts";
import { type All, SQLITE, type Transact } from "../dialects.ts";
import { sql, type Value } from "../sql.ts";
import { createEventMarking, markOf, readEventMark, requireMarked } from "../event-mark.ts";
import { schemaStepsOf } from "../schema.ts";
import { createGroupWriter, type WriteGroup } from "../write-group.ts";
import {
  type Connection,
  damaged,
  type Database,
  IN_MEMORY,
  isLocked,
  rollBack,
  type Statement,
} from "./connection.ts";
import { openDatabase } from "./open.ts";

/**
 * An event takes about 2.3 KB, and its entries in the indexes go to pages anywhere, each of which is written whole. On pages of
 * 8 KB, twice as much is written for a webhook (listen bench), and on pages of 4 KB nearly half of each would be empty.
 */
const DATABASE_PAGE_SIZE = 2048;

/** Throws `file_unreadable` for a store that has lost events. */
export function openEventDatabase(path: string, steps = schemaStepsOf("events", SQLITE)): Database {
  // A store whose file is not there is a new one.
  const mark = path !== IN_MEMORY && existsSync(path) ? readEventMark(path) : undefined;
  return openDatabase(path, steps, {
    pageSize: DATABASE_PAGE_SIZE,
    check: (opened) => requireMarked(path, mark, markOf(opened)),
  });
}

/** Runs statements, each of which is prepared once. */
export function statementsOf(database: Database): All {
  const prepared = new Map<string, Statement>();
  return async ({ text, values }) => {
    const statement = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, statement);
    return statement.all(...values);
  };
}

/** One transaction after another: a connection has one at a time. */
export function transactionsOf(database: Database, dialect = SQLITE): Transact {
  const all = statementsOf(database);
  let last: Promise<unknown> = Promise.resolve();
  const run: Transact = async (work) => {
    database.exec("BEGIN IMMEDIATE");
    try {
      const [begun = {}] = await all(
        sql`SELECT ${dialect.now} AS now, (SELECT user_version FROM pragma_user_version) AS version`,
      );
      if (begun["version"] !== database.version) throw upgradedMeanwhile(database.path);
      const result = await work({ dialect, all, now: Number(begun["now"]) });
      database.exec("COMMIT");
      return result;
    } catch (error) {
      rollBack(database);
      throw error;
    }
  };
  return (work) => {
    const result = last.then(() => run(work));
    last = result.catch(() => undefined);
    return result;
  };
}

/** The rows of this version may be wrong ones there. */
const upgradedMeanwhile = (path: string): PaylinkError =>
  new PaylinkError(
    "file_unwritable",
    `${path} was upgraded by a newer paylink while this one was using it. Update this one, and start it again.`,
    { hints: [] },
  );

export function createSqliteWriter(database: Database, transact = transactionsOf(database)): WriteGroup {
  const mark = createEventMarking(database);
  return createGroupWriter({
    transact: async (work) => {
      const result = await transact(work);
      mark();
      return result;
    },
    // Each further try would wait for the lock as long as this one.
    isOfOne: (reason) => !isLocked(reason),
  });
}

/** A larger file is not read whole: that would take seconds, and no webhook is received meanwhile. */
const LARGEST_CHECKED_WHOLE = 256 * 1024 * 1024;

/** Every event is in each of them. */
const EVENT_INDEXES = ["events_listed", "events_uti", "events_reference"];

type Queryable = Pick<Connection, "prepare">;

/**
 * Rebuilds damaged indexes from their tables; throws `file_unreadable` where that does not help. Deliveries are checked row by row
 * in any file: one that is missing from the index of due deliveries would never be forwarded.
 */
export function requireWhole(database: Pick<Connection, "exec" | "prepare">, path: string): void {
  if (integrityProblem(database) === undefined) return;
  try {
    database.exec("REINDEX");
    // When an attempt is due may have changed too, by years: nothing waits for longer than until now.
    const now = SQLITE.now.text;
    database.exec(`UPDATE deliveries SET due = ${now}, set_at = ${now} WHERE due > ${now}`);
  } catch (error) {
    // Two rows have the same key now.
    throw error instanceof PaylinkError ? error : damaged(path, messageOf(error));
  }
  const problem = integrityProblem(database) ?? strayDelivery(database);
  if (problem !== undefined) throw damaged(path, problem);
}

/** What is wrong with a file of at most so many bytes, which is read whole; undefined if nothing is, or it is larger. */
export const damageIn = (database: Queryable, most: number): string | undefined =>
  sizeOf(database) <= most ? checkedBy(database, "PRAGMA integrity_check") : undefined;

const sizeOf = (database: Queryable): number =>
  pragmaValue(database, "PRAGMA page_count") * pragmaValue(database, "PRAGMA page_size");

function integrityProblem(database: Queryable): string | undefined {
  if (sizeOf(database) <= LARGEST_CHECKED_WHOLE) return damageIn(database, LARGEST_CHECKED_WHOLE);
  const counts = EVENT_INDEXES.map((index) =>
    pragmaValue(database, `SELECT count(*) FROM events INDEXED BY ${index}`),
  );
  if (new Set(counts).size > 1) return "its indexes have different numbers of events";
  return checkedBy(database, "PRAGMA integrity_check(deliveries)");
}

function checkedBy(database: Queryable, check: string): string | undefined {
  const found = firstColumn(database, check);
  // SQLite names each problem on a line of its own.
  return found === "ok" ? undefined : String(found).trim().replaceAll("\n", "; ");
}

/** A delivery that waits, but not as its event would: the damage was in its row, not in the index that is made of it. */
function strayDelivery(database: Queryable): string | undefined {
  const found = firstColumn(
    database,
    `SELECT event FROM deliveries WHERE due IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM events WHERE id = event AND events.outcome = deliveries.outcome AND events.key = deliveries.key)`,
  );
  return found === undefined ? undefined : `the delivery of ${String(found)} belongs to another payment`;
}

const pragmaValue = (database: Queryable, sql: string): number => Number(firstColumn(database, sql));

/** The first column of the first row. */
const firstColumn = ({ prepare }: Queryable, sql: string): Value | undefined =>
  Object.values(prepare(sql).get() ?? {})[0];
