/** What differs between the SQL of SQLite and that of PostgreSQL. Every statement of the event store is built from it. */

import { raw, type Row, type Sql, sql, type Value } from "./sql.ts";

/** Runs one statement. */
export type All = (statement: Sql) => Promise<readonly Row[]>;

export interface Dialect {
  /** What stands before the name of a table: a search path would not reach every session behind PgBouncer. */
  readonly schema: Sql;
  /**
   * The rows that one statement takes. To a server, each statement is a round trip. In a file, a prepared statement for
   * one row is the quickest.
   */
  readonly rows: number;
  /** Several groups are written at the same time, so each locks rows in the order of their keys. */
  readonly concurrent: boolean;
  /** Passes over rows that another transaction has locked. */
  readonly skipLocked: Sql;
  /** A subquery that is read once, before the statement changes what it reads. */
  readonly materialized: Sql;
  /** That a row `newer` of `events` is another one, where an index without the id can tell. */
  readonly isAnother: Sql;
  /** The function that finds a text in a text. */
  readonly position: Sql;
  /** The time of the transaction, in milliseconds since 1970. */
  readonly now: Sql;
  readonly types: {
    /** A number from the order of insertion, as the key. */
    readonly seq: string;
    readonly integer: string;
    /** Compared byte by byte, whatever the locale of the database. */
    readonly text: string;
    readonly bytes: string;
    /** What follows the definition of a table; of one that is read by its own key only. */
    readonly table: string;
    readonly keyed: string;
    /** What follows the columns of an index that is to tell the id too. */
    readonly covers: string;
  };
  /** A random text that no other store has. */
  readonly newIdentity: string;
}

export const SQLITE: Dialect = {
  schema: raw(""),
  rows: 1,
  concurrent: false,
  skipLocked: raw(""),
  materialized: raw(""),
  isAnother: sql`AND newer.seq <> events.seq`,
  position: sql`instr`,
  now: sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  types: {
    seq: "INTEGER PRIMARY KEY AUTOINCREMENT",
    integer: "INTEGER",
    text: "TEXT",
    bytes: "BLOB",
    table: "STRICT",
    keyed: "STRICT, WITHOUT ROWID",
    covers: "",
  },
  newIdentity: "lower(hex(randomblob(16)))",
};

export const POSTGRES: Dialect = {
  schema: raw("paylink."),
  // A statement has at most 65,535 values.
  rows: 1000,
  concurrent: true,
  skipLocked: sql`FOR UPDATE SKIP LOCKED`,
  // PostgreSQL may run a subquery with a limit again, and claim more than was asked for.
  materialized: sql`MATERIALIZED`,
  isAnother: raw(""),
  position: sql`strpos`,
  now: sql`(extract(epoch FROM now()) * 1000)::bigint`,
  types: {
    seq: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    integer: "bigint",
    text: `text COLLATE "C"`,
    bytes: "bytea",
    table: "",
    keyed: "",
    covers: "INCLUDE (id)",
  },
  newIdentity: "gen_random_uuid()::text",
};

/** A database that can be read. */
export interface Readable {
  readonly dialect: Dialect;
  /** The file, or the URL of the database without its password. */
  readonly place: string;
  /** Each statement commits by itself. */
  readonly all: All;
}

/** The statements of one transaction. */
export interface DatabaseSession {
  readonly dialect: Dialect;
  readonly all: All;
  /** The database's time at their beginning, in milliseconds: the clocks of its users differ. */
  readonly now: number;
}

/** Enough of a session for what needs no time. */
export type Statements = Pick<DatabaseSession, "dialect" | "all">;

/** Runs the work in one transaction. Nothing in it waits for anything but the database. */
export type Transact = <T>(work: (session: DatabaseSession) => Promise<T>) => Promise<T>;

/**
 * Runs a statement for any number of rows, and gives the rows that it returns. `statement` makes it from the places of the rows:
 * `(?, ?), (?, ?)`. `types` are those of the values, where the statement does not tell.
 */
export async function forRows(
  { dialect: { rows: most }, all }: Statements,
  rows: readonly (readonly Value[])[],
  statement: (places: Sql) => Sql,
  types?: readonly string[],
): Promise<readonly Row[]> {
  const [first = []] = rows;
  const place = `(${first.map((_, index) => (types === undefined ? "?" : `CAST(? AS ${types[index]})`)).join()})`;
  const found: Row[] = [];
  for (let from = 0; from < rows.length; from += most) {
    const part = rows.slice(from, from + most);
    found.push(...(await all(statement({ text: part.map(() => place).join(), values: part.flat() }))));
  }
  return found;
}

/** Inserts rows; `ending` is what follows their places. */
export const insert = (
  session: DatabaseSession,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
  ending = raw(""),
): Promise<readonly Row[]> => {
  const into = sql`${session.dialect.schema}${raw(`${table} (${columns.join()})`)}`;
  return forRows(session, rows, (places) => sql`INSERT INTO ${into} VALUES ${places} ${ending}`);
};

/** Of the same order in all groups: two that lock the same rows in another order would wait for each other. Equal ones stay in order. */
export const inOrder = <T>(rows: readonly T[], keyOf: (row: T) => string): T[] =>
  rows.toSorted((one, other) => Number(keyOf(one) > keyOf(other)) - Number(keyOf(one) < keyOf(other)));
