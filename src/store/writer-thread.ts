/** Hands batches to a thread of their own, one after the other, and takes back what became of them. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Batch, Written } from "./event-batch.ts";

export interface WriterThread {
  /** Rejects where the thread ended over it; the next batch gets a new one. */
  write(batch: Batch): Promise<Written[]>;
  /** Resolves when the thread has let go of the file. */
  close(): Promise<void>;
}

/** `program` is the file that `event-thread.ts` was built into; the thread starts with the first batch. */
export function createWriterThread(program: string, path: string): WriterThread {
  let worker: Worker | undefined;
  const start = (): Worker => {
    // Node's own warnings (22 calls its SQLite experimental) would stand on stderr, where the user is told things.
    const started = new Worker(program, { workerData: path, env: { NODE_NO_WARNINGS: "1" } });
    started.once("exit", () => (worker = undefined));
    return started;
  };
  return {
    write: async (batch) => {
      worker ??= start();
      worker.postMessage(batch);
      // `once` rejects with the error that ends a thread.
      const [written] = (await once(worker, "message")) as [Written[]];
      return written;
    },
    close: async () => {
      if (worker === undefined) return;
      worker.postMessage(undefined);
      await once(worker, "exit");
    },
  };
}
