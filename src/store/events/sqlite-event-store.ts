/** The event store in one SQLite file, which several processes can write and read at the same time. */
import { PaylinkError } from "../../domain/errors.ts";
import { systemReason } from "../../domain/system-reason.ts";
import type { EventStore } from "../../receiver/event-store.ts";
import type { Database } from "../database.ts";
import { createGroupCommit } from "../group-commit.ts";
import { createEventLog } from "./event-log.ts";
import { createEventQueries, opening } from "./event-queries.ts";
import { openEventDatabase } from "./event-schema.ts";
import { createSqliteQueue } from "./sqlite-queue.ts";
import { createWriterThread } from "./writer-thread.ts";

export interface EventStoreParts {
  /** The program of the thread that writes, which starts with the first write. */
  readonly thread: string;
  /** Distinguishes the claims of this store from those of all others. */
  readonly owner: string;
  readonly now: () => Date;
  readonly warn: (text: string) => void;
}

/** Does not open the file before the first read or write, which reports a file that cannot be opened. */
export function openEventStore(path: string, { thread, owner, now, warn }: EventStoreParts): EventStore {
  const writer = createWriterThread(thread, path, () =>
    warn(`The event store ${path} was removed, renamed or replaced. Events are stored at that path again.`),
  );
  // While one group waits for the disk, the next one is gathered and posted.
  const group = createGroupCommit(writer.write, { atOnce: 2 });
  let closed = false;
  return {
    place: path,
    ...createEventLog(group, owner),
    ...createEventQueries(() => open(path)),
    queue: createSqliteQueue({ group, use: opening(() => open(path)), owner, now }),
    ready: async () => {
      open(path).close();
      try {
        await writer.write([]);
      } catch (cause) {
        throw new PaylinkError("file_unwritable", `Cannot write the event store: ${systemReason(cause)}`, {
          cause,
          hint: "Nothing is listening. Check who may write the file and its folder, and whether the disk is read-only or full.",
        });
      }
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await group.settled();
      await writer.close();
    },
  };
}

function open(path: string): Database {
  try {
    return openEventDatabase(path);
  } catch (error) {
    if (error instanceof PaylinkError) throw error;
    throw new PaylinkError(
      "file_unreadable",
      `Cannot open the event store ${path}: ${systemReason(error)}.`,
      {
        cause: error,
      },
    );
  }
}
