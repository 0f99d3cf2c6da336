/** The event store: what `listen` received, in one SQLite file that several processes write and read at once. */
import { join } from "node:path";
import { PaylinkError } from "../../domain/errors.ts";
import type { EventLog } from "../../receiver/events.ts";
import { openDatabase } from "../database.ts";
import { createEventArchive, type EventArchive } from "./event-queries.ts";
import { createBatchWriter } from "./event-batch.ts";
import { EVENT_MIGRATIONS } from "./event-schema.ts";
import { createEventWriter } from "./event-writes.ts";
import { createWriterThread } from "./writer-thread.ts";

export interface EventStore extends EventLog, EventArchive {
  /** Writes what is left and lets go of the file. */
  close(): Promise<void>;
}

/** Where events are kept when the user names no other place. */
export const eventsPath = (dataFolder: string): string => join(dataFolder, "events.db");

/**
 * Throws `file_unreadable`. `thread` is the program of a thread to write in, for who must not be kept waiting by a
 * disk; without one it is written here.
 */
export function openEventStore(path: string, thread?: string): EventStore {
  try {
    const database = openDatabase(path, EVENT_MIGRATIONS);
    const { write, close } =
      thread === undefined
        ? { write: createBatchWriter(database), close: async () => undefined }
        : createWriterThread(thread, path);
    const { settled, ...log } = createEventWriter(write);
    let closed = false;
    return {
      ...log,
      ...createEventArchive(database),
      close: async () => {
        if (closed) return;
        closed = true;
        await settled();
        await close();
        database.close();
      },
    };
  } catch (error) {
    if (error instanceof PaylinkError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PaylinkError("file_unreadable", `Events cannot be kept in ${path}: ${reason}`, {
      cause: error,
      hint: "Nothing was received. Give another file with --db, or --no-store to keep none.",
    });
  }
}
