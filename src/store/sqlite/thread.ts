/** The program of the thread that writes events to SQLite. */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../values/system-reason.ts";
import { raw } from "../sql.ts";
import { tryWrites } from "../trial.ts";
import type { ThreadAnswer, Write } from "../writes.ts";
import { closeWithLog } from "./connection.ts";
import { createSqliteWriter, openEventDatabase, transactionsOf } from "./event-file.ts";

const databasePath = String(workerData);
const database = openEventDatabase(databasePath);
const transact = transactionsOf(database);
const writeGroup = createSqliteWriter(database, transact);
/** SQLite says of a read-only file or a full disk only when something is committed. */
const proveWritable = (): Promise<void> =>
  tryWrites(transact, raw(`PRAGMA user_version=${database.version}`));

/** Each message is a group of writes. An empty group checks whether writes succeed; null ends the thread. */
async function receive(writes: readonly Write[] | null): Promise<void> {
  if (writes === null) {
    closeWithLog(database);
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(await answerTo(writes));
}

/** Checks the files before and after, because SQLite writes to removed files and reports success. */
async function answerTo(writes: readonly Write[]): Promise<ThreadAnswer> {
  try {
    requireInPlace();
    if (writes.length === 0) await proveWritable();
    const results = await writeGroup(writes);
    requireInPlace();
    return { results };
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

function requireInPlace(): void {
  if (!database.isInPlace())
    throw new Error(
      `the event store ${databasePath} was removed, renamed, replaced or emptied: restart listen`,
    );
}

// Where it cannot be written, the thread ends with the reason.
let received = proveWritable();
parentPort?.on("message", (writes: readonly Write[] | null) => {
  received = received.then(() => receive(writes));
});
