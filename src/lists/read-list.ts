/** Reads a list, CSV or JSON lines, once: its bytes become a header and rows of cells, each with the line that it begins on. */
import { CsvError, parse, type CastingContext } from "csv-parse";
import { NO_PROBLEMS, PaylinkError, type Problem } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { isJsonObject, joinPath, type Json, type JsonObject } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { lostLettersProblem } from "../domain/typed-text.ts";
import { Columns, misnamed, repeatedFields, type Column } from "./columns.ts";
import { decode, headOf, type ListHead } from "./list-text.ts";

export interface ListRow {
  /** From 1. */
  readonly line: number;
  /** The columns of its cells: in CSV those of the header, the same for all rows. */
  readonly columns: readonly Column[];
  /** One for each column: text in CSV. */
  readonly values: readonly Json[];
  /** The object of the line, if the list is JSON lines. */
  readonly object?: JsonObject;
  /** What is wrong with the row as it is written, each at its column. */
  readonly problems: readonly Problem[];
}

export interface List {
  readonly format: "csv" | "json lines";
  readonly delimiter: string;
  /** What spreadsheets write before the header and expect there: a byte order mark, a line that names the delimiter (`sep=;`). */
  readonly beginning: string;
  /** Every column, in order of appearance. */
  readonly columns: readonly Column[];
  readonly rows: readonly ListRow[];
}

/**
 * Throws `usage` if the columns cannot be read without guessing, and `file_unreadable` if the bytes are no text in UTF-8. What
 * is wrong with one row is among its problems. `signal` ends the reading.
 */
