/** Whether a file is a ledger, and how a ledger becomes a new one. */
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { type Connection, inTransaction } from "../../store/sqlite/connection.ts";
import { versionOf } from "../../store/sqlite/open.ts";

/** Throws for a file with other tables; `reset` makes any ledger a new file. */
export function requireLedger(path: string, database: Connection, reset: boolean): void {
  if (versionOf(database) === 0) return;
  const tables = tablesIn(database);
  // The event store has no clock.
  if (!tables.includes("clock"))
    throw new PaylinkError("file_unreadable", `${path} is a database, but not one of the sandbox.`, {
      hints: [hint`Name another file with --db.`],
    });
  if (reset) deleteTables(database, tables);
}

const tablesIn = (database: Connection): readonly string[] =>
  database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .map(({ name }) => String(name));

const deleteTables = (database: Connection, tables: readonly string[]): void =>
  inTransaction(database, () => {
    for (const table of tables) database.exec(`DROP TABLE ${table}`);
    database.exec("PRAGMA user_version=0");
  });
