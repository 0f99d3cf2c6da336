/** SQLite as this project opens it: Node's own driver, or on Node 20 the package with the same API. */
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { PaylinkError } from "../domain/errors.ts";

export type Value = null | number | bigint | string | Uint8Array;

/** The part of the node:sqlite API that is used here; both drivers have it. */
export interface Statement {
  run(...values: readonly Value[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: readonly Value[]): Record<string, Value> | undefined;
  all(...values: readonly Value[]): Record<string, Value>[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface Driver {
  readonly DatabaseSync: new (path: string) => Database;
}

/** Milliseconds to wait for the transaction of another process. */
const BUSY_TIMEOUT = 10_000;

/**
 * Opens a database for several processes at once: readers never wait (WAL), and commits survive a power cut
 * (synchronous=FULL). `migrations` are run in order, each once; their number is the schema's version.
 */
export function openDatabase(path: string, migrations: readonly string[]): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new (driver().DatabaseSync)(path);
  database.exec(`PRAGMA busy_timeout=${BUSY_TIMEOUT}; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;`);
  migrate(database, path, migrations);
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      OWNERS.set(statement, database);
      return statement;
    },
    close: () => database.close(),
  };
}

/** Node 20 collects a database that nothing refers to, and closes it while its statements are still in use. */
const OWNERS = new WeakMap<Statement, Database>();

function migrate(database: Database, path: string, migrations: readonly string[]): void {
  const version = (): number => Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  if (version() === migrations.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    // Read again inside the transaction: another process may have migrated in the meantime.
    const from = version();
    if (from > migrations.length)
      throw new PaylinkError("file_unreadable", `${path} was written by a newer paylink (schema ${from}).`, {
        hint: "Update paylink, or name another file with --db.",
      });
    for (const sql of migrations.slice(from)) database.exec(sql);
    database.exec(`PRAGMA user_version=${migrations.length}`);
    database.exec("COMMIT");
  } catch (error) {
    rollBack(database);
    database.close();
    throw error;
  }
}

/** Runs a function in one transaction, which takes the write lock at once. */
export function transaction<T>(database: Database, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** On a full disk SQLite rolls back by itself: rolling back again fails, and would hide the first error. */
export function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    return;
  }
}

/** Loaded at run time: one is built into Node and the other is an optional package, so neither can be bundled. */
function driver(): Driver {
  const require = createRequire(import.meta.url);
  for (const name of ["node:sqlite", "@photostructure/sqlite"]) {
    try {
      return require(name) as Driver;
    } catch {
      continue;
    }
  }
  throw new PaylinkError("usage", "This version of Node has no SQLite, which paylink needs to store data.", {
    hint: "Use Node 22.13 or later, or install paylink again with its optional package @photostructure/sqlite.",
  });
}
