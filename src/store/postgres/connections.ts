/** Connections to PostgreSQL: the driver's own pool, with a limit of time for each use. */
import pg from "pg";
import { parse, toClientConfig } from "pg-connection-string";
import pgpass from "pgpass";
import { PaylinkError } from "../../domain/errors.ts";
import { messageOf } from "../../domain/system-reason.ts";
import type { Environment } from "../../settings/resolved-settings.ts";
import type { Value } from "../database.ts";
import type { All, Row } from "../dialects.ts";
import { explained, type Server } from "./failures.ts";

export type Connections = ReturnType<typeof createConnections>;

const CLOSE_TIMEOUT = 1_000;

/** Times in milliseconds, counts and sequence numbers are `bigint` in the database, and all below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format),
};

/**
 * `url` with libpq's parameters. What it leaves open, the driver takes from libpq's variables and `.pgpass`. Each
 * connection is made in `connectTimeout` milliseconds at most. Throws `usage`.
 */
export function createConnections(url: string, env: Environment, connectTimeout: number) {
  const config = configFrom(url, env);
  const server = serverOf(new pg.Client(config));
  const pool = new pg.Pool({
    application_name: "paylink",
    ...config,
    password: config.password || env["PGPASSWORD"] || (() => passwordFromFile(server)),
    types,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
  });
  const open = new Set<pg.PoolClient>();
  const inUse = new Set<pg.PoolClient>();
  // Without a listener, an error of a connection would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => {
    open.add(client);
    client.on("error", () => undefined).on("end", () => open.delete(client));
  });
  return {
    server,
    /**
     * Gives the statements of one connection. Throws `database_unreachable` or `database_unusable`. Destroys a connection on which
     * the work failed.
     */
    use: async <T>(work: (all: All) => Promise<T>, timeout: number): Promise<T> => {
      try {
        const client = await pool.connect();
        inUse.add(client);
        const timer = setTimeout(() => cutOff(client), timeout);
        const finish = (error?: unknown): void => {
          clearTimeout(timer);
          inUse.delete(client);
          client.release(error !== undefined);
        };
        return await work(statementsOf(client)).then(
          (result) => (finish(), result),
          (error: unknown) => {
            cutOff(client);
            finish(error);
            throw error;
          },
        );
      } catch (error) {
        throw explained(error, server);
      }
    },
    /** Resolves when all connections are closed. Cuts off what is still being read. */
    close: async (): Promise<void> => {
      for (const client of inUse) cutOff(client);
      // A server that hangs would keep the connections open.
      const timer = setTimeout(() => open.forEach(cutOff), CLOSE_TIMEOUT);
      await pool.end();
      clearTimeout(timer);
    },
  };
}

export const timedOut = (): Error => new Error("timed out");

/** Whatever waits for an answer on this connection fails now. */
const cutOff = (client: pg.PoolClient): void => void client.connection.stream.destroy(timedOut());

/**
 * Several statements without values take one round trip, and give the rows of the last one. None is named: behind PgBouncer, the
 * next one may reach another session.
 */
const statementsOf =
  (client: pg.PoolClient): All =>
  async (sql, values = []) => {
    let number = 0;
    const numbered = sql.replace(/\?/g, () => `$${++number}`);
    const results: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await client.query<Row>(
      numbered,
      values.map(asParameter),
    );
    return [results].flat().at(-1)?.rows ?? [];
  };

/** The driver sends a `Buffer` as bytes. */
const asParameter = (value: Value): Value =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;

/** The driver reads the file itself, but prints a deprecation warning when it does. An empty one is refused by name. */
const passwordFromFile = (server: Server): Promise<string> =>
  new Promise((resolve) => pgpass(server, (password = "") => resolve(password)));

/** libpq's variables for TLS, of which the driver knows one, with another meaning. */
const TLS = {
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
} as const;

function configFrom(text: string, env: Environment): pg.ClientConfig {
  const url = new URL(text);
  for (const [parameter, variable] of Object.entries(TLS))
    if (!url.searchParams.has(parameter) && env[variable]) url.searchParams.set(parameter, env[variable]);
  try {
    return toClientConfig(parse(url.href, { useLibpqCompat: true }));
  } catch (error) {
    // Such as a certificate that cannot be read.
    throw new PaylinkError("usage", `The URL of the event store cannot be used: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

/** What the driver made of the URL and the environment. */
function serverOf({ host, port, user = "", database = user }: pg.Client): Server {
  const place = host.startsWith("/") ? encodeURIComponent(host) : host;
  return { host, port, user, database, name: `postgres://${user}@${place}:${port}/${database}` };
}
