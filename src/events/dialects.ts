/** What differs between the SQL of SQLite and that of PostgreSQL. Every statement of the event store is built from it. */

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
  /** Locks the selected rows, or skips those that are locked. */
  readonly lock: string;
  readonly skipLocked: string;
  /** Gives back some of the space of deleted rows, where the database does not do so by itself. */
  readonly giveBack: string | undefined;
  /** The function that finds a text in a text. */
  readonly position: string;
  readonly types: {
    /** A number from the order of insertion, as the key. */
    readonly key: string;
    /** The same in tables that SQLite numbers by itself, as a line of their definition, and its name. */
    readonly order: string;
    readonly orderName: string;
    readonly integer: string;
    /** Compared byte by byte, whatever the locale of the database. */
    readonly text: string;
    readonly bytes: string;
    /** What follows the definition of a table; of one that is read by its text key only. */
    readonly table: string;
    readonly keyed: string;
  };
  /** What the third migration needs besides its common statements. */
  readonly third: string;
}

export const SQLITE: Dialect = {
  schema: "",
  rows: 1,
  concurrent: false,
  lock: "",
  skipLocked: "",
  giveBack: "PRAGMA incremental_vacuum(1000)",
  position: "instr",
  types: {
    key: "INTEGER PRIMARY KEY AUTOINCREMENT",
    order: "",
    orderName: "rowid",
    integer: "INTEGER",
    text: "TEXT",
    bytes: "BLOB",
    table: "STRICT",
    keyed: "STRICT, WITHOUT ROWID",
  },
  third: "",
};

const PG_KEY = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
const PG_TEXT = `text COLLATE "C"`;

/**
 * The indexes of large tables that the third migration adds: `tables.ts` builds them before it while receivers go on. With
 * them, a change of the columns' collation changes the catalogue alone.
 */
export const THIRD_INDEXES: Readonly<Record<string, string>> = {
  arrivals_of: `arrivals (event COLLATE "C")`,
  forwards_of: `forwards (event COLLATE "C", status)`,
  forwards_refused: `forwards (event COLLATE "C") WHERE status NOT BETWEEN 200 AND 299`,
};

export const POSTGRES: Dialect = {
  schema: "paylink.",
  // A statement has at most 65,535 values.
  rows: 1000,
  concurrent: true,
  lock: "FOR UPDATE",
  skipLocked: "FOR UPDATE SKIP LOCKED",
  giveBack: undefined,
  position: "strpos",
  types: {
    key: PG_KEY,
    order: `seq ${PG_KEY},`,
    orderName: "seq",
    integer: "bigint",
    text: PG_TEXT,
    bytes: "bytea",
    table: "",
    keyed: "",
  },
  // A text of another collation than the one it is compared with finds nothing by its index.
  third: [
    // In the order in which receivers of 0.2.0 use them: in another, two would wait for each other.
    "LOCK TABLE paylink.arrivals, paylink.forwards, paylink.claims, paylink.queue",
    ...Object.entries(THIRD_INDEXES).map(
      ([name, on]) => `CREATE INDEX IF NOT EXISTS ${name} ON paylink.${on}`,
    ),
    "DROP INDEX paylink.arrivals_event, paylink.forwards_event",
    ...["arrivals", "forwards", "claims"].map(
      (table) => `ALTER TABLE paylink.${table} ALTER COLUMN event TYPE ${PG_TEXT}`,
    ),
    "ALTER TABLE paylink.schema_version ADD COLUMN store uuid NOT NULL DEFAULT gen_random_uuid()",
    "",
  ].join(";\n"),
};

/** Runs one statement that returns no rows. Resolves with the number of rows that it changed. */
export type Change = (sql: string, values?: readonly Value[]) => Promise<number>;

/** The statements of one transaction. */
export interface Statements {
  readonly all: All;
  readonly change: Change;
  /** The database's time at their beginning in milliseconds, where the clocks of its users differ. */
  readonly now?: number;
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

/** Deletes the rows with these keys, in the order of their events. */
export const removeRows = (session: Session, table: "claims" | "queued", key: string, keys: Rows) =>
  changeRows(session, keys, (places) => {
    const { schema, lock } = session.dialect;
    return `DELETE FROM ${schema}${table} WHERE event IN (
      SELECT event FROM ${schema}${table} WHERE ${key} IN (VALUES ${places}) ORDER BY event ${lock})`;
  });

/** Of the same order in all groups: two that lock the same rows in another order would wait for each other. */
export const inOrder = <T>(rows: readonly T[], keyOf: (row: T) => string): T[] =>
  rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
