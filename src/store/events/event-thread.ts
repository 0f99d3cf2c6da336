/** The program of the thread that writes events: SQLite blocks while it works, and no webhook is to wait for that. */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { openDatabase } from "../database.ts";
import { createBatchWriter, type Batch } from "./event-batch.ts";
import { EVENT_MIGRATIONS } from "./event-schema.ts";

/** Pages that the log may have before they are moved into the database: 16 MiB. */
const CHECKPOINT_PAGES = 4096;

const database = openDatabase(String(workerData), EVENT_MIGRATIONS);
database.exec(`PRAGMA wal_autocheckpoint=${CHECKPOINT_PAGES}`);
const write = createBatchWriter(database);

/** All that waits is one transaction, answered batch by batch; null ends the thread. */
parentPort?.on("message", (first: Batch | null) => {
  const messages = [first, ...waiting()];
  const batches = messages.filter((message) => message !== null);
  const written = write({
    entries: batches.flatMap(({ entries }) => entries),
    rejections: batches.flatMap(({ rejections }) => rejections),
  });
  parentPort?.postMessage(batches.map(({ entries }) => written.splice(0, entries.length)));
  if (batches.length === messages.length) return;
  database.close();
  parentPort?.close();
});

function* waiting(): Generator<Batch | null> {
  if (parentPort === null) return;
  for (;;) {
    const received: { message: Batch | null } | undefined = receiveMessageOnPort(parentPort);
    if (received === undefined) return;
    yield received.message;
  }
}
