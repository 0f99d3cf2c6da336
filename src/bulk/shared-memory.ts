/** The memory of `bulk` in PostgreSQL, with a mark on this machine that tells a database that was replaced or emptied from a new one. */
import { hash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hint, PaylinkError } from "../domain/errors.ts";
import type { Environment } from "../settings/resolved-settings.ts";
import { makeFolder } from "../store/folders.ts";
import { openPostgresMemory } from "../store/postgres.ts";
import type { Memory } from "../store/sent-rows.ts";

/**
 * Throws `database_unusable` if this machine has sent lists with another database at this address: with this one, every list
 * would be sent once more. A run that only checks its rows leaves no mark. `folder` is for the marks.
 */
export async function openSharedMemory(
  folder: string,
  { url, env, isDryRun }: { readonly url: string; readonly env: Environment; readonly isDryRun: boolean },
): Promise<Memory> {
  const { memory, identity } = openPostgresMemory(url, env);
  try {
    const mark = join(folder, `${hash("sha256", memory.place).slice(0, 16)}.mark`);
    const found = await identity();
    if (!existsSync(mark)) {
      if (!isDryRun)
        writeMark(folder, mark, `${found}\n${memory.place} holds which links bulk has created.\n`);
    } else if (readFileSync(mark, "utf8").split("\n", 1)[0] !== found) throw replaced(memory.place, mark);
    return memory;
  } catch (error) {
    await memory.close();
    throw error;
  }
}

/** A container whose files cannot be written is as any new machine: it has no mark. */
function writeMark(folder: string, mark: string, text: string): void {
  try {
    makeFolder(folder);
    writeFileSync(mark, text, { mode: 0o600 });
  } catch {
    return;
  }
}

const replaced = (place: string, mark: string): PaylinkError =>
  new PaylinkError(
    "database_unusable",
    `The database ${place} is not the one that bulk used before: it was replaced or emptied.`,
    {
      hints: [
        hint`It held which links were created: restore it from a backup, or name the former one in PAYLINK_DB.`,
        hint`Without a backup, find out at the service which links exist, take their rows out of the list, and remove ${mark}.`,
      ],
      details: { path: mark },
    },
  );
