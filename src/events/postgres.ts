/** The event store in PostgreSQL, which receivers on any number of machines can share. */
import { hint, PaylinkError } from "../domain/errors.ts";
import type { EventStore } from "../receiver/event-store.ts";
import type { Environment } from "../settings/resolved-settings.ts";
import { POSTGRES } from "./dialects.ts";
import { parseServerAddress } from "./postgres/address.ts";
import { createConnections, type Connection, type Connections } from "./postgres/connections.ts";
import { areTablesMissing, isAboutOneRow } from "./postgres/failures.ts";
import { judgeAgain, migrations } from "./schema.ts";
import { createEventStore } from "./store.ts";
import { createGroupWriter } from "./write-group.ts";

/** Milliseconds for one reading: a page of events, or a count of all of them. */
const READ_TIMEOUT = 60_000;
/** Milliseconds for a group, from its first statement to its commit: the service waits 10 s for an answer. */
const GROUP_TIMEOUT = 8_000;

/**
 * The answer 200 promises that the event survives a crash of the server, whatever the server's default is. A receiver
 * that stops in the middle of a group must not delay others that store the same event.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
  SET LOCAL statement_timeout = '6s';
  SET LOCAL idle_in_transaction_session_timeout = '10s'`;

interface PostgresParts {
  readonly env: Environment;
  /** Distinguishes the claims of this store from those of all others. */
  readonly owner: string;
  readonly now: () => Date;
}

/** Throws `usage`. */
export function openPostgresEventStore(url: string, { env, owner, now }: PostgresParts): EventStore {
  const address = parseServerAddress(url, env);
  const { name } = address;
  const connections = createConnections(address, env);
  let migrated: Promise<void> | undefined;
  /** Resolves once the tables exist. After a failure, the next use checks again. */
  const tables = (): Promise<void> =>
    (migrated ??= migrate(connections, name).catch((error: unknown) => {
      migrated = undefined;
      throw error;
    }));
  const use = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    await tables();
    return connections.use(work, READ_TIMEOUT);
  };
  const writeGroup = createGroupWriter({
    dialect: POSTGRES,
    transaction: (work) =>
      connections.use(async (connection) => {
        await connection.run(BEGIN);
        const result = await work(connection);
        await connection.run("COMMIT");
        return result;
      }, GROUP_TIMEOUT),
    isOfOne: isAboutOneRow,
  });
  return createEventStore(
    {
      dialect: POSTGRES,
      place: name,
      open: () => ({
        all: (sql, values) => use((connection) => connection.all(sql, values)),
        close: () => undefined,
      }),
      write: async (writes) => {
        await tables();
        const results = await writeGroup(writes);
        for (const result of results)
          if (result.status === "rejected" && areTablesMissing(result.reason)) migrated = undefined;
        return results;
      },
      // A write that changes nothing: it fails on a standby, and without the right to write.
      ready: () => use((connection) => connection.run("DELETE FROM paylink.rejections WHERE FALSE")),
      close: () => connections.close(),
      damaged: (reason) =>
        new PaylinkError(
          "file_unreadable",
          `The event store ${name} has a row that paylink did not write: ${reason}.`,
          { hints: [hint`Restore the database from a backup, or name another one with --db.`] },
        ),
    },
    { owner, now },
  );
}

const MIGRATIONS = migrations(POSTGRES);
/** A number that other programs are unlikely to lock: "paylink" in ASCII. */
const MIGRATION_LOCK = "31632452968539755";
/** PostgreSQL 13, the oldest version that paylink supports. */
const OLDEST_SERVER = 130_000;
/** Milliseconds; an index of 10 million rows is built anew in less. */
const MIGRATION_TIMEOUT = 300_000;

/** Checks the server, and updates its tables to this version. Several programs may do so at the same time. */
async function migrate(connections: Connections, name: string): Promise<void> {
  await connections.use(async (connection) => {
    await checkServer(connection, name);
    if ((await versionOf(connection, name)) === MIGRATIONS.length) return;
    await connection.run("BEGIN ISOLATION LEVEL READ COMMITTED");
    // A lock of the transaction: behind PgBouncer, a lock of the session would stay with a session that others use.
    await connection.all("SELECT pg_advisory_xact_lock(?)", [MIGRATION_LOCK]);
    const from = await versionOf(connection, name);
    const schemas = await connection.all("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'paylink'");
    // IF NOT EXISTS would need the right to create schemas even if it exists.
    if (schemas.length === 0) await connection.run("CREATE SCHEMA paylink");
    if (from === 0)
      await connection.run(
        "CREATE TABLE paylink.schema_version (version integer NOT NULL); INSERT INTO paylink.schema_version VALUES (0)",
      );
    for (const sql of MIGRATIONS.slice(from)) await connection.run(sql);
    const statements = judgeAgain(POSTGRES, from);
    let step = statements.next();
    while (step.done !== true) step = statements.next(await connection.all(...step.value));
    await connection.change("UPDATE paylink.schema_version SET version = ?", [MIGRATIONS.length]);
    await connection.run("COMMIT");
  }, MIGRATION_TIMEOUT);
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
