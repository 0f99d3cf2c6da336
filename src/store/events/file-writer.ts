/** Writes events to the database at a path, also after somebody removed, renamed or replaced its files. */
import { PaylinkError } from "../../domain/errors.ts";
import { openDatabase, transaction, type Database } from "../database.ts";
import { EVENT_MIGRATIONS } from "./event-schema.ts";
import { createEventWriter, type WriteGroup } from "./event-writer.ts";
import type { GroupAnswer, Write } from "./writes.ts";

export interface FileWriter {
  /** What succeeded is in the database that the path leads to. Never throws. */
  readonly write: (writes: readonly Write[]) => GroupAnswer;
  readonly close: () => void;
}

interface Opened {
  readonly database: Database;
  readonly writeGroup: WriteGroup;
}

/** Somebody who replaces the files again and again gets no further than this with one group. */
const MAX_TRIES = 3;

/** Throws if the database cannot be opened or written. */
export function createFileWriter(path: string): FileWriter {
  let opened: Opened | undefined = open(path);
  probe(opened.database);
  const inPlace = (): Opened => {
    if (opened?.database.isInPlace() === false) {
      opened.database.leave();
      opened = undefined;
    }
    return (opened ??= open(path));
  };
  return {
    write: (writes) => {
      const before = opened;
      try {
        for (let tries = 0; tries < MAX_TRIES; tries += 1) {
          const { database, writeGroup } = inPlace();
          const results = writeGroup(writes);
          // SQLite writes to files that were removed and reports success.
          if (database.isInPlace()) return { results, replaced: opened !== before };
        }
        throw new PaylinkError("file_unwritable", `The database ${path} is replaced again and again.`);
      } catch (reason) {
        return { results: writes.map(() => ({ status: "rejected", reason })), replaced: false };
      }
    },
    close: () => opened?.database.close(),
  };
}

function open(path: string): Opened {
  const database = openDatabase(path, EVENT_MIGRATIONS);
  return { database, writeGroup: createEventWriter(database) };
}

/** A file that can only be read is opened without complaint. */
function probe(database: Database): void {
  transaction(database, () => database.exec(`PRAGMA user_version=${EVENT_MIGRATIONS.length}`));
}