export async function readList(
  bytes: Uint8Array,
  columns = new Columns(),
  signal = new AbortController().signal,
): Promise<List> {
  const head = headOf(bytes);
  const { text, mark } = head;
  const lines = { bytes, columns, signal };
  if (/^\s*\{/.test(text)) return readJsonLines(lines, mark);
  if (/^\s*\[\s*[{\]]/.test(text))
    throw new PaylinkError("usage", "The list is one JSON array.", {
      hints: [hint`Write one object a line: jq -c '.[]' list.json > list.jsonl`],
    });
  const [, named] = DELIMITER_LINE.exec(text) ?? [];
  const readWith = async (quotes: Quotes): Promise<List> =>
    named === undefined
      ? readCsv(lines, mark, { delimiter: await delimiterOf(head, columns, quotes), quotes }, 1)
      : readCsv(lines, `${mark}sep=${named}\n`, { delimiter: named, quotes }, 2);
  try {
    return await readWith("strict");
  } catch (error) {
    if (!(error instanceof PaylinkError && error.cause instanceof CsvError)) throw error;
    return readWith("formulas");
  }
}

/** The names of the columns alone: of CSV in the header, of JSON lines in the first line. */
export async function columnNames(bytes: Uint8Array): Promise<readonly string[]> {
  const head = headOf(bytes);
  const names = new Columns();
  if (/^\s*\{/.test(head.text)) {
    const [line = ""] = head.text.trimStart().split("\n", 1);
    return jsonRow(line, 1, names).columns.map(({ name }) => name);
  }
  const [, named] = DELIMITER_LINE.exec(head.text) ?? [];
  const delimiter = named ?? (await delimiterOf(head, names, "strict"));
  const records = await firstRecords(head, { delimiter, quotes: "strict" });
  const [header = []] = named === undefined ? records : records.slice(1);
  return header.map(spelledName);
}

interface Lines {
  readonly bytes: Uint8Array;
  readonly columns: Columns;
  readonly signal: AbortSignal;
}

// CSV (RFC 4180 and spreadsheet variants): any line end; comma, semicolon, tab or bar.

/** Characters of one record. Without a limit, an open quote would make the rest of the file one record. */
const MAX_RECORD = 1_000_000;

/** Programs write formulas that are texts without quotes around the cell (`="A-1",10`), which RFC 4180 does not know. */
type Quotes = "strict" | "formulas";

interface CsvDialect {
  readonly delimiter: string;
  readonly quotes: Quotes;
}

const DELIMITER_LINE = /^"?sep=([^\w\s"]|\t)"?[\r\n]/i;

const DELIMITERS = [",", ";", "\t", "|"];

/** Records at the beginning that show which delimiter a list has. */
const SAMPLE = 50;

/** What splits the first records most evenly; of two such, the one with more columns that are fields, then with more columns. */
async function delimiterOf(head: ListHead, names: Columns, quotes: Quotes): Promise<string> {
  const found = await Promise.all(
    DELIMITERS.map(async (delimiter) => {
      const [header = [], ...rows] = await firstRecords(head, { delimiter, quotes });
      const even = rows.filter((cells) => isEven(cells, header)).length;
      const known = header.map((name) => names.named(spelledName(name)));
      const fields = known.filter(({ field, meant }) => (field ?? meant) !== undefined).length;
      const share = even / Math.max(1, rows.length);
      return { delimiter, rank: [Number(header.length > 1), share, fields, header.length] };
    }),
  );
  const [best] = found.toSorted((one, other) => compareRanks(other.rank, one.rank));
  return best?.delimiter ?? ",";
}

const compareRanks = (one: readonly number[], other: readonly number[]): number =>
  one.map((value, at) => value - (other[at] ?? 0)).find((difference) => difference !== 0) ?? 0;

const isEven = (cells: readonly string[], header: readonly string[]): boolean =>
  cells.length === header.length || cells.slice(header.length).every((cell) => cell.trim() === "");

/** The records that the beginning holds whole. What is no CSV with this delimiter has none from there on. */
async function firstRecords({ text: head, isCut }: ListHead, dialect: CsvDialect): Promise<string[][]> {
  const found: string[][] = [];
  const text = isCut ? head.slice(0, Math.max(head.lastIndexOf("\n"), head.lastIndexOf("\r"))) : head;
  try {
    for await (const records of recordsOf(piecesOf(text), dialect)) {
      for (const { cells } of records) if (!isBlank(cells)) found.push([...cells]);
      if (found.length > SAMPLE) break;
    }
  } catch (error) {
    if (!(error instanceof PaylinkError)) throw error;
  }
  return found.slice(0, SAMPLE + 1);
}

/** Characters of the beginning that are read before the records are counted. */
const SAMPLE_PIECE = 64 * 1024;

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += SAMPLE_PIECE) yield text.slice(at, at + SAMPLE_PIECE);
}

/** Spreadsheets end a list with rows that contain only delimiters. */
const isBlank = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === "");

async function readCsv(
  { bytes, columns: names, signal }: Lines,
  beginning: string,
  dialect: CsvDialect,
  firstLine: number,
): Promise<List> {
  let columns: readonly Column[] | undefined;
  const rows: ListRow[] = [];
  for await (const records of recordsOf(decode(bytes), dialect)) {
    signal.throwIfAborted();
    for (const { line, cells } of records) {
      if (isBlank(cells) || line < firstLine) continue;
      if (columns === undefined) columns = headerOf(cells, line, names);
      else rows.push(csvRow(cells, columns, line));
    }
  }
  return { format: "csv", delimiter: dialect.delimiter, beginning, columns: columns ?? [], rows };
}

