/** The memory of `bulk` in PostgreSQL, with a mark on this machine that tells a database that was replaced or emptied from a new one. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import type { Environment } from "../values/typed-text.ts";
import { createMarking, lossOf, readMark } from "../store/mark.ts";
import { openPostgresMemory } from "../store/postgres.ts";
import { sentKeyText, type Attempt, type Memory } from "../store/sent-rows.ts";
import { hasLocalMemory, openLocalMemory } from "./local-memory.ts";

/**
 * Throws `database_unusable` if this machine has sent lists with another database at this address, or if rows of this one have
 * gone: every list would be sent once more. A run that only checks its rows leaves no mark. `folder` is for the marks.
 */
export async function openSharedMemory(
  folder: string,
  { url, env, isDryRun }: { readonly url: string; readonly env: Environment; readonly isDryRun: boolean },
): Promise<Memory> {
  const { memory, mark: markNow } = openPostgresMemory(url, env);
  const { place } = memory;
  const path = join(folder, `${hash("sha256", place).slice(0, 16)}.mark`);
  const write = createMarking(path, place);
  try {
    const found = await markNow();
    const loss = lossOf(readMark(path), found);
    if (loss !== undefined) throw gone(place, path, LOSSES[loss]);
    const unmarked = isDryRun ? undefined : write(found);
    let hasMarked = isDryRun || found.last > 0;
    const shared: Memory = {
      ...memory,
      remarks: [
        ...(found.last === 0
          ? [
              `${place} remembers no row. If lists were sent with it before, it was emptied, or is another database.`,
            ]
          : []),
        ...(unmarked === undefined ? [] : [cannotMark(place, path, unmarked)]),
      ],
      settle: async (key, end) => {
        await memory.settle(key, end);
        if (hasMarked || end?.state !== "created") return;
        hasMarked = true;
        write(await markNow());
      },
      close: async () => {
        if (!isDryRun) await markNow().then(write, () => undefined);
        await memory.close();
      },
    };
    return hasLocalMemory(folder) ? withOwnRows(shared, openLocalMemory(folder, { isDryRun })) : shared;
  } catch (error) {
    await memory.close();
    throw error;
  }
}

/** With what this machine has sent before its lists went to the database, or without it: that is in a file. */
function withOwnRows(shared: Memory, own: Memory): Memory {
  const inFile = new Set<string>();
  return {
    ...shared,
    find: async (keys) => {
      const found = await shared.find(keys);
      const known = new Set(found.map(sentKeyText));
      const added = (await own.find(keys)).filter((attempt) => !known.has(sentKeyText(attempt)));
      for (const attempt of added) inFile.add(sentKeyText(attempt));
      return added.length === 0 ? found : [...found, ...added].toSorted(compareAttempts);
    },
    settle: (key, end) => (inFile.has(sentKeyText(key)) ? own : shared).settle(key, end),
    close: async () => {
      await own.close();
      await shared.close();
    },
  };
}

const compareAttempts = (one: Attempt, other: Attempt): number =>
  Number(one.key > other.key) - Number(one.key < other.key) ||
  one.occurrence - other.occurrence ||
  one.attempt - other.attempt;

/** In a container whose files cannot be written, the run goes on: it is as any new machine. */
const cannotMark = (place: string, path: string, reason: string): string =>
  `${path} cannot be written (${reason}): the next run here will not notice if ${place} was emptied or replaced.`;

const LOSSES = {
  gone: "emptied",
  replaced: "replaced or emptied",
  older: "emptied, or an older copy was put in its place",
} as const;

const gone = (place: string, mark: string, what: string): PaylinkError =>
  new PaylinkError("database_unusable", `The database ${place} is not as bulk left it: it was ${what}.`, {
    hints: [
      hint`It held which links were created: restore it from a backup, or name the former one in PAYLINK_DB.`,
      hint`Without a backup, remove ${mark}: rows with an order number are then looked for at the service; find out there which of the others have a link, and take them out of the list.`,
    ],
    details: { path: mark },
  });
