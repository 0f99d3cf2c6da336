/**
 * The tables in PostgreSQL: created by the first program, updated while other receivers go on, and known again by the
 * identity of their store.
 */
import { hint, PaylinkError } from "../../domain/errors.ts";
import { POSTGRES, THIRD_INDEXES, type Row } from "../dialects.ts";
import { judgeAgain, migrations } from "../schema.ts";
import type { Connection, Connections } from "./connections.ts";

const MIGRATIONS = migrations(POSTGRES);
/** A number that other programs are unlikely to lock: "paylink" in ASCII. */
const MIGRATION_LOCK = "31632452968539755";
/** PostgreSQL 13, the oldest version that paylink supports. */
const OLDEST_SERVER = 130_000;
/** Milliseconds; no index of a large table is built in less. */
const MIGRATION_TIMEOUT = 12 * 3_600_000;
/** Milliseconds for a question, and for a page of events. */
const STEP_TIMEOUT = 60_000;

/** Checks the server, updates its tables to this version, and resolves with the identity of the store. */
export async function openTables(connections: Connections, name: string): Promise<string> {
  const version = await connections.use(async (connection) => {
    await checkServer(connection, name);
    return versionOf(connection, name);
  }, STEP_TIMEOUT);
  if (version < MIGRATIONS.length)
    await connections.use((own) => migrate(own, connections, name), MIGRATION_TIMEOUT);
  return connections.use(
    async (connection) => identityIn(await connection.run(IDENTITY), name),
    STEP_TIMEOUT,
  );
}

/** Finds the identity of the store, which is made together with the tables and is in every copy of them. */
export const IDENTITY = "SELECT store::text FROM paylink.schema_version";

/** Throws `database_unusable` if the rows of `IDENTITY` have none, or another one than `expected`. */
export function identityIn([row]: readonly Row[], name: string, expected?: string): string {
  const identity = row?.["store"];
  if (typeof identity === "string" && identity === (expected ?? identity)) return identity;
  throw new PaylinkError("database_unusable", `The event store ${name} is another store than before.`, {
    hints: [
      hint`Nothing is stored in it. Let the address lead to the former store, or start listen again to use this one.`,
    ],
  });
}

/** Several programs may do so at the same time: one of them does it. */
async function migrate(own: Connection, connections: Connections, name: string): Promise<void> {
  // A lock of the transaction: behind PgBouncer, a lock of the session would stay with a session that others use. A program
  // that waits for the lock in a transaction would be waited for while an index is built.
  const isLocked = async (): Promise<boolean> => {
    await own.run("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 0");
    const [row] = await own.all("SELECT pg_try_advisory_xact_lock(?) AS locked", [MIGRATION_LOCK]);
    return row?.["locked"] === true;
  };
  while (!(await isLocked())) await own.run("ROLLBACK; SELECT pg_sleep(0.1)");
  const from = await versionOf(own, name);
  if (from > 0 && from < 3) await prepareThird(connections, from);
  // Others that write wait behind a lock that waits: the next start tries again.
  await own.run("SET LOCAL lock_timeout = '2s'");
  if (from === 0) await createSchema(own);
  for (const sql of MIGRATIONS.slice(from)) await own.run(sql);
  await own.change("UPDATE paylink.schema_version SET version = ?", [MIGRATIONS.length]);
  await own.run("COMMIT");
}

async function createSchema(own: Connection): Promise<void> {
  const schemas = await own.all("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'paylink'");
  // IF NOT EXISTS would need the right to create schemas even if it exists.
  if (schemas.length === 0) await own.run("CREATE SCHEMA paylink");
  await own.run(
    "CREATE TABLE paylink.schema_version (version integer NOT NULL); INSERT INTO paylink.schema_version VALUES (0)",
  );
}

/** What takes long on large tables, in steps that each keep what they did. Receivers of the former version go on meanwhile. */
async function prepareThird(connections: Connections, from: number): Promise<void> {
  for (const [name, on] of Object.entries(THIRD_INDEXES))
    await connections.use(async ({ all, run }) => {
      const unfinished =
        "SELECT FROM pg_catalog.pg_index WHERE indexrelid = to_regclass(?) AND NOT indisvalid";
      // Left by a build that was cut off.
      if ((await all(unfinished, [`paylink.${name}`])).length > 0) await run(`DROP INDEX paylink.${name}`);
      await run(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON paylink.${on}`);
    }, MIGRATION_TIMEOUT);
  const statements = judgeAgain(POSTGRES, from);
  let step = statements.next();
  while (step.done !== true) {
    const [sql, values] = step.value;
    step = statements.next(await connections.use(({ all }) => all(sql, values), STEP_TIMEOUT));
  }
}

async function checkServer(connection: Connection, name: string): Promise<void> {
  const [server = {}] = await connection.all(
    `SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding`,
  );
  if (Number(server["number"]) < OLDEST_SERVER)
    throw new PaylinkError(
      "database_unusable",
      `The event store ${name} is PostgreSQL ${String(server["version"])}, and paylink needs 13 or later.`,
      { hints: [hint`Use a newer server, or a file: --db <file>`] },
    );
  if (server["encoding"] !== "UTF8")
    throw new PaylinkError(
      "database_unusable",
      `The database of the event store ${name} has the encoding ${String(server["encoding"])}, and paylink needs UTF8.`,
      {
        hints: [hint`Create another database for it: createdb --encoding UTF8 --template template0 paylink`],
      },
    );
}

/**
 * 0 if there are no tables yet. Reads the catalogue as a table: `to_regclass` may answer from a cache that is older than
 * the lock.
 */
async function versionOf(connection: Connection, name: string): Promise<number> {
  const tables = await connection.all(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'paylink' AND tablename = 'schema_version'",
  );
  if (tables.length === 0) return 0;
  const [row] = await connection.all("SELECT version FROM paylink.schema_version");
  const version = Number(row?.["version"]);
  if (version > MIGRATIONS.length)
    throw new PaylinkError(
      "database_unusable",
      `The event store ${name} was written by a newer paylink (schema ${version}).`,
      { hints: [hint`Update paylink, or name another database with --db.`] },
    );
  return version;
}
