/** The memory of `bulk` in PostgreSQL, with a mark on this machine that tells a database that was replaced or emptied from a new one. */
import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { systemReason } from "../domain/system-reason.ts";
import type { Environment } from "../domain/environment.ts";
import { openPostgresMemory } from "../store/postgres.ts";
import { replaceFile } from "../store/replace-file.ts";
import type { Memory } from "../store/sent-rows.ts";

/**
 * Throws `database_unusable` if this machine has sent lists with another database at this address, or if the rows of this one
 * have gone: every list would be sent once more. A run that only checks its rows leaves no mark. `folder` is for the marks.
 */
export async function openSharedMemory(
  folder: string,
  { url, env, isDryRun }: { readonly url: string; readonly env: Environment; readonly isDryRun: boolean },
): Promise<Memory> {
  const { memory, identity, isEmpty } = openPostgresMemory(url, env);
  const { place } = memory;
  const path = join(folder, `${hash("sha256", place).slice(0, 16)}.mark`);
  try {
    const [found, empty] = [await identity(), await isEmpty()];
    const mark = readMark(path);
    if (mark !== undefined && mark.identity !== found) throw gone(place, path, "replaced or emptied");
    if (mark?.hasSent === true && empty) throw gone(place, path, "emptied");
    const unmarked = mark === undefined && !isDryRun ? writeMark(path, place, found, false) : undefined;
    let hasMarked = isDryRun || mark?.hasSent === true || unmarked !== undefined;
    return {
      ...memory,
      remarks: [
        ...(empty
          ? [
              `${place} remembers no row. If lists were sent with it before, it was emptied, or is another database.`,
            ]
          : []),
        ...(unmarked === undefined ? [] : [cannotMark(place, path, unmarked)]),
      ],
      settle: async (key, settled) => {
        await memory.settle(key, settled);
        if (hasMarked || settled.state === "free") return;
        hasMarked = true;
        writeMark(path, place, found, true);
      },
    };
  } catch (error) {
    await memory.close();
    throw error;
  }
}

/** The last line of a mark, once rows were sent. */
const SENT = "Rows were sent.";

function readMark(path: string): { readonly identity: string; readonly hasSent: boolean } | undefined {
  if (!existsSync(path)) return undefined;
  const [identity = "", ...lines] = readFileSync(path, "utf8").split("\n");
  return { identity, hasSent: lines.includes(SENT) };
}

/** Why it could not be written, in words; undefined if it was. */
function writeMark(path: string, place: string, identity: string, hasSent: boolean): string | undefined {
  const lines = [identity, `${place} holds which links bulk has created.`, ...(hasSent ? [SENT] : [])];
  try {
    replaceFile(path, `${lines.join("\n")}\n`);
    return undefined;
  } catch (error) {
    return systemReason(error);
  }
}

/** In a container whose files cannot be written, the run continues: it is like a new machine. */
const cannotMark = (place: string, path: string, reason: string): string =>
  `${path} cannot be written (${reason}): the next run here will not notice if ${place} was emptied or replaced.`;

const gone = (place: string, mark: string, what: string): PaylinkError =>
  new PaylinkError("database_unusable", `The database ${place} is not as bulk left it: it was ${what}.`, {
    hints: [
      hint`It held which links were created: restore it from a backup, or name the former one in PAYLINK_DB.`,
      hint`Without a backup, find out at the service which links exist, take their rows out of the list, and remove ${mark}.`,
    ],
    details: { path: mark },
  });
