/** The file of an event store: its tables, and the groups that are written to it. */
import { existsSync } from "node:fs";
import { IN_MEMORY, rollBack, type Database, type Statement } from "./database.ts";
import { isLocked } from "./database-failures.ts";
import { openDatabase } from "./open-database.ts";
import { type Dialect, SQLITE, type All, type DatabaseSession } from "./dialects.ts";
import { createMarking, markOf, readEventMark, requireMarked } from "./event-mark.ts";
import { createTables, SCHEMA_VERSION } from "./schema.ts";
import { createGroupWriter, type WriteGroup } from "./write-group.ts";

/**
 * An event takes about 2.3 KB, and its entries in the indexes go to pages anywhere, each of which is written whole. On pages of
 * 8 KB, twice as much is written for a webhook (listen bench), and on pages of 4 KB nearly half of each would be empty.
 */
const DATABASE_PAGE_SIZE = 2048;

/** Throws `file_unreadable` for a store that has lost events. */
export function openEventDatabase(path: string): Database {
  // A store whose file is not there is a new one.
  const mark = path !== IN_MEMORY && existsSync(path) ? readEventMark(path) : undefined;
  return openDatabase(path, createTables(SQLITE), {
    version: SCHEMA_VERSION,
    pageSize: DATABASE_PAGE_SIZE,
    check: (opened) => requireMarked(path, mark, markOf(opened)),
  });
}

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
  const mark = createMarking(database);
  // Nothing in it waits for anything but SQLite, so that no other group comes between.
  const committed = async <T>(
    work: (statements: Omit<DatabaseSession, "dialect">) => Promise<T>,
  ): Promise<T> => {
    database.exec("BEGIN IMMEDIATE");
    try {
      const result = await work({ all, now: Number(time.get()?.["now"]) });
      database.exec("COMMIT");
      return result;
    } catch (error) {
      rollBack(database);
      throw error;
    }
  };
  return createGroupWriter({
    dialect,
    transaction: async (work) => {
      const result = await committed(work);
      mark();
      return result;
    },
    // Each further try would wait for the lock as long as this one.
    isOfOne: (reason) => !isLocked(reason),
  });
}
