/** The program of the thread that writes events. */
import { parentPort, workerData } from "node:worker_threads";
import { transaction } from "../database.ts";
import { EVENT_SCHEMA_VERSION, openEventDatabase } from "./event-schema.ts";
import { createEventWriter } from "./event-writer.ts";
import type { GroupAnswer, ThreadWrite } from "./writes.ts";

const database = openEventDatabase(String(workerData));
/** Fails at once if the file is read-only, which SQLite would not report before the first event. */
const proveWritable = (): void =>
  transaction(database, () => database.exec(`PRAGMA user_version=${EVENT_SCHEMA_VERSION}`));
proveWritable();
const writeGroup = createEventWriter(database);

/** Each message is a group of writes. An empty group checks whether writes succeed; null ends the thread. */
parentPort?.on("message", (writes: readonly ThreadWrite[] | null) => {
  if (writes === null) {
    // Empties the log, since prepared statements keep it from being removed. If another program reads it now, that one does.
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

/** Checks the files before and after, because SQLite writes to removed files and reports success. */
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
