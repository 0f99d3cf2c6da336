/** The thread that writes events, as the receiver's side sees it. */
import { Worker } from "node:worker_threads";
import type { GroupAnswer, Write } from "./writes.ts";

export interface WriterThread {
  /** Rejects when the thread ends instead of answering; the next group starts another thread. */
  readonly write: (writes: readonly Write[]) => Promise<GroupAnswer>;
  /** Resolves when the thread has closed the file. */
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly resolve: (answer: GroupAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * SQLite blocks its thread while the disk syncs. With a thread of its own, `listen` verifies the next webhooks in that
 * time: on a disk whose syncs take 10 ms longer, 1.38 times as many a second (p99 154 ms instead of 1,200 ms).
 * `program` is the file that `event-thread.ts` is built into.
 */
export function createWriterThread(program: string, path: string): WriterThread {
  let worker: Worker | undefined;
  let waiting: Waiting[] = [];
  const start = (): Worker => {
    // Without this, Node 22 warns on stderr that its SQLite is experimental.
    const started = new Worker(program, { workerData: path, env: { NODE_NO_WARNINGS: "1" } });
    let cause: unknown = new Error("the thread that writes events has ended");
    started.on("message", (answer: GroupAnswer) => waiting.shift()?.resolve(answer));
    started.on("error", (error) => (cause = error));
    started.on("exit", () => {
      worker = undefined;
      for (const { reject } of waiting) reject(cause);
      waiting = [];
    });
    return started;
  };
  return {
    write: (writes) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        (worker ??= start()).postMessage(writes);
      }),
    close: () =>
      new Promise((resolve) => {
        if (worker === undefined) return resolve();
        worker.once("exit", () => resolve());
        worker.postMessage(null);
      }),
  };
}
