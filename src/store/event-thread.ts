/** The program of the thread that writes events: SQLite blocks while it works, and no webhook is to wait for that. */
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "./database.ts";
import { createBatchWriter, type Batch } from "./event-batch.ts";
import { EVENT_MIGRATIONS } from "./event-schema.ts";

/** Pages that the log may have before they are moved into the database: 16 MiB. */
const CHECKPOINT_PAGES = 4096;

const database = openDatabase(String(workerData), EVENT_MIGRATIONS);
database.exec(`PRAGMA wal_autocheckpoint=${CHECKPOINT_PAGES}`);
const write = createBatchWriter(database);

/** A batch is answered with what became of its entries; undefined ends the thread. */
parentPort?.on("message", (batch: Batch | undefined) => {
  if (batch !== undefined) return parentPort?.postMessage(write(batch));
  database.close();
  parentPort?.close();
});
