/** The event store in PostgreSQL, which receivers on any number of machines can share. */
import { within } from "../values/time.ts";
import type { Environment } from "../values/typed-text.ts";
import { POSTGRES, type Transact } from "./dialects.ts";
import { createConnections } from "./postgres/connections.ts";
import { isAboutOneRow } from "./postgres/failures.ts";
import { IDENTITY, identityIn, openTables } from "./postgres/tables.ts";
import { type EventStore, type StoreParts, createEventStore } from "./event-store.ts";
import type { Mark } from "./mark.ts";
import { serverSteps } from "./schema.ts";
import { createMemory, LAST_SENT, type Memory } from "./sent-rows.ts";
import { type Row, raw, type Sql, sql } from "./sql.ts";
import { tryWrites } from "./trial.ts";
import { createGroupWriter } from "./write-group.ts";

/** Limits of time in milliseconds. */
export const TIME_LIMITS = {
  /** To connect. */
  connect: 4_000,
  /** For one step of the tables to a newer version. */
  upgrade: 600_000,
  /** For one reading: a page of events, or a count of all of them. The server ends it too. */
  read: 60_000,
  /** For a group, from its first statement to its commit. */
  group: 8_000,
  /** For a webhook, which may wait for other groups and for a new connection: the sandbox waits 10 s, and the service is assumed to. */
  append: 7_000,
};
/** Milliseconds for what the server and the network take beside the statement. */
const SPARE_TIME = 1_000;

/**
 * The answer 200 promises that the event survives a crash of the server, whatever the server's default is. A receiver
 * that stops in the middle of a group must not delay others that store the same event. After a failover, the address may
 * lead to another store: behind a pool of connections, also on the same connection. Each statement of a group is for few rows:
 * a planner that has no statistics yet, as in the first minutes of a store, would read the whole table for them.
 */
const BEGIN_READ_COMMITTED = sql`BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
  SET LOCAL statement_timeout = '6s';
  SET LOCAL idle_in_transaction_session_timeout = '10s';
  SET LOCAL enable_seqscan = off;
  SET LOCAL enable_hashjoin = off;
  SET LOCAL enable_mergejoin = off;
  SELECT ${POSTGRES.now} AS now, of_store.* FROM (${IDENTITY}) AS of_store`;

interface PostgresParts extends StoreParts {
  readonly env: Environment;
  readonly times?: Partial<typeof TIME_LIMITS>;
  readonly steps?: readonly string[];
}

/** A server whose tables are looked for, or made with `create`, before the first statement. */
function connect(
  url: string,
  { env, create, upgrade, steps = serverSteps(POSTGRES), ...parts }: Omit<PostgresParts, "user">,
) {
  const times = { ...TIME_LIMITS, ...parts.times };
  const connections = createConnections(url, env, times.connect);
  const { name } = connections;
  let opened: Promise<string> | undefined;
  /** Resolves with the identity of the store. Looks for its tables once: a failover may lead to an empty database. */
  const identity = (): Promise<string> =>
    (opened ??= openTables(connections, { create, upgrade, steps }, times).catch((error: unknown) => {
      opened = undefined;
      throw error;
    }));
  /** A client that gives up leaves its statement running on the server. */
  const read = async (statement: Sql): Promise<readonly Row[]> => {
    await identity();
    return connections.use(async (all) => {
      await all(raw(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${times.read}`));
      const rows = await all(statement);
      await all(sql`COMMIT`);
      return rows;
    }, times.read + SPARE_TIME);
  };
  const transact: Transact = async (work) => {
    const expected = await identity();
    return connections.use(async (all) => {
      const begun = await all(BEGIN_READ_COMMITTED);
      identityIn(begun, name, steps.length, expected);
      const result = await work({ dialect: POSTGRES, all, now: Number(begun[0]?.["now"]) });
      await all(sql`COMMIT`);
      return result;
    }, times.group);
  };
  return { connections, times, identity, read, transact };
}

interface PostgresMemory {
  readonly memory: Memory;
  readonly mark: () => Promise<Mark>;
}

/** The memory of `bulk` in the database of the event store, which colleagues and CI jobs share. Throws `usage`. */
export function openPostgresMemory(url: string, env: Environment): PostgresMemory {
  const { connections, identity, read, transact } = connect(url, { env, create: true, upgrade: true });
  const memory = createMemory(transact, {
    place: connections.name,
    isLocal: false,
    close: () => connections.close(),
  });
  const mark = async (): Promise<Mark> => {
    const [row] = await read(LAST_SENT(POSTGRES.schema));
    return { store: await identity(), last: Number(row?.["sent_at"] ?? 0) };
  };
  return { memory, mark };
}

/** Throws `usage`. */
export function openPostgresEventStore(url: string, { user, ...parts }: PostgresParts): EventStore {
  const { connections, times, read, transact } = connect(url, parts);
  const store = createEventStore(
    {
      dialect: POSTGRES,
      place: connections.name,
      all: read,
      write: createGroupWriter({ transact, isOfOne: isAboutOneRow }),
      ready: () => tryWrites(transact),
      hurry: connections.limit,
      close: connections.close,
    },
    user,
  );
  const late = (): never => {
    throw connections.late();
  };
  return {
    ...store,
    // An event that is stored after that is recognised when the service repeats it.
    append: (event, lease) => within(times.append, store.append(event, lease), late),
    again: (event) => within(times.append, store.again(event), late),
  };
}
