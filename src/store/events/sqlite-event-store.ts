/** The event store in one SQLite file, which several processes can write and read at the same time. */
import { join } from "node:path";
import { PaylinkError } from "../../domain/errors.ts";
import type { EventStore } from "../../receiver/event-store.ts";
import { openDatabase, type Database } from "../database.ts";
import { createGroupCommit } from "../group-commit.ts";
import { createEventLog } from "./event-log.ts";
import { createEventQueries } from "./event-queries.ts";
import { EVENT_MIGRATIONS } from "./event-schema.ts";
import { createWriterThread } from "./writer-thread.ts";

/** Where events are stored unless the user names another file. */
export const eventsPath = (dataFolder: string): string => join(dataFolder, "events.db");

/** `thread` is the program of the thread that writes; it starts with the first write. Throws `file_unreadable`. */
export function openEventStore(path: string, thread: string): EventStore {
  const database = open(path);
  const writer = createWriterThread(thread, path);
  // While one group waits for the disk, the next one is gathered and posted.
  const group = createGroupCommit(writer.write, { atOnce: 2 });
  let closed = false;
  return {
    ...createEventLog(group),
    ...createEventQueries(database),
    close: async () => {
      if (closed) return;
      closed = true;
      await group.settled();
      await writer.close();
      database.close();
    },
  };
}

function open(path: string): Database {
  try {
    return openDatabase(path, EVENT_MIGRATIONS);
  } catch (error) {
    if (error instanceof PaylinkError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PaylinkError("file_unreadable", `Cannot open the event store ${path}: ${reason}`, {
      cause: error,
      hint: "Nothing was received. Name another file with --db, or use --no-store to store nothing.",
    });
  }
}
