/** The tables in PostgreSQL: created by the first program, and known again by the identity of their store. */
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { type All, POSTGRES } from "../dialects.ts";
import { noStoreAt, olderStore } from "../event-store.ts";
import { factOf } from "../facts.ts";
import { raw, type Row, sql } from "../sql.ts";
import type { Connections } from "./connections.ts";

/** A number that other programs are unlikely to lock: "paylink" in ASCII. */
const CREATION_LOCK = "31632452968539755";
/** PostgreSQL 13, the oldest version that paylink supports. */
const OLDEST_SERVER = 130_000;

/** What a program does to the tables that it finds. */
export interface TableOptions {
  /** Makes missing ones. */
  readonly create: boolean;
  /** Takes older ones to today's version. */
  readonly upgrade: boolean;
  /** One step a version. */
  readonly steps: readonly string[];
}

/** Limits of time in milliseconds: to look for the tables, and for one step, which may read every row. */
interface TableTimes {
  readonly read: number;
  readonly upgrade: number;
}

/** Checks the server, and resolves with the identity of the store. Several programs may do so at the same time. */
export async function openTables(
  connections: Connections,
  { create, upgrade, steps }: TableOptions,
  times: TableTimes,
): Promise<string> {
  const { name } = connections;
  for (;;) {
    const opened = await connections.use(async (all) => {
      await checkServer(all, name);
      const version = await schemaVersion(all);
      if (version === undefined && !create) throw noStoreAt(name, "database_unusable");
      const present = version ?? 0;
      if (present > steps.length) throw newerTables(name, present, steps.length);
      if (present === steps.length) return { identity: identityIn(await all(IDENTITY), name, steps.length) };
      if (present > 0 && !upgrade) throw olderStore(name, "database_unusable", [present, steps.length]);
      return { present };
    }, times.read);
    if ("identity" in opened) return opened.identity;
    await connections.use((all) => takeStep(all, opened.present, steps), times.upgrade);
  }
}

/** One of the programs that want to do so does it: the tables have another version when the others come to it. */
async function takeStep(all: All, present: number, steps: readonly string[]): Promise<void> {
  // A lock of the transaction: behind PgBouncer, a lock of the session would stay with a session that others use.
  await all(sql`BEGIN ISOLATION LEVEL READ COMMITTED`);
  await all(sql`SELECT pg_advisory_xact_lock(${CREATION_LOCK})`);
  if (((await schemaVersion(all)) ?? 0) === present) {
    if (present === 0) await createSchema(all);
    // Every group of writes reads it first: those under way end before, and the next ones find the version.
    else await all(sql`LOCK TABLE paylink.facts IN ACCESS EXCLUSIVE MODE`);
    await all(raw(steps[present] ?? ""));
    await all(
      sql`INSERT INTO paylink.facts VALUES ('schema', ${String(present + 1)})
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
  }
  await all(sql`COMMIT`);
}

async function createSchema(all: All): Promise<void> {
  const schemas = await all(sql`SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'paylink'`);
  // IF NOT EXISTS would need the right to create schemas even if it exists.
  if (schemas.length === 0) await all(sql`CREATE SCHEMA paylink`);
}

/** Finds the identity of the store, which is made together with the tables and is in every copy of them, and their version. */
export const IDENTITY = sql`SELECT value AS store, (SELECT value FROM paylink.facts WHERE name = 'schema') AS schema
  FROM paylink.facts WHERE name = 'store'`;

/** Throws `database_unusable` if the rows of `IDENTITY` have none, another one than `expected`, or another version. */
export function identityIn([row]: readonly Row[], name: string, version: number, expected?: string): string {
  const identity = row?.["store"];
  if (typeof identity !== "string" || identity !== (expected ?? identity))
    throw new PaylinkError(
      "database_unusable",
      `The event store ${name} is not the store that was used before.`,
      {
        hints: [
          hint`Nothing is stored in it. Point the address at the previous store again, or restart listen to use this one.`,
        ],
      },
    );
  const present = Number(row?.["schema"]);
  if (present > version) throw newerTables(name, present, version);
  return identity;
}

async function checkServer(all: All, name: string): Promise<void> {
  const [server = {}] = await all(
    sql`SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS version,
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
async function schemaVersion(all: All): Promise<number | undefined> {
  const tables = await all(
    sql`SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'paylink' AND tablename = 'facts'`,
  );
  return tables.length === 0 ? undefined : Number(await factOf({ all, dialect: POSTGRES }, "schema"));
}

const newerTables = (name: string, found: number, known: number): PaylinkError =>
  new PaylinkError(
    "database_unusable",
    `The event store ${name} was written by a newer paylink: it has schema ${found}, and this version knows ${known}.`,
    { hints: [hint`Update paylink, or name another database with --db.`] },
  );
