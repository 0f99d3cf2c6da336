/** The program of the thread that writes events. */
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase, transaction } from "../database.ts";
import { EVENT_MIGRATIONS } from "./event-schema.ts";
import { createEventWriter } from "./event-writer.ts";
import type { GroupAnswer, Write } from "./writes.ts";

const database = openDatabase(String(workerData), EVENT_MIGRATIONS);
/** SQLite opens a file that it can only read without complaint: this write fails at once. */
const proveWritable = (): void =>
  transaction(database, () => database.exec(`PRAGMA user_version=${EVENT_MIGRATIONS.length}`));
proveWritable();
const writeGroup = createEventWriter(database);

/** Each message is a group of writes; an empty one asks whether they would succeed, and null ends the thread. */
parentPort?.on("message", (writes: readonly Write[] | null) => {
  if (writes === null) {
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
function answerTo(writes: readonly Write[]): GroupAnswer {
  const results = database.isInPlace() ? writeGroup(writes) : [];
  if (database.isInPlace()) return results;
  try {
    database.leave();
    return "moved";
  } catch (reason) {
    return writes.map(() => ({ status: "rejected", reason }));
  }
}
