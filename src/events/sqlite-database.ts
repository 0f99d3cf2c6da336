/** The file of an event store: its tables, and the groups that are written to it. */
import { hint, paylink, PaylinkError } from "../domain/errors.ts";
import {
  isLocked,
  openDatabase,
  rollBack,
  type Connection,
  type Database,
  type Statement,
} from "../store/database.ts";
import { SQLITE, type Statements } from "./dialects.ts";
import { judgeAgain, migrations } from "./schema.ts";
import { createGroupWriter, type WriteGroup } from "./write-group.ts";

/** Events take about 2 KB: on pages of 4 KB, most pages would be half empty. */
const PAGE_SIZE = 8192;

const MIGRATIONS = migrations(SQLITE);
export const EVENT_SCHEMA_VERSION = MIGRATIONS.length;

export const openEventDatabase = (path: string): Database =>
  openDatabase(path, MIGRATIONS, {
    pageSize: PAGE_SIZE,
    check: (database) => refuseFormerTables(database, path),
    convert: (database, from) => {
      const statements = judgeAgain(SQLITE, from);
      let step = statements.next();
      while (step.done !== true) {
        const [sql, values] = step.value;
        step = statements.next(database.prepare(sql).all(...values));
      }
    },
  });

/** paylink 0.1 stored whole verdicts, and numbered its tables from 1 as well. */
function refuseFormerTables(database: Connection, path: string): void {
  const former = "SELECT 1 FROM pragma_table_info('events') WHERE name = 'verdict'";
  if (database.prepare(former).get() === undefined) return;
  throw new PaylinkError(
    "file_unreadable",
    `${path} was written by paylink 0.1, and this version cannot read its events. Nothing was changed.`,
    {
      hints: [
        hint`Rename the file, or name another one with --db.`,
        hint`To keep its events, run this with paylink 0.1 first: ${paylink("events", "export", "--db", path)} > events.jsonl`,
      ],
    },
  );
}

/** Gives the free pages back, which a file of before 0.3 cannot give back singly. */
export function shrinkDatabase(database: Database): void {
  const { auto_vacuum: kind } = database.prepare("PRAGMA auto_vacuum").get() ?? {};
  database.exec(kind === 0 ? "PRAGMA auto_vacuum=INCREMENTAL; VACUUM" : "PRAGMA incremental_vacuum");
  // The file is cut when its log is emptied.
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** Each statement is prepared once. */
export function statementsOf(database: Database): Statements {
  const prepared = new Map<string, Statement>();
  const prepare = (sql: string): Statement => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
  return {
    all: async (sql, values = []) => prepare(sql).all(...values),
    change: async (sql, values = []) => Number(prepare(sql).run(...values).changes),
  };
}

export function createSqliteWriter(database: Database): WriteGroup {
  const statements = statementsOf(database);
  return createGroupWriter({
    dialect: SQLITE,
    // Nothing in it waits for anything but SQLite, so that no other group comes between.
    transaction: async (work) => {
      database.exec("BEGIN IMMEDIATE");
      try {
        const result = await work(statements);
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
