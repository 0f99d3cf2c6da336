/** Damage of an SQLite file that would hide rows: an index that does not agree with its table. */
import { PaylinkError } from "../domain/errors.ts";
import { messageOf } from "../domain/system-reason.ts";
import type { Connection, Value } from "./database.ts";
import { damaged } from "./database-failures.ts";

/** A larger file is not read whole: that would take seconds, and no webhook is received meanwhile. */
const MOST_READ_WHOLE = 256 * 1024 * 1024;

/** Every event is in each of them. */
const EVENT_INDEXES = ["events_id", "events_listed", "events_uti", "events_reference"];

type Queryable = Pick<Connection, "prepare">;

/**
 * Rebuilds damaged indexes from their tables; throws `file_unreadable` where that does not help. Deliveries are checked row by row
 * in any file: one that is missing from the index of due deliveries would never be forwarded.
 */
export function requireWhole(database: Pick<Connection, "exec" | "prepare">, path: string): void {
  if (integrityProblem(database) === undefined) return;
  try {
    database.exec("REINDEX");
  } catch (error) {
    // Two rows have the same key now.
    throw error instanceof PaylinkError ? error : damaged(path, messageOf(error));
  }
  const problem = integrityProblem(database) ?? strayDelivery(database);
  if (problem !== undefined) throw damaged(path, problem);
}

/** What is wrong with a file that is small enough to be read whole; undefined if nothing is, or it is larger. */
export const damageIn = (database: Queryable): string | undefined =>
  isSmall(database) ? checkedBy(database, "PRAGMA integrity_check") : undefined;

const isSmall = (database: Queryable): boolean =>
  valueOf(database, "PRAGMA page_count") * valueOf(database, "PRAGMA page_size") <= MOST_READ_WHOLE;

function integrityProblem(database: Queryable): string | undefined {
  if (isSmall(database)) return damageIn(database);
  const counts = EVENT_INDEXES.map((index) =>
    valueOf(database, `SELECT count(*) FROM events INDEXED BY ${index}`),
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

const valueOf = (database: Queryable, sql: string): number => Number(firstColumn(database, sql));

/** The first column of the first row. */
const firstColumn = ({ prepare }: Queryable, sql: string): Value | undefined =>
  Object.values(prepare(sql).get() ?? {})[0];
