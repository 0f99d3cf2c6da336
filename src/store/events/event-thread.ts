/** The program of the thread that writes events. */
import { parentPort, workerData } from "node:worker_threads";
import { createFileWriter } from "./file-writer.ts";
import type { Write } from "./writes.ts";

const writer = createFileWriter(String(workerData));

/** Each message is a group of writes, answered with their results; null ends the thread. */
parentPort?.on("message", (writes: readonly Write[] | null) => {
  if (writes !== null) return parentPort?.postMessage(writer.write(writes));
  writer.close();
  parentPort?.close();
});
