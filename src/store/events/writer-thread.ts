/** Hands batches to a thread of their own, and takes back what became of them. */
import { Worker } from "node:worker_threads";
import type { Batch, Written } from "./event-batch.ts";

export interface WriterThread {
  /** Rejects where the thread ended over it; the next batch gets a new one. */
  readonly write: (batch: Batch) => Promise<Written[]>;
  /** Resolves when the thread has let go of the file. */
  readonly close: () => Promise<void>;
}

interface Handed {
  readonly done: (written: Written[]) => void;
  readonly failed: (error: unknown) => void;
}

/** `program` is the file that `event-thread.ts` was built into. */
export function createWriterThread(program: string, path: string): WriterThread {
  let handed: Handed[] = [];
  const start = (): Worker => {
    // Node's own warnings (22 calls its SQLite experimental) would stand on stderr, where the user is told things.
    const started = new Worker(program, { workerData: path, env: { NODE_NO_WARNINGS: "1" } });
    started.on("message", (answers: Written[][]) => {
      for (const written of answers) handed.shift()?.done(written);
    });
    let cause: unknown = new Error("the thread that writes events has ended");
    started.on("error", (error) => (cause = error));
    started.on("exit", () => {
      worker = undefined;
      for (const { failed } of handed) failed(cause);
      handed = [];
    });
    return started;
  };
  let worker: Worker | undefined = start();
  return {
    write: (batch) =>
      new Promise((done, failed) => {
        handed.push({ done, failed });
        (worker ??= start()).postMessage(batch);
      }),
    close: () =>
      new Promise((closed) => {
        if (worker === undefined) return closed();
        worker.once("exit", () => closed());
        worker.postMessage(null);
      }),
  };
}
