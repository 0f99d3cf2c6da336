/** Connections to PostgreSQL: opened when needed, kept for the next use, and dropped when they fail or hang. */
import pg from "pg";
import { hint, PaylinkError } from "../../domain/errors.ts";
import { codeOf } from "../../domain/system-reason.ts";
import type { Environment } from "../../settings/resolved-settings.ts";
import type { Row } from "../dialects.ts";
import type { ServerAddress } from "./address.ts";
import { explained } from "./failures.ts";
import { attemptsFor, type Attempt } from "./tls.ts";

interface Answer {
  readonly rows: readonly Row[];
  /** The number of rows that the statement changed. */
  readonly changes: number;
}

/** One connection. Statements are not named: behind PgBouncer, the next one may reach another session. */
export interface Connection {
  query(sql: string, values?: readonly unknown[]): Promise<Answer>;
  /** Runs several statements without values in one round trip. */
  run(sql: string): Promise<void>;
}

export interface Connections {
  /** Throws `database_unreachable` or `database_unusable`. Destroys a connection on which the work failed. */
  use<T>(work: (connection: Connection) => Promise<T>, timeout: number): Promise<T>;
  /** Resolves when the connections that are not in use are closed. */
  close(): Promise<void>;
}

/** Milliseconds to connect; the service waits 10 s for the answer to a webhook. */
const CONNECT_TIMEOUT = 4_000;
const CLOSE_TIMEOUT = 1_000;

/** Times in milliseconds, counts and sequence numbers are `bigint` in the database, and all below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format),
};

export function createConnections(address: ServerAddress, env: Environment): Connections {
  const idle: pg.Client[] = [];
  const forget = (client: pg.Client): void => {
    const at = idle.indexOf(client);
    if (at !== -1) idle.splice(at, 1);
  };
  const open = async (): Promise<pg.Client> => {
    const client = await connect(address, attemptsFor(address, env));
    // Without a listener, an error of an idle connection would end the process.
    client.on("error", () => forget(client)).on("end", () => forget(client));
    return client;
  };
  return {
    use: async (work, timeout) => {
      let client: pg.Client | undefined;
      try {
        const used = (client = idle.pop() ?? (await open()));
        const timer = setTimeout(() => used.connection.stream.destroy(timedOut()), timeout);
        const connection: Connection = {
          query: async (sql, values = []) => {
            const { rows, rowCount } = await used.query<Row>(sql, [...values]);
            return { rows, changes: rowCount ?? 0 };
          },
          run: async (sql) => void (await used.query(sql)),
        };
        const result = await work(connection).finally(() => clearTimeout(timer));
        idle.push(used);
        return result;
      } catch (error) {
        client?.connection.stream.destroy();
        throw explained(error, address);
      }
    },
    close: async () => {
      await Promise.all(idle.splice(0).map(end));
    },
  };
}

const timedOut = (): Error => new Error("timed out");

async function connect(address: ServerAddress, attempts: readonly Attempt[]): Promise<pg.Client> {
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
      connectionTimeoutMillis: CONNECT_TIMEOUT,
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
