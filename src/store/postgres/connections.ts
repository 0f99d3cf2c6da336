/** Connections to PostgreSQL: the driver's own pool for each way to the database, with a limit of time for each use. */
import pg from "pg";
import pgpass from "pgpass";
import type { Environment } from "../../values/typed-text.ts";
import type { All } from "../dialects.ts";
import type { Row, Value } from "../sql.ts";
import { type Failed, type Server, explained, failureToConnect, isNetworkFailure } from "./failures.ts";
import { requireChannelBinding } from "./channel-binding.ts";
import { type Destination, type Way, destinationOf } from "./destination.ts";

export interface Connections {
  /** What messages call the database. */
  readonly name: string;
  /** What an operation that took too long fails with. */
  readonly late: () => unknown;
  /**
   * Gives the statements of one connection. Throws `database_unreachable` or `database_unusable`. Destroys a connection on which
   * the work failed.
   */
  readonly use: <T>(work: (all: All) => Promise<T>, timeout: number) => Promise<T>;
  /** From now on, nothing waits for a server longer than this many milliseconds, what is under way included. */
  readonly limit: (milliseconds: number) => void;
  /** Resolves when all connections are closed. Cuts off what is still being read. */
  readonly close: () => Promise<void>;
}

/** Milliseconds for a server to end its connections by itself. */
const CLOSE_TIMEOUT = 200;

/** Times in milliseconds, counts and sequence numbers are `bigint` in the database, and all below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format),
};

/**
 * `url` as libpq reads it. What it leaves open comes from libpq's variables and `.pgpass`. Each connection is made in
 * `connectTimeout` milliseconds at most. Throws `usage`.
 */
export function createConnections(url: string, env: Environment, connectTimeout: number): Connections {
  const destination = destinationOf(url, env);
  const open = new Set<pg.Client>();
  const busy = new Set<pg.Client>();
  let longest = Infinity;
  /** One that is being made counts as busy, until its pool has it. */
  class TrackedClient extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      open.add(this);
      busy.add(this);
      // Without a listener, an error of a connection would end the process.
      this.on("error", () => undefined).on("end", () => {
        open.delete(this);
        busy.delete(this);
      });
      if (destination.requiresChannelBinding) requireChannelBinding(this);
      if (longest < Infinity) setTimeout(() => cutOff(this), longest).unref();
    }
  }
  const ways = destination.ways.map((way) => {
    const config = configOf(way, destination, connectTimeout);
    const server = serverOf(new pg.Client(config));
    const password = config.password ?? env["PGPASSWORD"] ?? "";
    const pool = new pg.Pool({
      ...config,
      password: password === "" ? () => passwordFromFile(server) : password,
      Client: TrackedClient,
      verify: (client, report) => void checkConnected(client, destination).then(() => report(), report),
    });
    pool.on("error", () => undefined);
    return { way, server, pool };
  });
  const name = serverName(ways.map(({ server }) => server));
  let first = 0;
  /** The way that was last used comes first, and the others follow in their order. */
  const connect = async (): Promise<{ client: pg.PoolClient; server: Server }> => {
    const failures: Failed[] = [];
    for (const { way, server, pool } of [...ways.slice(first), ...ways.slice(0, first)]) {
      // Another kind of encryption, or of session, does not bring back a server that is away.
      if (failures.some((failed) => failed.server.place === server.place && isNetworkFailure(failed.error)))
        continue;
      try {
        const client = await pool.connect();
        first = ways.findIndex((one) => one.way === way);
        return { client, server };
      } catch (error) {
        failures.push({ error, server });
      }
    }
    throw failureToConnect(failures, name);
  };
  return {
    name,
    late: () =>
      failureToConnect(
        ways.slice(first, first + 1).map(({ server }) => ({ server, error: timedOut() })),
        name,
      ),
    use: async (work, timeout) => {
      const { client, server } = await connect();
      busy.add(client);
      const timer = setTimeout(() => cutOff(client), Math.min(timeout, longest));
      const finish = (error?: unknown): void => {
        clearTimeout(timer);
        busy.delete(client);
        client.release(error !== undefined);
      };
      try {
        const result = await work(serverStatements(client));
        finish();
        return result;
      } catch (error) {
        cutOff(client);
        finish(error);
        throw explained(error, server, name);
      }
    },
    limit: (milliseconds) => {
      longest = milliseconds;
      const present = [...open];
      setTimeout(() => present.forEach(cutOff), milliseconds).unref();
    },
    close: async () => {
      busy.forEach(cutOff);
      // A server that hangs would keep the connections open.
      const timer = setTimeout(() => open.forEach(cutOff), CLOSE_TIMEOUT);
      await Promise.all(ways.map(({ pool }) => pool.end()));
      clearTimeout(timer);
    },
  };
}

/** The server's messages of a login arrive together: a connection that was ended at one of them may have received all. */
async function checkConnected(client: pg.PoolClient, { mustWrite }: Destination): Promise<void> {
  const { errored } = client.connection.stream;
  if (errored !== null) throw errored;
  if (mustWrite === undefined) return;
  const { rows } = await client.query<{ readonly transaction_read_only: string }>(
    "SHOW transaction_read_only",
  );
  // A failover may change that, so waiting helps, as for SQLSTATE 25006.
  if (rows[0]?.transaction_read_only !== "off")
    throw Object.assign(new Error(`it is read-only, and ${mustWrite}`), { code: "25006" });
}

const timedOut = (): Error => new Error("timed out");

/** Whatever waits for an answer on this connection fails now. */
const cutOff = (client: pg.Client): void => void client.connection.stream.destroy(timedOut());

/**
 * Several statements without values take one round trip, and give the rows of the last one. None is named: behind PgBouncer, the
 * next one may reach another session.
 */
const serverStatements =
  (client: pg.PoolClient): All =>
  async ({ text, values }) => {
    let number = 0;
    const numbered = text.replace(/\?/g, () => `$${++number}`);
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

const configOf = (
  { host, port, ssl }: Way,
  { login, connectTimeout = Infinity }: Destination,
  longest: number,
): pg.ClientConfig => ({
  application_name: "paylink",
  ...defined({ ...login, host, port }),
  ssl,
  types,
  connectionTimeoutMillis: Math.min(connectTimeout, longest),
  keepAlive: true,
});

/** The driver takes an `undefined` for a value. */
const defined = <T extends object>(members: T): Partial<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;

/** What the driver made of the URL and the environment. */
function serverOf({ host, port, user = "", database = user }: pg.Client): Server {
  const shown = host.includes(":") ? `[${host}]` : host.startsWith("/") ? encodeURIComponent(host) : host;
  return { host, port, user, database, place: `${shown}:${port}` };
}

/** The URL without the password. */
function serverName(servers: readonly Server[]): string {
  const [{ user, database } = { user: "", database: "" }] = servers;
  return `postgres://${user}@${[...new Set(servers.map(({ place }) => place))].join()}/${database}`;
}
