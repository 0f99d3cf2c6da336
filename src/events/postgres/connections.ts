/** Connections to PostgreSQL: opened when needed, kept for the next use, and dropped when they fail or hang. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import pg from "pg";
import { hint, PaylinkError } from "../../domain/errors.ts";
import { codeOf, systemReason } from "../../domain/system-reason.ts";
import type { Environment } from "../../settings/resolved-settings.ts";
import type { Row, Statements, Value } from "../dialects.ts";
import type { ServerAddress } from "./address.ts";
import { explained } from "./failures.ts";

/** One connection. Statements are not named: behind PgBouncer, the next one may reach another session. */
export interface Connection extends Statements {
  /** Runs several statements without values in one round trip. Resolves with the rows of the last one. */
  readonly run: (sql: string) => Promise<readonly Row[]>;
}

export interface Connections {
  /** Throws `database_unreachable` or `database_unusable`. Destroys a connection on which the work failed. */
  use<T>(work: (connection: Connection) => Promise<T>, timeout: number): Promise<T>;
  /** Resolves when all connections are closed. Cuts off what is still being read. */
  close(): Promise<void>;
}

const CLOSE_TIMEOUT = 1_000;

/** Times in milliseconds, counts and sequence numbers are `bigint` in the database, and all below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format),
};

/** Makes each connection in `connectTimeout` milliseconds at most. */
export function createConnections(
  address: ServerAddress,
  env: Environment,
  connectTimeout: number,
): Connections {
  const idle: pg.Client[] = [];
  const inUse = new Set<pg.Client>();
  const forget = (client: pg.Client): void => {
    const at = idle.indexOf(client);
    if (at !== -1) idle.splice(at, 1);
  };
  const open = async (): Promise<pg.Client> => {
    const client = await connect(address, attemptsFor(address, env), connectTimeout);
    // Without a listener, an error of an idle connection would end the process.
    client.on("error", () => forget(client)).on("end", () => forget(client));
    return client;
  };
  return {
    use: async (work, timeout) => {
      let client: pg.Client | undefined;
      try {
        const used = (client = idle.pop() ?? (await open()));
        inUse.add(used);
        const timer = setTimeout(() => {
          // The others lead to the same server: each would make another webhook wait for as long.
          for (const one of [used, ...idle.splice(0)]) one.connection.stream.destroy(timedOut());
        }, timeout);
        const result = await work(connectionOf(used)).finally(() => clearTimeout(timer));
        idle.push(used);
        return result;
      } catch (error) {
        client?.connection.stream.destroy();
        throw explained(error, address);
      } finally {
        if (client !== undefined) inUse.delete(client);
      }
    },
    close: async () => {
      for (const client of inUse) client.connection.stream.destroy(timedOut());
      await Promise.all(idle.splice(0).map(end));
    },
  };
}

function connectionOf(client: pg.Client): Connection {
  const query = (sql: string, values: readonly Value[] = []) => {
    let number = 0;
    return client.query<Row>(
      sql.replace(/\?/g, () => `$${++number}`),
      values.map(asParameter),
    );
  };
  return {
    all: async (sql, values) => (await query(sql, values)).rows,
    change: async (sql, values) => (await query(sql, values)).rowCount ?? 0,
    run: async (sql) => {
      const results: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await client.query<Row>(sql);
      return [results].flat().at(-1)?.rows ?? [];
    },
  };
}

/** The driver sends a `Buffer` as bytes. */
const asParameter = (value: Value): Value =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;

export const timedOut = (): Error => new Error("timed out");

async function connect(
  address: ServerAddress,
  attempts: readonly Attempt[],
  timeout: number,
): Promise<pg.Client> {
  const { host, port, user, database, applicationName } = address;
  const password = (await address.password()) ?? (() => Promise.reject(noPassword(address)));
  for (const [index, ssl] of attempts.entries()) {
    const client = new pg.Client({
      host,
      port,
      user,
      database,
      password,
      ssl,
      types,
      application_name: applicationName,
      connectionTimeoutMillis: timeout,
      keepAlive: true,
    });
    try {
      await client.connect();
      return client;
    } catch (error) {
      client.connection.stream.destroy();
      if (index === attempts.length - 1 || !refusesKind(error)) throw error;
    }
  }
  throw new Error("there is no way to connect");
}

/** Thrown only if the server asks for a password: most do not on a Unix socket. */
const noPassword = ({ name }: ServerAddress): PaylinkError =>
  new PaylinkError(
    "database_unusable",
    `The event store ${name} asks for a password, and none is configured.`,
    {
      hints: [hint`Set it in PAYLINK_DB, PGPASSWORD or .pgpass.`],
    },
  );

/** Whether the server refuses this kind of connection, with TLS or without (28000: no entry in pg_hba.conf). */
const refusesKind = (error: unknown): boolean =>
  codeOf(error) === "28000" || (error instanceof Error && error.message.includes("does not support SSL"));

/** With a time limit: a server that hangs would keep the connection open. */
async function end(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), CLOSE_TIMEOUT);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}

/** How to connect: without TLS, or with it. */
type Attempt = false | ConnectionOptions;

/**
 * The ways to connect, in order: the next one is tried if the server refuses the previous one. By libpq's `sslmode`, whose
 * names have other meanings in the driver.
 */
export function attemptsFor(address: ServerAddress, env: Environment): readonly Attempt[] {
  const { host, sslMode, sslCert, sslKey } = address;
  // libpq uses no TLS on a Unix socket.
  if (host.startsWith("/") || sslMode === "disable") return [false];
  const own: ConnectionOptions = {
    ...(sslCert === undefined ? {} : { cert: readCertificate("sslcert", sslCert) }),
    ...(sslKey === undefined ? {} : { key: readCertificate("sslkey", sslKey) }),
  };
  const unverified: Attempt = { ...own, rejectUnauthorized: false };
  if (sslMode === "allow") return [false, unverified];
  if (sslMode === "prefer") return [unverified, false];
  const roots = rootCertificates(address, env);
  if (sslMode === "require" && roots === undefined) return [unverified];
  if (sslMode === "verify-full") return [{ ...own, ...requireRoots(roots, sslMode) }];
  return [{ ...own, ...requireRoots(roots, sslMode), checkServerIdentity: () => undefined }];
}

/** An empty object stands for the certificates that Node trusts. */
type Roots = Pick<ConnectionOptions, "ca">;

function rootCertificates({ sslRootCert }: ServerAddress, env: Environment): Roots | undefined {
  if (sslRootCert === "system") return {};
  if (sslRootCert !== undefined) return { ca: readCertificate("sslrootcert", sslRootCert) };
  try {
    return { ca: readFileSync(join(env["HOME"] ?? "", ".postgresql", "root.crt")) };
  } catch {
    return undefined;
  }
}

function requireRoots(roots: Roots | undefined, sslMode: string): Roots {
  if (roots !== undefined) return roots;
  throw new PaylinkError(
    "usage",
    `sslmode=${sslMode} needs the certificate of the authority that signed the server's.`,
    {
      hints: [
        hint`Add sslrootcert=<file> to the URL of the event store, or sslrootcert=system for a public authority.`,
      ],
    },
  );
}

function readCertificate(parameter: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new PaylinkError("file_unreadable", `${parameter} ${path}: ${systemReason(error)}.`, {
      cause: error,
    });
  }
}
