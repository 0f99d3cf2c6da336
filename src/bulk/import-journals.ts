/** Takes what paylink 0.2.0 wrote of its bulk runs into the memory: a journal, a file of lines, for each list. */
import { closeSync, openSync, readdirSync, readFileSync, readSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod/mini";
import { hint, type PaylinkError } from "../domain/errors.ts";
import { transaction, type Database } from "../store/database.ts";
import {
  alreadyRunning,
  digestOfList,
  forgetUnsent,
  GUARD,
  insertList,
  INTEND,
  keyText,
  listFacts,
  lostMemory,
  outcomeValues,
  requestKey,
  SETTLE,
  type Memory,
} from "./memory.ts";

const ENDING = ".journal";

/** The first line. */
const heading = z.extend(listFacts, { paylink: z.literal("bulk journal") });
const row = z.int().check(z.minimum(0), z.maximum(100_000_000));
/** Digests of the rows from this one on. Those of all rows were on disk before the first row was sent. */
const asked = z.object({ from: row, asks: z.array(z.number()) });
/** The request of this row is about to be sent. */
const sending = z.strictObject({ row, key: z.optional(requestKey) });
/** The outcome of that request. */
const settled = z.object({
  row,
  status: z.enum(["created", "refused", "not_reached", "unknown", "not_sent"]),
  id: z.optional(z.string()),
  url: z.optional(z.string()),
  error: z.optional(z.string()),
});
const entry = z.union([sending, settled, asked]);

/** The id of this process, and whether another process is running. */
export interface Processes {
  readonly own: number;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * Each journal is imported whole or not at all, then renamed; one that was imported before a kill could rename it is known
 * by its id. Throws `file_unreadable` for a damaged one: it may be all that tells of a link.
 */
export function importJournals({ database, folder }: Memory, processes: Processes): void {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(ENDING) || name === GUARD) continue;
    const path = join(folder, name);
    refuseRunning(`${path}.lock`, processes);
    transaction(database, () => importJournal(database, path));
    renameSync(path, `${path}.imported`);
    rmSync(`${path}.lock`, { force: true });
  }
}

/** A run of paylink 0.2.0 that began before the update has a lock file with the id of its process. */
function refuseRunning(lock: string, { own, isRunning }: Processes): void {
  let pid: number;
  try {
    pid = Number(readFileSync(lock, "utf8"));
  } catch {
    return;
  }
  if (Number.isSafeInteger(pid) && pid > 0 && pid !== own && isRunning(pid))
    throw alreadyRunning(
      `Process ${pid} is sending a list with an earlier version of paylink. This run sent nothing.`,
      hint`If process ${String(pid)} is not paylink, delete ${lock}.`,
    );
}

function importJournal(database: Database, path: string): void {
  const id = basename(path, ENDING);
  if (database.prepare("SELECT 1 FROM lists WHERE id = ?").get(id) !== undefined) return;
  const lines = linesOf(path);
  const first = lines.next();
  if (first.done === true) throw damaged(path);
  const { service, input, begun, repeats } = parseLine(path, first.value, heading);
  const list = insertList(database, { id, service, input, begun, repeats });
  const insert = database.prepare("INSERT OR REPLACE INTO rows (list, position, digest) VALUES (?, ?, ?)");
  const intend = database.prepare(INTEND);
  const settle = database.prepare(SETTLE);
  const digests: number[] = [];
  let isSent = false;
  for (const line of lines) {
    if (!line.isComplete && isCutShort(line.text, isSent)) break;
    const read = parseLine(path, line, entry);
    if ("asks" in read) {
      if (read.from > digests.length) throw damaged(path);
      for (const [index, digest] of read.asks.entries()) {
        digests[read.from + index] = digest;
        insert.run(list, read.from + index, digest);
      }
      continue;
    }
    isSent = true;
    if (read.row >= digests.length) throw damaged(path);
    if ("status" in read) settle.run(...outcomeValues(read), list, read.row);
    else intend.run(keyText(read.key), list, read.row);
  }
  if (digests.length === 0) throw damaged(path);
  database.prepare("UPDATE lists SET digest = ? WHERE number = ?").run(digestOfList(digests), list);
  forgetUnsent(database, list);
}

/**
 * Whether the last line is what a kill left of it: it was never acknowledged. The heading and the first digests were written
 * before the file had its name, so half of these is damage.
 */
const isCutShort = (text: string, isSent: boolean): boolean =>
  ['{"row":', ...(isSent ? ['{"from":'] : [])].some((start) => start.startsWith(text.slice(0, start.length)));

function parseLine<T>(path: string, { text, isComplete }: Line, schema: z.ZodMiniType<T>): T {
  if (!isComplete) throw damaged(path);
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw damaged(path, error);
  }
}

const damaged = (path: string, cause?: unknown): PaylinkError =>
  lostMemory(path, `${path} is damaged: it is not what paylink 0.2.0 writes.`, cause);

const CHUNK = 1 << 20;
const NEWLINE = 0x0a;

interface Line {
  readonly text: string;
  readonly isComplete: boolean;
}

/** In chunks, so that a long journal takes no more memory than a short one. */
function* linesOf(path: string): Generator<Line, undefined> {
  const handle = openSync(path, "r");
  try {
    let rest = Buffer.alloc(0);
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const read = readSync(handle, chunk, 0, CHUNK, null);
      if (read === 0) break;
      rest = Buffer.concat([rest, chunk.subarray(0, read)]);
      let start = 0;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, start)) {
        yield { text: rest.toString("utf8", start, end), isComplete: true };
        start = end + 1;
      }
      rest = rest.subarray(start);
    }
    if (rest.length > 0) yield { text: rest.toString(), isComplete: false };
  } finally {
    closeSync(handle);
  }
}
