/** The event store in one SQLite file, which several processes can write and read at the same time. */
import { existsSync, statSync } from "node:fs";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { PaylinkError } from "../../domain/errors.ts";
import { hasCode, messageOf, systemReason } from "../../values/system-reason.ts";
import { type Database, IN_MEMORY } from "./connection.ts";
import { newerVersion, openReadOnly } from "./open.ts";
import { type All, SQLITE } from "../dialects.ts";
import { schemaStepsOf } from "../schema.ts";
import { markOf, readEventMark, requireMarked } from "../event-mark.ts";
import { openEventDatabase, requireWhole, statementsOf } from "./event-file.ts";
import { type EventStore, type StoreParts, createEventStore, noStoreAt, olderStore } from "../event-store.ts";
import type { WriteGroup } from "../write-group.ts";
import type { ThreadAnswer, Write } from "../writes.ts";

interface SqliteParts extends StoreParts, Tables {
  /** Starts with the first write. */
  readonly thread: ThreadProgram;
}

/** `thread.ts` as the build made it: its file, or its text. */
export interface ThreadProgram {
  readonly program: string;
  readonly options: WorkerOptions;
}

/**
 * Does not open the file before the first read or write, which reports a file that cannot be opened. Throws `file_unreadable` for
 * one that must be there.
 */
export function openEventStore(
  path: string,
  { thread, user, create, upgrade, steps }: SqliteParts,
): EventStore {
  if (!create && !existsSync(path)) throw noStoreAt(path, "file_unreadable");
  const writer = createWriterThread(thread, path);
  const reader = createReader(path, create, { upgrade, steps });
  return createEventStore(
    {
      dialect: SQLITE,
      place: path,
      all: reader.all,
      write: writer.write,
      ready: async () => {
        // What is wrong with the file is said in full at the start. Later, the thread alone looks, so that no webhook waits.
        try {
          if (!writer.isRunning()) checkFile(path);
          await writer.write([]);
        } catch (cause) {
          throw hasCode(cause, "file_unreadable") ? cause : unwritableStore(cause);
        }
      },
      hurry: () => undefined,
      close: () => {
        reader.close();
        return writer.close();
      },
    },
    user,
  );
}

const unwritableStore = (cause: unknown): PaylinkError =>
  new PaylinkError("file_unwritable", `Cannot write the event store: ${systemReason(cause)}`, {
    cause,
    // A cause that knows its remedy, such as a Node without SQLite, names it.
    ...(cause instanceof PaylinkError ? { hints: cause.hints } : {}),
  });

interface Tables {
  /** Takes older ones to the version of `steps`; otherwise they are refused. */
  readonly upgrade: boolean;
  /** One step a version. */
  readonly steps?: readonly string[] | undefined;
}

/** Opens the file to read it; throws for one that has lost events. Undefined for one in which `listen` has yet to create the tables. */
function openMarked(
  path: string,
  { upgrade, steps = schemaStepsOf("events", SQLITE) }: Tables,
): Database | undefined {
  const mark = readEventMark(path);
  const database = openReadOnly(path);
  const { version } = database;
  try {
    if (version > steps.length) throw newerVersion(path, version, steps.length);
    if (mark !== undefined) requireMarked(path, mark, markOf(database));
    if (version === steps.length) return database;
    if (version > 0 && !upgrade) throw olderStore(path, "file_unreadable", [version, steps.length]);
    database.close();
  } catch (error) {
    database.close();
    throw error;
  }
  if (version === 0) return undefined;
  openEventDatabase(path, steps).close();
  return openMarked(path, { upgrade: false, steps });
}

/** Throws for a file that cannot be written, or that has lost events. */
function checkFile(path: string): void {
  const database = openEventDatabase(path);
  try {
    requireWhole(database, path);
  } finally {
    database.close();
  }
}

/**
 * Reads the file that is at the path, also after it was replaced, with no right to write it. One that may be missing is empty until
 * it is there.
 */
function createReader(
  path: string,
  mayBeMissing: boolean,
  tables: Tables,
): { readonly all: All; readonly close: () => void } {
  let opened: { readonly database: Database; readonly read: All } | undefined;
  let wasThere = false;
  const close = (): void => {
    opened?.database.close();
    // A driver keeps the file open for as long as a statement of it is there.
    opened = undefined;
  };
  const open = () => {
    close();
    const isEmpty = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
    const stored = isEmpty ? undefined : openMarked(path, tables);
    if (stored === undefined && (wasThere || !mayBeMissing)) throw noStoreAt(path, "file_unreadable");
    wasThere ||= stored !== undefined;
    const database = stored ?? openEventDatabase(IN_MEMORY);
    return (opened = { database, read: statementsOf(database) });
  };
  return {
    all: async (statement) => {
      for (;;) {
        const { database, read } = opened?.database.isInPlace() === true ? opened : open();
        const isCurrent = (): boolean => database.isInPlace() || database.path === IN_MEMORY;
        // A writer that came meanwhile may have changed what was read, or a part of it.
        try {
          const rows = await read(statement);
          if (isCurrent()) return rows;
        } catch (error) {
          if (isCurrent()) throw error;
        }
      }
    },
    close,
  };
}

interface WaitingCall {
  readonly resolve: (answer: ThreadAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * SQLite blocks its thread while the disk syncs. With a thread for it, `listen` verifies the next webhooks meanwhile: on
 * a disk whose syncs take 10 ms longer, 1.38 times as many per second (p99 154 ms instead of 1,200 ms).
 */
export function createWriterThread({ program, options }: ThreadProgram, path: string) {
  let worker: Worker | undefined;
  let waiting: WaitingCall[] = [];
  const start = (): Worker => {
    // Without this, Node 22 warns on stderr that its SQLite is experimental.
    const started = new Worker(program, {
      ...options,
      workerData: path,
      env: { NODE_NO_WARNINGS: "1" },
      // Without it, the young generation grows to 48 MB (memory bench), which gains nothing (listen bench).
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    let cause: unknown = new Error("the thread that writes events has ended");
    started.on("message", (answer: ThreadAnswer) => waiting.shift()?.resolve(answer));
    // A file that it cannot open is a `PaylinkError` there, and arrives as an error with its code.
    started.on(
      "error",
      (error) =>
        (cause = hasCode(error, "file_unwritable")
          ? new PaylinkError("file_unwritable", messageOf(error), { hints: [] })
          : error),
    );
    started.on("exit", () => {
      worker = undefined;
      for (const { reject } of waiting) reject(cause);
      waiting = [];
    });
    return started;
  };
  const ask = (writes: readonly Write[]): Promise<ThreadAnswer> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      (worker ??= start()).postMessage(writes);
    });
  return {
    /** Rejects when nothing can be written, or the thread ends instead of answering; the next group starts another thread. */
    write: (async (writes) => {
      const answer = await ask(writes);
      if ("failure" in answer) throw new Error(answer.failure);
      return answer.results;
    }) satisfies WriteGroup,
    isRunning: (): boolean => worker !== undefined,
    /** Resolves when the thread has closed the file. */
    close: () =>
      new Promise<void>((resolve) => {
        if (worker === undefined) return resolve();
        worker.once("exit", () => resolve());
        worker.postMessage(null);
      }),
  };
}
