/** The tables of stored events in PostgreSQL. Never change a published migration: add the next one below it. */
import { PaylinkError } from "../../domain/errors.ts";
import type { Connection, Connections } from "../postgres/server-connections.ts";

const MESSAGE = (presence: string): string =>
  ["method", "scheme", "authority", "target", "headers", "trailers"]
    .map((column) => `${column} text ${presence},`)
    .join("\n     ");

/**
 * Names begin with the schema: a search path would not reach every session behind PgBouncer. Columns that are searched
 * by prefix are compared byte by byte (COLLATE "C"). Times are milliseconds since 1970.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE paylink.events (
     seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text COLLATE "C" NOT NULL UNIQUE,
     uti text COLLATE "C" NOT NULL,
     digest bytea NOT NULL,
     received_at bigint NOT NULL,
     outcome text NOT NULL,
     reference text NOT NULL,
     code text NOT NULL,
     warnings text NOT NULL,
     details text NOT NULL,
     ${MESSAGE("NOT NULL")}
     body bytea NOT NULL,
     UNIQUE (uti, digest)
   );
   CREATE INDEX events_arrival ON paylink.events (received_at, seq) INCLUDE (outcome, reference);

   CREATE TABLE paylink.arrivals (
     seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     event text NOT NULL,
     id text NOT NULL,
     received_at bigint NOT NULL
   );
   CREATE INDEX arrivals_event ON paylink.arrivals (event);

   CREATE TABLE paylink.forwards (
     seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     event text NOT NULL,
     at bigint NOT NULL,
     target text NOT NULL,
     status integer NOT NULL,
     ms bigint NOT NULL,
     detail text NOT NULL
   );
   CREATE INDEX forwards_event ON paylink.forwards (event, status);

   CREATE TABLE paylink.rejections (
     seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text COLLATE "C" NOT NULL,
     received_at bigint NOT NULL,
     code text NOT NULL,
     status integer NOT NULL,
     detail text NOT NULL,
     checks text NOT NULL,
     ${MESSAGE("")}
     body bytea
   );

   CREATE TABLE paylink.claims (
     event text PRIMARY KEY,
     owner text NOT NULL,
     until bigint NOT NULL
   );

   CREATE TABLE paylink.listeners (
     address text PRIMARY KEY,
     bound text NOT NULL
   );`,
  `CREATE TABLE paylink.queue (
     seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     event text NOT NULL UNIQUE,
     received_at bigint NOT NULL,
     state text NOT NULL DEFAULT 'first',
     attempts integer NOT NULL DEFAULT 0,
     due bigint NOT NULL DEFAULT 0
   );
   CREATE INDEX queue_order ON paylink.queue (state, due, seq);

   CREATE TABLE paylink.forwarder (
     owner text NOT NULL,
     epoch bigint NOT NULL,
     expires bigint NOT NULL
   );
   INSERT INTO paylink.forwarder VALUES ('', 0, 0);`,
];

/** A number that other programs are unlikely to lock: "paylink" in ASCII. */
const MIGRATION_LOCK = "31632452968539755";
/** PostgreSQL 13, the oldest version that paylink supports. */
const OLDEST_SERVER = 130_000;
const TIMEOUT = 30_000;

/** Checks the server, and updates its tables to this version. Several programs may do so at the same time. */
export async function migrate(connections: Connections, name: string): Promise<void> {
  await connections.use(async (connection) => {
    await checkServer(connection, name);
    if ((await versionOf(connection, name)) === MIGRATIONS.length) return;
    await connection.run("BEGIN ISOLATION LEVEL READ COMMITTED");
    // A lock of the transaction: behind PgBouncer, a lock of the session would stay with a session that others use.
    await connection.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const from = await versionOf(connection, name);
    const schemas = await connection.query("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'paylink'");
    // IF NOT EXISTS would need the right to create schemas even if it exists.
    if (schemas.length === 0) await connection.run("CREATE SCHEMA paylink");
    if (from === 0)
      await connection.run(
        "CREATE TABLE paylink.schema_version (version integer NOT NULL); INSERT INTO paylink.schema_version VALUES (0)",
      );
    for (const sql of MIGRATIONS.slice(from)) await connection.run(sql);
    await connection.query("UPDATE paylink.schema_version SET version = $1", [MIGRATIONS.length]);
    await connection.run("COMMIT");
  }, TIMEOUT);
}

async function checkServer(connection: Connection, name: string): Promise<void> {
  const [server = {}] = await connection.query(
    `SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding`,
  );
  if (Number(server["number"]) < OLDEST_SERVER)
    throw new PaylinkError(
      "database_unusable",
      `The event store ${name} is PostgreSQL ${String(server["version"])}, and paylink needs 13 or later.`,
      { hint: "Use a newer server, or a file: --db <file>" },
    );
  if (server["encoding"] !== "UTF8")
    throw new PaylinkError(
      "database_unusable",
      `The database of the event store ${name} has the encoding ${String(server["encoding"])}, and paylink needs UTF8.`,
      { hint: "Create another database for it: createdb --encoding UTF8 --template template0 paylink" },
    );
}

/**
 * 0 if there are no tables yet. Reads the catalogue as a table: `to_regclass` may answer from a cache that is older than
 * the lock.
 */
async function versionOf(connection: Connection, name: string): Promise<number> {
  const tables = await connection.query(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'paylink' AND tablename = 'schema_version'",
  );
  if (tables.length === 0) return 0;
  const [row] = await connection.query("SELECT version FROM paylink.schema_version");
  const version = Number(row?.["version"]);
  if (version > MIGRATIONS.length)
    throw new PaylinkError(
      "database_unusable",
      `The event store ${name} was written by a newer paylink (schema ${version}).`,
      { hint: "Update paylink, or name another database with --db." },
    );
  return version;
}
