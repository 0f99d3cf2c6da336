/** Reads a list of links, CSV or JSON lines, row by row in constant memory, as often as needed. */
import { createReadStream, createWriteStream, mkdirSync, realpathSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { hint, PaylinkError, type Problem } from "../domain/errors.ts";
import { isJsonObject, joinPath, type Json, type JsonObject } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { systemReason } from "../domain/system-reason.ts";
import { csvRows, type Delimiter, delimiterOf } from "./csv-rows.ts";
import { type Cell, type Column, columnOf, createSpelling, repeatedFields, type Row } from "./row.ts";

export interface Input {
  /** The real path of the file; "-" for standard input. */
  readonly path: string;
  readonly open: OpenBytes;
  close(): Promise<void>;
}

/** Throws `file_unreadable`. */
export async function fileInput(path: string): Promise<Input> {
  try {
    const handle = await open(path, "r");
    const isFile = (await handle.stat()).isFile();
    await handle.close();
    if (!isFile) throw new Error("it is not a file");
    return { path: realpathSync(path), open: () => createReadStream(path), close: async () => undefined };
  } catch (error) {
    throw new PaylinkError(
      "file_unreadable",
      `Cannot read ${path}: ${systemReason(error)}. Nothing was sent.`,
      { cause: error },
    );
  }
}

/** Copies standard input to disk: all rows are checked before the first is sent, and stdin can be read only once. */
export async function spooledInput(
  stdin: AsyncIterable<Uint8Array>,
  folder: string,
  id: string,
): Promise<Input> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${id}.spool`);
  const remove = (): Promise<void> => rm(path, { force: true });
  try {
    await pipeline(Readable.from(stdin), createWriteStream(path, { mode: 0o600, flags: "wx" }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path: "-", open: () => createReadStream(path), close: remove };
}

/** Opens the file again for each pass. */
export type OpenBytes = () => AsyncIterable<Uint8Array>;

export interface Rows {
  readonly format: "csv" | "json lines";
  readonly delimiter: Delimiter;
  /** Whether the file begins with a byte order mark, which spreadsheets write and expect. */
  readonly mark: boolean;
  read(): AsyncIterable<Row>;
}

export async function openRows(open: OpenBytes): Promise<Rows> {
  const { head, mark } = await headOf(open);
  if (/^\s*\{/.test(head))
    return { format: "json lines", delimiter: ",", mark, read: () => jsonRows(decode(open())) };
  const delimiter = delimiterOf(head);
  return { format: "csv", delimiter, mark, read: () => csvRows(decode(open()), delimiter) };
}

const HEAD = 64 * 1024;

/** The beginning of the file, long enough for a header line. */
async function headOf(open: OpenBytes): Promise<{ head: string; mark: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of open()) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= HEAD) break;
  }
  const bytes = Buffer.concat(chunks);
  return { head: new TextDecoder().decode(bytes), mark: bytes[0] === 0xef && bytes[1] === 0xbb };
}

/** Removes a byte order mark, and refuses other encodings, which would put wrong names on links. */
async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const read = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      throw new PaylinkError("file_unreadable", "Nothing was sent. The file is not UTF-8.", {
        hints: [hint`Save it as UTF-8; a spreadsheet calls that CSV UTF-8.`],
        cause: error,
      });
    }
  };
  for await (const chunk of bytes) yield read(chunk);
  yield read();
}

export async function* jsonRows(text: AsyncIterable<string>): AsyncGenerator<Row> {
  let line = 0;
  let index = 0;
  const misspelled = createSpelling();
  for await (const json of lines(text)) {
    line++;
    if (json.trim() !== "") yield rowOf(json, index++, line, misspelled);
  }
}

async function* lines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of text) {
    const [first = "", ...more] = chunk.split("\n");
    rest += first;
    for (const next of more) {
      yield rest;
      rest = next;
    }
  }
  yield rest;
}

type Misspelled = (columns: readonly Column[]) => readonly Problem[];

function rowOf(json: string, index: number, line: number, misspelled: Misspelled): Row {
  const parsed = parseJson(json, { isOneLine: true });
  const invalid = (message: string): Row => ({ index, line, cells: [], problems: [{ at: "", message }] });
  if (!parsed.ok) return invalid(parsed.message);
  const { value, duplicates } = parsed.value;
  if (!isJsonObject(value)) return invalid("must be a JSON object");
  const cells = [...leaves(value)];
  const columns = cells.map(({ column }) => column);
  const repeated = new Set([...duplicates, ...repeatedFields(columns)]);
  return {
    index,
    line,
    cells,
    object: value,
    problems: [...[...repeated].map((at) => ({ at, message: "is given twice" })), ...misspelled(columns)],
  };
}

/** One cell for each value. An object in the place of a single-value field is a value itself. */
function* leaves(object: JsonObject, path = ""): Generator<Cell> {
  for (const [name, value] of Object.entries(object)) {
    const column = columnOf(joinPath(path, name));
    if (isNested(value) && column.field === undefined) yield* leaves(value, column.name);
    else yield { column, value };
  }
}

const isNested = (value: Json): value is JsonObject => isJsonObject(value) && Object.keys(value).length > 0;
