/** The file of an event store: its tables, and the groups that are written to it. */
import { rollBack, type Database, type Statement } from "./database.ts";
import { isLocked } from "./database-failures.ts";
import { openDatabase } from "./open-database.ts";
import { type Dialect, SQLITE, type All } from "./dialects.ts";
import { createTables, SCHEMA_VERSION } from "./schema.ts";
import { createGroupWriter, type WriteGroup } from "./write-group.ts";

/**
 * An event takes about 2.3 KB, and its entries in the indexes go to pages anywhere, each of which is written whole. On pages of
 * 8 KB, twice as much is written for a webhook (listen bench), and on pages of 4 KB nearly half of each would be empty.
 */
const PAGE_SIZE = 2048;

export const openEventDatabase = (path: string): Database =>
  openDatabase(path, createTables(SQLITE), { version: SCHEMA_VERSION, pageSize: PAGE_SIZE });

/** Runs statements, each of which is prepared once. */
export function statementsOf(database: Database): All {
  const prepared = new Map<string, Statement>();
  return async (sql, values = []) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement.all(...values);
  };
}

export function createSqliteWriter(database: Database, dialect: Dialect): WriteGroup {
  const all = statementsOf(database);
  const time = database.prepare(`SELECT ${dialect.now} AS now`);
  return createGroupWriter({
    dialect,
    // Nothing in it waits for anything but SQLite, so that no other group comes between.
    transaction: async (work) => {
      database.exec("BEGIN IMMEDIATE");
      try {
        const result = await work({ all, now: Number(time.get()?.["now"]) });
        database.exec("COMMIT");
        return result;
      } catch (error) {
        rollBack(database);
        throw error;
      }
    },
    // Each further try would wait for the lock as long as this one.
    isOfOne: (reason) => !isLocked(reason),
  });
}
