/** What differs between the SQL of SQLite and that of PostgreSQL. Every statement of the event store is built from it. */

import type { PaylinkError } from "../domain/errors.ts";

/** A value that both databases store. */
export type Value = null | number | bigint | string | Uint8Array;

/** A row as either database gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement, with a value for each `?`. */
export type All = (sql: string, values?: readonly Value[]) => Promise<readonly Row[]>;

export interface Dialect {
  /** What stands before the name of a table: a search path would not reach every session behind PgBouncer. */
  readonly schema: "" | "paylink.";
  /**
   * The rows that one statement takes. To a server, each statement is a round trip. In a file, a prepared statement for
   * one row is the quickest.
   */
  readonly rows: number;
  /** Several groups are written at the same time, so each locks rows in the order of their keys. */
  readonly concurrent: boolean;
  /** Passes over rows that another transaction has locked. */
  readonly skipLocked: string;
  /** A subquery that is read once, before the statement changes what it reads. */
  readonly materialized: string;
  /** Gives back some of the space of deleted rows, where the database does not do so by itself. */
  readonly giveBack: string | undefined;
  /** The function that finds a text in a text. */
  readonly position: string;
  /** The time of the transaction, in milliseconds since 1970. */
  readonly now: string;
  readonly types: {
    /** A number from the order of insertion, as the key. */
    readonly key: string;
    readonly integer: string;
    /** Compared byte by byte, whatever the locale of the database. */
    readonly text: string;
    readonly bytes: string;
    /** What follows the definition of a table; of one that is read by its own key only. */
    readonly table: string;
    readonly keyed: string;
  };
  /** A random text that no other store has. */
  readonly newIdentity: string;
}

export const SQLITE: Dialect = {
  schema: "",
  rows: 1,
  concurrent: false,
  skipLocked: "",
  materialized: "",
  giveBack: "PRAGMA incremental_vacuum(1000)",
  position: "instr",
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  types: {
    key: "INTEGER PRIMARY KEY AUTOINCREMENT",
    integer: "INTEGER",
    text: "TEXT",
    bytes: "BLOB",
    table: "STRICT",
    keyed: "STRICT, WITHOUT ROWID",
  },
  newIdentity: "lower(hex(randomblob(16)))",
};

export const POSTGRES: Dialect = {
  schema: "paylink.",
  // A statement has at most 65,535 values.
  rows: 1000,
  concurrent: true,
  skipLocked: "FOR UPDATE SKIP LOCKED",
  // PostgreSQL may run a subquery with a limit again, and claim more than was asked for.
  materialized: "MATERIALIZED",
  giveBack: undefined,
  position: "strpos",
  now: "(extract(epoch FROM now()) * 1000)::bigint",
  types: {
    key: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    integer: "bigint",
    text: `text COLLATE "C"`,
    bytes: "bytea",
    table: "",
    keyed: "",
  },
  newIdentity: "gen_random_uuid()::text",
};

/** A database that can be read. */
export interface Readable {
  readonly dialect: Dialect;
  /** Opens it for statements that each commit by themselves. */
  readonly open: () => { readonly all: All; readonly close: () => void };
  /** The failure of a row that paylink did not write. */
  readonly damaged: (reason: string) => PaylinkError;
}

/** Runs one statement that returns no rows. Resolves with the number of rows that it changed. */
export type Change = (sql: string, values?: readonly Value[]) => Promise<number>;

/** The statements of one transaction. */
export interface Statements {
  readonly all: All;
  readonly change: Change;
  /** The database's time at their beginning, in milliseconds: the clocks of its users differ. */
  readonly now: number;
}

export interface Session extends Statements {
  readonly dialect: Dialect;
}

interface RowsOptions {
  /** The type of each value, where the statement does not tell. */
  readonly types?: readonly string[];
  /** The values of the places behind the rows. */
  readonly more?: readonly Value[];
}

/** Makes the statement for any number of rows from their places: `(?, ?), (?, ?)`. */
type RowsSql = (places: string) => string;
type Rows = readonly (readonly Value[])[];

/** The statements for all rows, with their values. */
function* parts(
  { rows: most }: Dialect,
  rows: Rows,
  sql: RowsSql,
  { types, more = [] }: RowsOptions,
): Generator<[sql: string, values: readonly Value[]]> {
  const [first] = rows;
  if (first === undefined) return;
  const place = `(${first.map((_, index) => (types === undefined ? "?" : `CAST(? AS ${types[index]})`)).join()})`;
  const statement = (count: number): string => sql(Array.from({ length: count }, () => place).join());
  const whole = statement(Math.min(most, rows.length));
  for (let from = 0; from < rows.length; from += most) {
    const values = most === 1 ? (rows[from] ?? []) : rows.slice(from, from + most).flat();
    const isWhole = values.length === first.length * Math.min(most, rows.length);
    yield [isWhole ? whole : statement(values.length / first.length), [...values, ...more]];
  }
}

/** Runs a statement for any number of rows, and gives the rows that it returns. */
export async function forRows(
  { dialect, all }: Session,
  rows: Rows,
  sql: RowsSql,
  options: RowsOptions = {},
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (const [text, values] of parts(dialect, rows, sql, options)) found.push(...(await all(text, values)));
  return found;
}

/** Runs a statement for any number of rows, and counts what it changed. */
export async function changeRows(
  { dialect, change }: Session,
  rows: Rows,
  sql: RowsSql,
  options: RowsOptions = {},
): Promise<number> {
  let changed = 0;
  for (const [text, values] of parts(dialect, rows, sql, options)) changed += await change(text, values);
  return changed;
}

/** Of the same order in all groups: two that lock the same rows in another order would wait for each other. */
export const inOrder = <T>(rows: readonly T[], keyOf: (row: T) => string): T[] =>
  rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));

/** The places of these values: `?, ?`. */
export const places = (values: readonly unknown[]): string => values.map(() => "?").join();
