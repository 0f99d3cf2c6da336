/** The event store in PostgreSQL, which receivers on any number of machines can share. */
import type { EventStore } from "../../receiver/event-store.ts";
import { createGroupCommit } from "../group-commit.ts";
import { createConnections, type Connection } from "../postgres/server-connections.ts";
import { parseServerAddress } from "../postgres/server-address.ts";
import { areTablesMissing } from "../postgres/server-failures.ts";
import type { Environment } from "../../settings/resolved-settings.ts";
import { createEventLog } from "./event-log.ts";
import { createPostgresQueries } from "./postgres-queries.ts";
import { createPostgresQueue } from "./postgres-queue.ts";
import { migrate } from "./postgres-schema.ts";
import { createPostgresWriter } from "./postgres-writer.ts";
import type { Write, WriteResult } from "./writes.ts";

/** Milliseconds for one reading: a page of events, or a count of all of them. */
const READ_TIMEOUT = 60_000;
/** Milliseconds for one statement about the queue: less than the duration of a lease. */
const QUEUE_TIMEOUT = 8_000;

/** `owner` distinguishes the claims of this store from those of all others. Throws `usage`. */
export function openPostgresEventStore(
  url: string,
  { env, owner }: { readonly env: Environment; readonly owner: string },
): EventStore {
  const address = parseServerAddress(url, env);
  const connections = createConnections(address, env);
  let migrated: Promise<void> | undefined;
  /** Resolves once the tables exist. After a failure, the next use checks again. */
  const tables = (): Promise<void> =>
    (migrated ??= migrate(connections, address.name).catch((error: unknown) => {
      migrated = undefined;
      throw error;
    }));
  const forgetTables = (reason: unknown): void => {
    if (areTablesMissing(reason)) migrated = undefined;
  };
  const within =
    (timeout: number) =>
    async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
      await tables();
      return connections.use(work, timeout);
    };
  const use = within(READ_TIMEOUT);
  const writeGroup = createPostgresWriter(connections);
  const write = async (writes: readonly Write[]): Promise<WriteResult[]> => {
    await tables();
    const results = await writeGroup(writes);
    for (const result of results) if (result.status === "rejected") forgetTables(result.reason);
    return results;
  };
  // While one group waits for the disk, the next one is gathered and sent.
  const group = createGroupCommit(write, { atOnce: 2 });
  return {
    place: address.name,
    ...createEventLog(group, owner),
    ...createPostgresQueries(use, address.name),
    queue: createPostgresQueue(within(QUEUE_TIMEOUT), owner, address.name),
    // A write that changes nothing: it fails on a standby, and without the right to write.
    ready: () => use((connection) => connection.run("DELETE FROM paylink.rejections WHERE FALSE")),
    close: async () => {
      await group.settled();
      await connections.close();
    },
  };
}
