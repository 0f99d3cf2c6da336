/** The program of the thread that writes events to SQLite. */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../domain/system-reason.ts";
import { closeWithLog, inTransaction } from "./database.ts";
import { SQLITE } from "./dialects.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { createSqliteWriter, openEventDatabase } from "./sqlite-database.ts";
import type { ThreadAnswer, Write } from "./writes.ts";

const databasePath = String(workerData);
const database = openEventDatabase(databasePath);
/** Fails at once if the file is read-only, which SQLite would not report before the first event. */
const proveWritable = (): void =>
  inTransaction(database, () => database.exec(`PRAGMA user_version=${SCHEMA_VERSION}`));
proveWritable();
const writeGroup = createSqliteWriter(database, SQLITE);

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
    if (writes.length === 0) proveWritable();
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

let received = Promise.resolve();
parentPort?.on("message", (writes: readonly Write[] | null) => {
  received = received.then(() => receive(writes));
});
