/** The journal of a bulk run: its heading, its lines, and how a later run reads them back after a kill. */
import { closeSync, fsyncSync, mkdirSync, openSync, readSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { PaylinkError } from "../../domain/errors.ts";

/** The first line of a journal. */
const heading = z.object({
  paylink: z.literal("bulk journal"),
  service: z.string(),
  /** The list's path; "-" for standard input. */
  input: z.string(),
  /** A digest of what every row asked for when the journal was created. */
  content: z.string(),
  begun: z.string(),
});
export type Heading = z.infer<typeof heading>;

const row = z.int().check(z.minimum(0), z.maximum(100_000_000));

/** The request of this row is about to be sent; `asks` identifies what the row asked for. */
const sending = z.object({ row, asks: z.number() });
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
const entry = z.union([settled, sending]);
export type Entry = z.infer<typeof entry>;

/** Called with each line after the heading, and with its place in the file. */
export type Replay = (entry: Entry, offset: number, length: number) => void;

export const isSettled = (entry: Entry): entry is Settled => "status" in entry;

const CHUNK = 1 << 20;
const NEWLINE = 0x0a;

/** Creates a journal with its heading, whole or not at all: a kill must not leave one without a heading. */
export function beginJournal(path: string, head: Omit<Heading, "paylink">): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const line = `${JSON.stringify({ paylink: "bulk journal", ...head })}\n`;
  writeFileSync(`${path}.new`, line, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
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

/** The heading of a journal; undefined if there is no journal, or none with a heading. */
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

/** The outcome that one line holds. */
export const parseSettled = (path: string, line: string): Settled => parseLine(path, line, settled);

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
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
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
