/** Writes a group of events, forwards and rejections to PostgreSQL in one transaction. */
import type { StoreResult } from "../../receiver/events.ts";
import type { Connection, Connections } from "../postgres/server-connections.ts";
import { isAboutOneRow } from "../postgres/server-failures.ts";
import { insertClaims, insertForwards, lookUp } from "./postgres-forwards.ts";
import { insertEvents, insertRejections } from "./postgres-messages.ts";
import { insertQueued } from "./postgres-queue.ts";
import type { EventWrite, ForwardWrite, LookUp, RejectionWrite, Write, WriteResult } from "./writes.ts";

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

/** Never rejects: each write has its own result. */
export const createPostgresWriter = (connections: Connections) => {
  const writeGroup = async (writes: readonly Write[]): Promise<WriteResult[]> => {
    try {
      return await connections.use((connection) => commit(connection, writes), GROUP_TIMEOUT);
    } catch (reason) {
      if (writes.length <= 1 || !isAboutOneRow(reason))
        return writes.map(() => ({ status: "rejected", reason }));
      // One write that fails must not fail the others. Halving finds it in few commits.
      const half = writes.length >> 1;
      return [...(await writeGroup(writes.slice(0, half))), ...(await writeGroup(writes.slice(half)))];
    }
  };
  return writeGroup;
};

async function commit(connection: Connection, writes: readonly Write[]): Promise<WriteResult[]> {
  await connection.run(BEGIN);
  const firsts = await insertEvents(connection, writes.filter(isEvent));
  const firstOf = ({ id }: EventWrite): string => firsts.get(id) ?? id;
  await insertForwards(connection, writes.filter(isForward));
  await insertRejections(connection, writes.filter(isRejection));
  const questions = writes.flatMap((write): Omit<LookUp, "type">[] => {
    if (write.type === "look-up") return [write];
    if (write.type !== "event" || firstOf(write) === write.id) return [];
    return [{ first: firstOf(write), owner: write.owner, now: write.receivedAt }];
  });
  await insertQueued(connection, writes.filter(isEvent), firstOf);
  await insertClaims(connection, writes.filter(isEvent), firstOf);
  const states = await lookUp(connection, questions);
  await connection.run("COMMIT");
  return writes.map((write) => {
    if (write.type === "look-up") return fulfilled(states.get(write.first));
    return fulfilled(
      write.type === "event" && firstOf(write) !== write.id ? states.get(firstOf(write)) : undefined,
    );
  });
}

const fulfilled = (result: StoreResult | undefined): WriteResult => ({
  status: "fulfilled",
  value: result ?? null,
});

const isEvent = (write: Write): write is EventWrite => write.type === "event";
const isForward = (write: Write): write is ForwardWrite => write.type === "forward";
const isRejection = (write: Write): write is RejectionWrite => write.type === "rejection";
