/** The journal of a bulk run: its heading, its lines, and how a later run reads them back after a kill. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { PaylinkError } from "../../domain/errors.ts";
import { hasCode } from "../../domain/system-reason.ts";

/** The first line of a journal. */
const heading = z.object({
  paylink: z.literal("bulk journal"),
  /** The base URL of the service, in its canonical spelling. */
  service: z.string(),
  /** The list's path; "-" for standard input. */
  input: z.string(),
  begun: z.string(),
  /** What to do with rows that were sent before from another list. */
  repeats: z.enum(["refuse", "skip", "send"]),
});
export type Heading = z.infer<typeof heading>;

const row = z.int().check(z.minimum(0), z.maximum(100_000_000));

/** Digests of the requests of the rows from this one on. They are on disk before the first row is sent. */
const asked = z.object({ from: row, asks: z.array(z.number()) });
export type Asked = z.infer<typeof asked>;
/** The key by which the service recognises a request that is sent again. */
const requestKey = z.object({
  /** The header that carries the key: the service recognises it in no other. */
  header: z.string(),
  value: z.string(),
  /** Durations count from this time (ms since 1970): a service may refuse a known key with another expiry. */
  time: z.number(),
});
export type RequestKey = z.infer<typeof requestKey>;
/** The request of this row is about to be sent. */
const sending = z.strictObject({ row, key: z.optional(requestKey) });
/** The outcome of that request. */
const settled = z.object({
  row,
  /** `not_sent`: the request was not sent after all. */
  status: z.enum(["created", "refused", "not_reached", "unknown", "not_sent"]),
  id: z.optional(z.string()),
  url: z.optional(z.string()),
  error: z.optional(z.string()),
});
export type Settled = z.infer<typeof settled>;
const entry = z.union([sending, settled, asked]);
export type Entry = z.infer<typeof entry>;

/** Called with each line after the heading, and its place in the file. */
export type Replay = (entry: Entry, offset: number, length: number) => void;

export const isSettled = (entry: Entry): entry is Settled => "status" in entry;
export const isAsked = (entry: Entry): entry is Asked => "asks" in entry;

const CHUNK = 1 << 20;
const NEWLINE = 0x0a;

/** Creates a journal with its heading and rows, whole or not at all: a kill must not leave part of them. */
export function beginJournal(path: string, head: Omit<Heading, "paylink">, rows: Iterable<Asked>): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.new`;
  const file = openSync(draft, "wx", 0o600);
  try {
    writeFileSync(file, `${JSON.stringify({ paylink: "bulk journal", ...head })}\n`);
    for (const part of rows) writeFileSync(file, `${JSON.stringify(part)}\n`);
    fsyncSync(file);
    closeSync(file);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** A new file survives a power cut only once its folder is on disk. */
function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, "r");
    fsyncSync(handle);
    closeSync(handle);
  } catch {
    // Windows cannot sync a folder.
  }
}

/** The heading of a journal; undefined if the file or its heading is missing. */
export function readHeading(path: string): Heading | undefined {
  for (const { text } of linesOf(path)) return parseLine(path, text, heading);
  return undefined;
}

/** Reads a journal back and returns the end of its last complete line: an incomplete one was never acknowledged. */
export function replayJournal(path: string, replay: Replay): number {
  let end = 0;
  for (const { text, offset, length } of linesOf(path)) {
    if (offset === 0) parseLine(path, text, heading);
    else replay(parseLine(path, text, entry), offset, length);
    end = offset + length;
  }
  return end;
}

/** The outcome in the line at this place. */
export function settledAt(path: string, offset: number, length: number): Settled {
  const file = openSync(path, "r");
  try {
    return readSettled(path, file, offset, length);
  } finally {
    closeSync(file);
  }
}

/** The same for an open journal. */
export function readSettled(path: string, file: number, offset: number, length: number): Settled {
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, offset);
  return parseLine(path, bytes.toString(), settled);
}

function parseLine<T>(path: string, text: string, schema: z.ZodMiniType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new PaylinkError(
      "file_unreadable",
      `${path} is damaged: it holds a line that paylink did not write. Nothing was sent.`,
      {
        hint: "It records which links were created. Restore it, or check at the service which links exist before you send the list again.",
        cause: error,
      },
    );
  }
}

interface Line {
  readonly text: string;
  readonly offset: number;
  readonly length: number;
}

/** Every complete line, in chunks, so that a long journal takes no more memory than a short one. */
function* linesOf(path: string): Generator<Line> {
  let handle;
  try {
    handle = openSync(path, "r");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  try {
    let rest = Buffer.alloc(0);
    let offset = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const read = readSync(handle, chunk, 0, CHUNK, null);
      if (read === 0) return;
      rest = Buffer.concat([rest, chunk.subarray(0, read)]);
      let start = 0;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, start)) {
        yield { text: rest.toString("utf8", start, end), offset: offset + start, length: end + 1 - start };
        start = end + 1;
      }
      offset += start;
      rest = rest.subarray(start);
    }
  } finally {
    closeSync(handle);
  }
}
