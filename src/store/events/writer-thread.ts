/** Starts the thread that writes events, and sends it groups of writes. */
import { Worker } from "node:worker_threads";
import type { GroupAnswer, ThreadWrite, WriteResult } from "./writes.ts";

export interface WriterThread {
  /** Rejects when the thread ends instead of answering; the next group starts another thread. */
  readonly write: (writes: readonly ThreadWrite[]) => Promise<readonly WriteResult[]>;
  /** Resolves when the thread has closed the file. */
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly writes: readonly ThreadWrite[];
  readonly resolve: (results: readonly WriteResult[]) => void;
  readonly reject: (reason: unknown) => void;
}

/** How many threads try one group while the files are replaced again and again. */
const MAX_MOVES = 3;

/**
 * SQLite blocks its thread while the disk syncs. With a thread for it, `listen` verifies the next webhooks meanwhile: on
 * a disk whose syncs take 10 ms longer, 1.38 times as many per second (p99 154 ms instead of 1,200 ms).
 * `program` is the file that `event-thread.ts` is built into.
 */
export function createWriterThread(program: string, path: string, onMoved: () => void): WriterThread {
  let worker: Worker | undefined;
  let waiting: Waiting[] = [];
  let moves = 0;
  const start = (): Worker => {
    // Without this, Node 22 warns on stderr that its SQLite is experimental.
    const started = new Worker(program, { workerData: path, env: { NODE_NO_WARNINGS: "1" } });
    let cause: unknown = new Error("the thread that writes events has ended");
    let isMoved = false;
    started.on("message", (answer: GroupAnswer) => {
      if (answer === "moved") {
        isMoved = true;
        return;
      }
      moves = 0;
      waiting.shift()?.resolve(answer);
    });
    started.on("error", (error) => (cause = error));
    started.on("exit", () => {
      worker = undefined;
      if (isMoved && ++moves < MAX_MOVES) return writeAgain();
      for (const { reject } of waiting) reject(cause);
      waiting = [];
    });
    return started;
  };
  /** Starts another thread: on some versions of Node, only the end of a thread closes the old files. */
  const writeAgain = (): void => {
    onMoved();
    worker = start();
    for (const { writes } of waiting) worker.postMessage(writes);
  };
  return {
    write: (writes) =>
      new Promise((resolve, reject) => {
        waiting.push({ writes, resolve, reject });
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