interface CsvRecord {
  /** The line on which it begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

const lineBreaks = (cell: string): number =>
  cell.includes("\n") || cell.includes("\r") ? (cell.match(/\r\n|\r|\n/g)?.length ?? 0) : 0;

/** The records of each piece. A short row is one bad row, so the parser must accept any number of columns. */
async function* recordsOf(
  text: Iterable<string> | AsyncIterable<string>,
  { delimiter, quotes }: CsvDialect,
): AsyncGenerator<CsvRecord[]> {
  let line = 1;
  const read: CsvRecord[] = [];
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    ...(quotes === "formulas" ? { relax_quotes: true, cast: requireFormula } : {}),
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
  for await (const piece of text) {
    yield await parsed((done) => parser.write(piece, done));
    if (failure instanceof Error) break;
  }
  if (!(failure instanceof Error)) yield await parsed((done) => parser.end(done));
  if (failure instanceof Error) throw unusable(failure, line);
}

function unusable(error: unknown, line: number): unknown {
  if (!(error instanceof CsvError)) return error;
  return new PaylinkError("usage", `The file is not valid CSV from line ${line} on.`, {
    problems: [{ at: `line ${line}`, message: csvProblem(error) }],
    cause: error,
  });
}

function csvProblem({ code }: CsvError): string {
  if (code === "CSV_QUOTE_NOT_CLOSED") return "opens a quote that is not closed";
  if (code === "CSV_MAX_RECORD_SIZE") return `is longer than ${MAX_RECORD} characters: is a quote left open?`;
  return 'has a quote inside a cell: quote the whole cell, and double the quotes in it ("say ""hi""")';
}

/** What spreadsheets take for the beginning of a formula; in results, an apostrophe stands before it. */
const FORMULA = /^'+(?=[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/;

/** A formula that only holds a text: programs write it so that Excel does not read the text as a number (`="005"`). */
const FORMULA_TEXT = /^="((?:[^"]|"")*)"$/;

/** The parser accepts any cell with a quote inside: only such a formula is accepted here. */
function requireFormula(cell: string, { quoting }: CastingContext): string {
  // The parser also calls a cell quoted if its quote ends early (`"A"x`), and then keeps the first quote.
  if (quoting ? cell.startsWith('"') : cell.includes('"') && !FORMULA_TEXT.test(cell))
    throw new CsvError("CSV_INVALID_CLOSING_QUOTE", "a quote inside a cell");
  return cell;
}

/** The text of a cell: without the apostrophe that results put before what looks like a formula. */
function textOfCell(cell: string): string {
  if (FORMULA.test(cell)) return cell.slice(1);
  const [, text] = cell.startsWith("=") ? (FORMULA_TEXT.exec(cell) ?? []) : [];
  return text === undefined ? cell : text.replaceAll('""', '"');
}

/** A name of a column, without white space around it. */
const spelledName = (name: string): string => textOfCell(name).trim();

