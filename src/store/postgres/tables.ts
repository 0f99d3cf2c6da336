/** The tables in PostgreSQL: created by the first program, and known again by the identity of their store. */
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { type All, POSTGRES, type Row } from "../dialects.ts";
import { noStoreAt } from "../event-store.ts";
import { factOf } from "../facts.ts";
import { createTables, SCHEMA_VERSION } from "../schema.ts";
import { createSentRows } from "../sent-rows.ts";
import type { Connections } from "./connections.ts";

/** A number that other programs are unlikely to lock: "paylink" in ASCII. */
const CREATION_LOCK = "31632452968539755";
/** PostgreSQL 13, the oldest version that paylink supports. */
const OLDEST_SERVER = 130_000;

/** Checks the server, and resolves with the identity of the store in `timeout` milliseconds. With `create`, makes missing tables. */
export const openTables = (connections: Connections, create: boolean, timeout: number): Promise<string> =>
  connections.use(async (all) => {
    const { name } = connections;
    await checkServer(all, name);
    if ((await schemaVersion(all, name)) === undefined) {
      if (!create) throw noStoreAt(name, "database_unusable");
      await makeTables(all, name);
    }
    return identityIn(await all(IDENTITY), name);
  }, timeout);

/** Finds the identity of the store, which is made together with the tables and is in every copy of them. */
export const IDENTITY = "SELECT value AS store FROM paylink.facts WHERE name = 'store'";

/** Throws `database_unusable` if the rows of `IDENTITY` have none, or another one than `expected`. */
export function identityIn([row]: readonly Row[], name: string, expected?: string): string {
  const identity = row?.["store"];
  if (typeof identity === "string" && identity === (expected ?? identity)) return identity;
  throw new PaylinkError(
    "database_unusable",
    `The event store ${name} is not the store that was used before.`,
    {
      hints: [
        hint`Nothing is stored in it. Point the address at the previous store again, or restart listen to use this one.`,
      ],
    },
  );
}

/** Several programs may do so at the same time: one of them does it. */
async function makeTables(all: All, name: string): Promise<void> {
  // A lock of the transaction: behind PgBouncer, a lock of the session would stay with a session that others use.
  await all("BEGIN ISOLATION LEVEL READ COMMITTED");
  await all("SELECT pg_advisory_xact_lock(?)", [CREATION_LOCK]);
  if ((await schemaVersion(all, name)) === undefined) {
    const schemas = await all("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'paylink'");
    // IF NOT EXISTS would need the right to create schemas even if it exists.
    if (schemas.length === 0) await all("CREATE SCHEMA paylink");
    await all(createTables(POSTGRES));
    await all(createSentRows(POSTGRES));
    await all(`INSERT INTO paylink.facts VALUES ('schema', '${SCHEMA_VERSION}')`);
  }
  await all("COMMIT");
}

async function checkServer(all: All, name: string): Promise<void> {
  const [server = {}] = await all(
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
 * Undefined if there are no tables yet. Reads the catalogue as a table: `to_regclass` may answer from a cache that is older
 * than the lock.
 */
async function schemaVersion(all: All, name: string): Promise<number | undefined> {
  const tables = await all(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'paylink' AND tablename = 'facts'",
  );
  if (tables.length === 0) return undefined;
  const version = Number(await factOf({ all, dialect: POSTGRES }, "schema"));
  if (version > SCHEMA_VERSION)
    throw new PaylinkError(
      "database_unusable",
      `The event store ${name} was written by a newer paylink: it has schema ${version}, and this version knows ${SCHEMA_VERSION}.`,
      { hints: [hint`Update paylink, or name another database with --db.`] },
    );
  return version;
}
