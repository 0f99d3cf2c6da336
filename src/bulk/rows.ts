/** Reads a list of links, CSV or JSON lines, row by row in constant memory, as often as needed. */
import { createReadStream, createWriteStream, realpathSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CsvError, parse } from "csv-parse";
import { hint, PaylinkError, type Problem } from "../domain/errors.ts";
import { isJsonObject, joinPath, type Json, type JsonObject } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { systemReason } from "../domain/system-reason.ts";
import { makeFolder } from "../store/folders.ts";
import { createSpelling, repeatedFields, columnOf, type Cell, type Column, type Row } from "./row.ts";

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
  makeFolder(folder);
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

// CSV (RFC 4180 and spreadsheet variants): any line end; comma, semicolon or tab.

/** Characters of one record. Without a limit, an open quote would make the rest of the file one record. */
const MAX_RECORD = 1_000_000;

type Delimiter = "," | ";" | "\t";

/** The most frequent delimiter of the header line outside quotes. */
function delimiterOf(head: string): Delimiter {
  const [line = ""] = head.replace(/"(?:[^"]|"")*"/g, "").split(/[\r\n]/, 1);
  const count = (delimiter: string): number => line.split(delimiter).length;
  const [most = ","] = ([",", ";", "\t"] as const).toSorted((a, b) => count(b) - count(a));
  return most;
}

async function* csvRows(text: AsyncIterable<string>, delimiter: Delimiter): AsyncGenerator<Row> {
  let index = 0;
  let columns: readonly Column[] | undefined;
  for await (const batch of records(text, delimiter)) {
    for (const { line, cells } of batch) {
      // Spreadsheets end a list with rows that contain only delimiters.
      if (cells.every((cell) => cell.trim() === "")) continue;
      if (columns === undefined) columns = header(cells, line);
      else yield csvRow(cells, columns, index++, line);
    }
  }
}

interface CsvRecord {
  /** The line on which it begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

const lineBreaks = (cell: string): number =>
  cell.includes("\n") || cell.includes("\r") ? (cell.match(/\r\n|\r|\n/g)?.length ?? 0) : 0;

/** The records of each chunk. A short row is one bad row, so the parser must accept any number of columns. */
async function* records(text: AsyncIterable<string>, delimiter: Delimiter): AsyncGenerator<CsvRecord[]> {
  let line = 1;
  const read: CsvRecord[] = [];
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    max_record_size: MAX_RECORD,
    // Lines are counted here, because the parser counts CRLF in a quoted cell twice.
    on_record: (cells) => {
      read.push({ line, cells });
      line += cells.reduce((sum, cell) => sum + lineBreaks(cell), 1);
      return null;
    },
  });
  // The callback of the write gets the error.
  parser.on("error", () => undefined);
  let failure: Error | null | undefined;
  const parsed = async (write: (done: (error?: Error | null) => void) => void): Promise<CsvRecord[]> => {
    failure = await new Promise(write);
    return read.splice(0);
  };
  for await (const chunk of text) {
    yield await parsed((done) => parser.write(chunk, done));
    if (failure instanceof Error) break;
  }
  if (!(failure instanceof Error)) yield await parsed((done) => parser.end(done));
  if (failure instanceof Error) throw unusable(failure, line);
}

function unusable(error: unknown, line: number): unknown {
  if (!(error instanceof CsvError)) return error;
  return new PaylinkError("usage", `Nothing was sent. The file is not valid CSV from line ${line} on.`, {
    problems: [{ at: `line ${line}`, message: csvProblem(error) }],
    cause: error,
  });
}

function csvProblem({ code }: CsvError): string {
  if (code === "CSV_QUOTE_NOT_CLOSED") return "opens a quote that is not closed";
  if (code === "CSV_MAX_RECORD_SIZE") return `is longer than ${MAX_RECORD} characters: is a quote left open?`;
  return 'has a quote inside a cell: quote the whole cell, and double the quotes in it ("say ""hi""")';
}

function header(record: readonly string[], line: number): readonly Column[] {
  const columns = ownNames(record).map(columnOf);
  const twice = repeatedFields(columns);
  if (twice.length > 0)
    throw new PaylinkError("usage", "Nothing was sent. The header names a field twice.", {
      problems: twice.map((field) => ({ at: `line ${line}, ${field}`, message: "must be one column" })),
    });
  const misspelled = createSpelling()(columns);
  if (misspelled.length > 0)
    throw new PaylinkError("usage", "Nothing was sent. The header has a misspelled field.", {
      problems: misspelled.map(({ at, message }) => ({ at: `line ${line}, ${at}`, message })),
      hints: [hint`Correct the name. A column of your own needs a name that is less like a field.`],
    });
  if (columns.every(({ field }) => field === undefined))
    throw new PaylinkError("usage", "Nothing was sent. The header has no field of a request.", {
      problems: [
        { at: `line ${line}`, message: "must have column names such as amount, currency, customerName" },
      ],
    });
  return columns;
}

/** Gives every column a unique name, so that the results contain all columns. */
function ownNames(record: readonly string[]): string[] {
  const names: string[] = [];
  for (const [place, spelled] of record.entries()) {
    const name = spelled.trim() === "" ? `column ${place + 1}` : spelled.trim();
    const isField = columnOf(name).field !== undefined;
    names.push(!isField && names.includes(name) ? `${name} (column ${place + 1})` : name);
  }
  return names;
}

function csvRow(record: readonly string[], columns: readonly Column[], index: number, line: number): Row {
  const cells = columns.map((column, place) => ({ column, value: record[place] ?? "" }));
  const problems: Problem[] =
    record.length === columns.length
      ? []
      : [
          {
            at: "",
            message: `has ${record.length} ${record.length === 1 ? "column" : "columns"}, but the header has ${columns.length}`,
          },
        ];
  return { index, line, cells, problems };
}

// JSON lines: one object per line, nested like the request or flat with dots.

async function* jsonRows(text: AsyncIterable<string>): AsyncGenerator<Row> {
  let line = 0;
  let index = 0;
  const misspelled = createSpelling();
  for await (const json of lines(text)) {
    line++;
    if (json.trim() !== "") yield jsonRow(json, index++, line, misspelled);
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

function jsonRow(json: string, index: number, line: number, misspelled: Misspelled): Row {
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
