/** Reads a list of links, CSV or JSON lines, row by row, as often as needed. */
import { CsvError, parse } from "csv-parse";
import { hint, PaylinkError } from "../domain/errors.ts";
import { isJsonObject, joinPath, type Json, type JsonObject } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { Columns, misnamed, repeatedFields, type Column } from "./columns.ts";
import { decode, headOf, type OpenBytes } from "./input.ts";
import type { Cell, Row } from "./row.ts";

export interface Rows {
  readonly format: "csv" | "json lines";
  readonly delimiter: string;
  /** What spreadsheets write before the header and expect there: a byte order mark, a line that names the delimiter (`sep=;`). */
  readonly beginning: string;
  read(): AsyncIterable<Row>;
}

export async function openRows(open: OpenBytes, columns = new Columns()): Promise<Rows> {
  const { text, mark } = await headOf(open);
  if (/^\s*\{/.test(text)) {
    const read = (): AsyncIterable<Row> => jsonRows(decode(open()), columns);
    return { format: "json lines", delimiter: ",", beginning: mark, read };
  }
  if (/^\s*\[\s*[{\]]/.test(text))
    throw new PaylinkError("usage", "Nothing was sent. The list is one JSON array.", {
      hints: [hint`Write one object a line: jq -c '.[]' list.json > list.jsonl`],
    });
  const [, named] = DELIMITER_LINE.exec(text) ?? [];
  const delimiter = named ?? delimiterOf(text);
  const naming = named === undefined ? "" : `sep=${named}\n`;
  const read = (): AsyncIterable<Row> => csvRows(decode(open()), delimiter, naming === "" ? 1 : 2, columns);
  return { format: "csv", delimiter, beginning: mark + naming, read };
}

// CSV (RFC 4180 and spreadsheet variants): any line end; comma, semicolon or tab.

/** Characters of one record. Without a limit, an open quote would make the rest of the file one record. */
const MAX_RECORD = 1_000_000;

const DELIMITER_LINE = /^"?sep=([^\w\s"]|\t)"?[\r\n]/i;

/** The most frequent delimiter of the header line outside quotes. */
function delimiterOf(head: string): string {
  const [line = ""] = head.replace(/"(?:[^"]|"")*"/g, "").split(/[\r\n]/, 1);
  const count = (delimiter: string): number => line.split(delimiter).length;
  const [most = ","] = [",", ";", "\t"].toSorted((a, b) => count(b) - count(a));
  return most;
}

async function* csvRows(
  text: AsyncIterable<string>,
  delimiter: string,
  firstLine: number,
  names: Columns,
): AsyncGenerator<Row> {
  let index = 0;
  let columns: readonly Column[] | undefined;
  for await (const batch of records(text, delimiter)) {
    for (const { line, cells } of batch) {
      // Spreadsheets end a list with rows that contain only delimiters.
      if (cells.every((cell) => cell.trim() === "")) continue;
      if (line < firstLine) continue;
      if (columns === undefined) columns = header(cells, line, names);
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
async function* records(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<CsvRecord[]> {
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

function header(record: readonly string[], line: number, names: Columns): readonly Column[] {
  const columns = ownNames(record, names);
  const problems = [
    ...repeatedFields(columns).map((field) => ({ at: field, message: "must be one column" })),
    ...misnamed(columns),
  ].map(({ at, message }) => ({ at: `line ${line}, ${at}`, message }));
  const unused = names.unused(columns.map(({ name }) => name));
  if (problems.length > 0 || unused.length > 0)
    throw new PaylinkError("usage", "Nothing was sent. The columns cannot be read without guessing.", {
      problems: [...problems, ...unused],
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
function ownNames(record: readonly string[], names: Columns): Column[] {
  const columns: Column[] = [];
  for (const [place, spelled] of record.entries()) {
    const name = spelled.trim() === "" ? `column ${place + 1}` : spelled.trim();
    const column = names.named(name);
    const isRepeated = column.field === undefined && columns.some((other) => other.name === name);
    columns.push(isRepeated ? names.named(`${name} (column ${place + 1})`) : column);
  }
  return columns;
}

function csvRow(record: readonly string[], columns: readonly Column[], index: number, line: number): Row {
  const cells = columns.map((column, place) => ({ column, value: record[place] ?? "" }));
  const own = `${record.length} ${record.length === 1 ? "column" : "columns"}`;
  const message = `has ${own}, but the header has ${columns.length}`;
  return { index, line, cells, problems: record.length === columns.length ? [] : [{ at: "", message }] };
}

// JSON lines: one object per line, nested like the request or flat with dots.

async function* jsonRows(text: AsyncIterable<string>, columns: Columns): AsyncGenerator<Row> {
  let line = 0;
  let index = 0;
  for await (const json of lines(text)) {
    line++;
    if (json.trim() !== "") yield jsonRow(json, index++, line, columns);
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

function jsonRow(json: string, index: number, line: number, names: Columns): Row {
  const parsed = parseJson(json, { isOneLine: true });
  const invalid = (message: string): Row => ({ index, line, cells: [], problems: [{ at: "", message }] });
  if (!parsed.ok) return invalid(parsed.message);
  const { value, duplicates } = parsed.value;
  if (!isJsonObject(value)) return invalid("must be a JSON object");
  const cells = [...leaves(value, names)];
  const columns = cells.map(({ column }) => column);
  const repeated = new Set([...duplicates, ...repeatedFields(columns)]);
  return {
    index,
    line,
    cells,
    object: value,
    problems: [...[...repeated].map((at) => ({ at, message: "is given twice" })), ...misnamed(columns)],
  };
}

/** One cell for each value. An object in the place of a single-value field is a value itself. */
function* leaves(object: JsonObject, names: Columns, path = ""): Generator<Cell> {
  for (const [name, value] of Object.entries(object)) {
    const column = names.named(joinPath(path, name));
    if (isNested(value) && column.field === undefined) yield* leaves(value, names, column.name);
    else yield { column, value };
  }
}

const isNested = (value: Json): value is JsonObject => isJsonObject(value) && Object.keys(value).length > 0;
