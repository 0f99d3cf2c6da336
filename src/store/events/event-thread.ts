/** The program of the thread that writes events. */
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "../database.ts";
import { EVENT_MIGRATIONS } from "./event-schema.ts";
import { createEventWriter } from "./event-writer.ts";
import type { Write } from "./writes.ts";

const database = openDatabase(String(workerData), EVENT_MIGRATIONS);
const writeGroup = createEventWriter(database);

/** Each message is a group of writes, answered with their results; null ends the thread. */
parentPort?.on("message", (writes: readonly Write[] | null) => {
  if (writes !== null) return parentPort?.postMessage(writeGroup(writes));
  database.close();
  parentPort?.close();
});
