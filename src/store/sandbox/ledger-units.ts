/** Units of writes: each is stored whole or not at all, and all units of one turn of the event loop share a commit. */
import { rollBack, type Database } from "../database.ts";
import { createGroupCommit } from "../group-commit.ts";

export interface Units {
  /** Runs a unit at once, so that reads see its writes; resolves once they are durable. Rejects if it is not stored. */
  readonly write: (unit: () => void) => Promise<void>;
  readonly settled: () => Promise<void>;
}

export function createUnits(database: Database): Units {
  let isOpen = false;
  /** Why SQLite has rolled back the open transaction, with every unit in it. */
  let lost: Error | undefined;
  const group = createGroupCommit<void, void>(async (units) => {
    const error = lost;
    [isOpen, lost] = [false, undefined];
    if (error !== undefined) throw error;
    commit(database);
    return units.map(() => ({ status: "fulfilled", value: undefined }));
  });
  const run = (unit: () => void): void => {
    if (lost !== undefined) throw lost;
    database.exec("SAVEPOINT unit");
    try {
      unit();
    } catch (error) {
      try {
        database.exec("ROLLBACK TO unit; RELEASE unit");
      } catch (cause) {
        lost = new Error("the database has rolled back", { cause });
      }
      throw error;
    }
    database.exec("RELEASE unit");
  };
  return {
    write: async (unit) => {
      if (!isOpen) database.exec("BEGIN IMMEDIATE");
      isOpen = true;
      const committed = group.add();
      try {
        run(unit);
      } catch (error) {
        await Promise.allSettled([committed]);
        throw error;
      }
      await committed;
    },
    settled: () => group.settled(),
  };
}

function commit(database: Database): void {
  try {
    database.exec("COMMIT");
  } catch (error) {
    rollBack(database);
    throw error;
  }
}
