/** The program of the thread that writes events to SQLite. */
import { parentPort, workerData } from "node:worker_threads";
import { transaction } from "../store/database.ts";
import { createSqliteWriter, EVENT_SCHEMA_VERSION, openEventDatabase } from "./sqlite-database.ts";
import type { GroupAnswer, Write } from "./writes.ts";

const database = openEventDatabase(String(workerData));
/** Fails at once if the file is read-only, which SQLite would not report before the first event. */
const proveWritable = (): void =>
  transaction(database, () => database.exec(`PRAGMA user_version=${EVENT_SCHEMA_VERSION}`));
proveWritable();
const writeGroup = createSqliteWriter(database);

/** Each message is a group of writes. An empty group checks whether writes succeed; null ends the thread. */
async function receive(writes: readonly Write[] | null): Promise<void> {
  if (writes === null) {
    // Empties the log, since prepared statements keep it from being removed. If another program reads it now, that one does.
    database.exec("PRAGMA busy_timeout=0; PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    parentPort?.close();
    return;
  }
  if (writes.length === 0 && database.isInPlace()) proveWritable();
  const answer = await answerTo(writes);
  parentPort?.postMessage(answer);
  if (answer === "moved") parentPort?.close();
}

/** Checks the files before and after, because SQLite writes to removed files and reports success. */
async function answerTo(writes: readonly Write[]): Promise<GroupAnswer> {
  const results = database.isInPlace() ? await writeGroup(writes) : [];
  if (database.isInPlace()) return results;
  try {
    database.leave();
    return "moved";
  } catch (reason) {
    return writes.map(() => ({ status: "rejected", reason }));
  }
}

let received = Promise.resolve();
parentPort?.on("message", (writes: readonly Write[] | null) => {
  received = received.then(() => receive(writes));
});
