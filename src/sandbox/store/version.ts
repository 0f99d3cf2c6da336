/** Whether a file is a ledger of this version, and the way back from one of another version. */
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { inTransaction, type Connection } from "../../store/database.ts";
import { versionOf } from "../../store/database-file.ts";
import { LEDGER_VERSION } from "./schema.ts";

/** Throws for a file with other tables; `reset` makes any ledger a new file. */
export function requireLedger(path: string, database: Connection, reset: boolean): void {
  const version = versionOf(database);
  if (version === 0) return;
  const tables = tablesIn(database);
  // The event store has no clock.
  if (!tables.includes("clock"))
    throw new PaylinkError("file_unreadable", `${path} is a database, but not one of the sandbox.`, {
      hints: [hint`Name another file with --db.`],
    });
  if (reset) return deleteTables(database, tables);
  if (version !== LEDGER_VERSION)
    throw new PaylinkError(
      "file_unreadable",
      `${path} was made by another version of paylink: it has schema ${version}, and this version knows ${LEDGER_VERSION}.`,
      {
        hints: [
          hint`To delete its links, payments and deliveries, and start empty, add --reset.`,
          hint`To keep them, name another file with --db.`,
        ],
      },
    );
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