function headerOf(record: readonly string[], line: number, names: Columns): readonly Column[] {
  const columns = ownNames(record, names);
  const problems = [
    ...repeatedFields(columns).map((field) => ({ at: field, message: "must be one column" })),
    ...misnamed(columns),
    ...columns.flatMap(({ name }) => controlProblem(name, name, true)),
  ].map(({ at, message }) => ({ at: `line ${line}, ${at}`, message }));
  const unused = names.unused(columns.map(({ name }) => name));
  if (problems.length > 0 || unused.length > 0)
    throw new PaylinkError("usage", "The columns cannot be read without guessing.", {
      problems: [...problems, ...unused],
    });
  if (columns.every(({ field }) => field === undefined))
    throw new PaylinkError("usage", "The header has no known column.", {
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
    const name = spelledName(spelled) === "" ? `column ${place + 1}` : spelledName(spelled);
    const column = names.named(name);
    const isRepeated = column.field === undefined && columns.some((other) => other.name === name);
    columns.push(isRepeated ? names.named(`${name} (column ${place + 1})`) : column);
  }
  return columns;
}

function csvRow(record: readonly string[], columns: readonly Column[], line: number): ListRow {
  const values = columns.map((_, place) => textOfCell(record[place] ?? ""));
  const problems = controlProblems(columns, values);
  // Programs leave out empty cells at the end, or write more of them than the header has.
  if (
    !isEven(
      record,
      columns.map(({ name }) => name),
    ) &&
    record.length > columns.length
  ) {
    const own = `${record.length} ${record.length === 1 ? "column" : "columns"}`;
    problems.push({ at: "", message: `has ${own}, but the header has ${columns.length}` });
  }
  return { line, columns, values, problems: problems.length === 0 ? NO_PROBLEMS : problems };
}

// Control characters, which no list of payments has: they are what a damaged file or an attack leaves.

const CONTROL = /\p{Cc}/u;
const CONTROL_IN_NOTES = /[^\P{Cc}\t\r\n]/u;

/** The fields that may have tabs and line ends; a column that is not sent may have them too. */
const NOTES: ReadonlySet<string> = new Set(["description", "merchantCustomData"]);

/** Letters that were lost matter only where they are sent. */
function controlProblems(columns: readonly Column[], values: readonly Json[]): Problem[] {
  const problems: Problem[] = [];
  for (const [place, value] of values.entries()) {
    const column = columns[place];
    if (typeof value !== "string" || column === undefined) continue;
    const isNote = column.field === undefined || NOTES.has(column.field);
    problems.push(...controlProblem(column.name, value, isNote));
    const lost = column.field === undefined ? undefined : lostLettersProblem(value);
    if (lost !== undefined) problems.push({ at: column.name, message: lost });
  }
  return problems;
}

/** White space around a text is not part of it; a form feed there is no white space, since it would be sent. */
function controlProblem(at: string, value: string, isNote: boolean): Problem[] {
  const [found] = CONTROL_IN_NOTES.exec(value) ?? (isNote ? undefined : CONTROL.exec(value.trim())) ?? [];
  if (found === undefined) return [];
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return [{ at, message: `must not have control characters (it has U+${code})` }];
}

// JSON lines: one object per line, nested like the request or flat with dots.

async function readJsonLines({ bytes, columns: names, signal }: Lines, beginning: string): Promise<List> {
  const rows: ListRow[] = [];
  const columns = new Set<Column>();
  let line = 0;
  for await (const json of linesOf(bytes)) {
    signal.throwIfAborted();
    line++;
    if (json.trim() === "") continue;
    const row = jsonRow(json, line, names);
    for (const column of row.columns) columns.add(column);
    rows.push(row);
  }
  const problems = names.unused([...columns].map(({ name }) => name));
  if (rows.length > 0 && problems.length > 0)
    throw new PaylinkError("usage", "The columns cannot be read without guessing.", { problems });
  return { format: "json lines", delimiter: ",", beginning, columns: [...columns], rows };
}

async function* linesOf(bytes: Uint8Array): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of decode(bytes)) {
    const [first = "", ...more] = piece.split("\n");
    rest += first;
    for (const next of more) {
      yield rest;
      rest = next;
    }
  }
  yield rest;
}

function jsonRow(json: string, line: number, names: Columns): ListRow {
  const parsed = parseJson(json, { isOneLine: true });
  const invalid = (message: string): ListRow => ({
    line,
    columns: [],
    values: [],
    problems: [{ at: "", message }],
  });
  if (!parsed.ok) return invalid(parsed.message);
  const { value: object, duplicates } = parsed.value;
  if (!isJsonObject(object)) return invalid("must be a JSON object");
  const cells = [...leaves(object, names)];
  const columns = cells.map(([column]) => column);
  const values = cells.map(([, value]) => value);
  const repeated = new Set([...duplicates, ...repeatedFields(columns)]);
  const problems = [
    ...[...repeated].map((at) => ({ at, message: "is given twice" })),
    ...misnamed(columns),
    ...controlProblems(columns, values),
  ];
  return { line, columns, values, object, problems };
}

/** One cell for each value. An object in the place of a single-value field is a value itself. */
function* leaves(object: JsonObject, names: Columns, path = ""): Generator<[Column, Json]> {
  for (const [name, value] of Object.entries(object)) {
    const column = names.named(joinPath(path, name));
    if (isNested(value) && column.field === undefined) yield* leaves(value, names, column.name);
    else yield [column, value];
  }
}

const isNested = (value: Json): value is JsonObject => isJsonObject(value) && Object.keys(value).length > 0;
