/** The program of the thread that writes events. */
import { parentPort, workerData } from "node:worker_threads";
import { transaction } from "../database.ts";
import { EVENT_SCHEMA_VERSION, openEventDatabase } from "./event-schema.ts";
import { createEventWriter } from "./event-writer.ts";
import type { GroupAnswer, ThreadWrite } from "./writes.ts";

const database = openEventDatabase(String(workerData));
/** SQLite opens a file that it can only read without complaint: this write fails at once. */
const proveWritable = (): void =>
  transaction(database, () => database.exec(`PRAGMA user_version=${EVENT_SCHEMA_VERSION}`));
proveWritable();
const writeGroup = createEventWriter(database);

/** Each message is a group of writes; an empty one asks whether they would succeed, and null ends the thread. */
parentPort?.on("message", (writes: readonly ThreadWrite[] | null) => {
  if (writes === null) {
    // Prepared statements keep the log from being removed. Another program that reads it now will empty it.
    database.exec("PRAGMA busy_timeout=0; PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    parentPort?.close();
    return;
  }
  if (writes.length === 0 && database.isInPlace()) proveWritable();
  const answer = answerTo(writes);
  parentPort?.postMessage(answer);
  if (answer === "moved") parentPort?.close();
});

/** SQLite writes to files that were removed, and reports success. */
function answerTo(writes: readonly ThreadWrite[]): GroupAnswer {
  const results = database.isInPlace() ? writeGroup(writes) : [];
  if (database.isInPlace()) return results;
  try {
    database.leave();
    return "moved";
  } catch (reason) {
    return writes.map(() => ({ status: "rejected", reason }));
  }
}
