/** What differs between the SQL of SQLite and that of PostgreSQL. Every statement of the event store is built from it. */

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
  /** Gives the space of deleted rows back, where the database does not do so by itself. */
  readonly giveBack: string | undefined;
  /** The function that finds a text in a text. */
  readonly position: string;
  /** The time of the transaction, in milliseconds since 1970. */
  readonly now: string;
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
  giveBack: "PRAGMA incremental_vacuum",
  position: "instr",
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  types: {
    seq: "INTEGER PRIMARY KEY AUTOINCREMENT",
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
    seq: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
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

/** Runs the work in one transaction. Nothing in it waits for anything but the database. */
export type Transact = <T>(work: (session: DatabaseSession) => Promise<T>) => Promise<T>;

interface RowsOptions {
  /** The type of each value, where the statement does not tell. */
  readonly types?: readonly string[];
  /** The values of the places behind the rows. */
  readonly more?: readonly Value[];
}

/**
 * Runs a statement for any number of rows, and gives the rows that it returns. `sql` makes it from the places of the rows:
 * `(?, ?), (?, ?)`.
 */
export async function forRows(
  { dialect: { rows: most }, all }: Pick<DatabaseSession, "dialect" | "all">,
  rows: readonly (readonly Value[])[],
  sql: (places: string) => string,
  { types, more = [] }: RowsOptions = {},
): Promise<readonly Row[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const place = `(${first.map((_, index) => (types === undefined ? "?" : `CAST(? AS ${types[index]})`)).join()})`;
  const statement = (count: number): string => sql(Array.from({ length: count }, () => place).join());
  const whole = statement(Math.min(most, rows.length));
  const found: Row[] = [];
  for (let from = 0; from < rows.length; from += most) {
    const part = rows.slice(from, from + most);
    const isWhole = from === 0 || part.length === most;
    found.push(...(await all(isWhole ? whole : statement(part.length), [...part.flat(), ...more])));
  }
  return found;
}

/** Inserts rows; `ending` is what follows their places. */
export const insert = (
  session: DatabaseSession,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
  ending = "",
): Promise<readonly Row[]> =>
  forRows(
    session,
    rows,
    (places) =>
      `INSERT INTO ${session.dialect.schema}${table} (${columns.join()}) VALUES ${places} ${ending}`,
  );

/** Of the same order in all groups: two that lock the same rows in another order would wait for each other. */
export const inOrder = <T>(rows: readonly T[], keyOf: (row: T) => string): T[] =>
  rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));

/** A statement or a part of one, and the values of its places. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Whether a column has one of these values. PostgreSQL accepts no empty list. */
export const isOneOf = (column: string, values: readonly Value[]): Sql =>
  values.length === 0
    ? { sql: "FALSE", values }
    : { sql: `${column} IN (${placeholdersOf(values)})`, values };

export const isNoneOf = (column: string, values: readonly Value[]): Sql =>
  values.length === 0
    ? { sql: "TRUE", values }
    : { sql: `${column} NOT IN (${placeholdersOf(values)})`, values };

/** Behind a text, it sorts after every text that begins with that text. */
export const LAST_CHARACTER = "\u{10ffff}";

/** Whether a column begins with a text, as its index finds it. */
export const beginsWith = (column: string, text: string): Sql => ({
  sql: `${column} >= ? AND ${column} < ?`,
  values: [text, `${text}${LAST_CHARACTER}`],
});

export const union = (statements: readonly Sql[]): Sql => ({
  sql: statements.map(({ sql }) => sql).join(" UNION "),
  values: statements.flatMap(({ values }) => values),
});

const placeholdersOf = (values: readonly Value[]): string => values.map(() => "?").join();
