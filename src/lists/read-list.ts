/** Reads a list, CSV or JSON lines, once: its bytes become a header and rows of cells, each with the line that it begins on. */
import { plural } from "../values/plural.ts";
import { CsvError } from "csv-parse";
import { NO_PROBLEMS, PaylinkError, type Problem } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { isJsonObject, joinPath, type Json, type JsonObject } from "../values/json.ts";
import { parseJson } from "../values/parse-json.ts";
import { lostLettersProblem } from "../values/typed-text.ts";
import { cellText } from "./cells.ts";
import { DATE_CELL, moneyInOf, saysStates } from "./column-words.ts";
import { Columns, leftOut, misnamed, repeatedFields, repetitionsIn, type Column } from "./columns.ts";
import { type CsvDialect, type Quotes, recordsOf, textOfCell } from "./csv.ts";
import { delimiterOf, firstRecords, headerBelow, isBlank, isEven, spelledName } from "./header.ts";
import { decode, headOf, textFromLine } from "./list-text.ts";

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
  /** Why the columns cannot be read without guessing: the rows are then read as far as they can be. */
  readonly problems: readonly Problem[];
}

export interface ReadListOptions {
  /** Ends the reading. */
  readonly signal?: AbortSignal;
  /** The line of the header, from 1, where text stands above it. */
  readonly headerLine?: number | undefined;
}

/**
 * Throws `file_unreadable` if the bytes are no text in UTF-8, and `usage` if they are no CSV or JSON lines. What is wrong with the
 * columns is among the problems of the list, and what is wrong with one row among those of the row.
 */
export async function readList(
  bytes: Uint8Array,
  columns = new Columns(),
  { signal = new AbortController().signal, headerLine }: ReadListOptions = {},
): Promise<List> {
  const { text, mark } = headOf(bytes);
  if (/^\s*\{/.test(text)) return readJsonLines({ bytes, columns, signal }, mark);
  if (/^\s*\[\s*[{\]]/.test(text))
    throw new PaylinkError("usage", "The list is one JSON array.", {
      hints: [hint`Write one object a line: jq -c '.[]' list.json > list.jsonl`],
    });
  const [, named] = DELIMITER_LINE.exec(text) ?? [];
  const marks = DELIMITERS_LINE.test(text) ? 1 : 0;
  const problems = marks === 1 && named === undefined ? [SEVERAL_DELIMITERS] : [];
  const below =
    headerLine === undefined ? headerBelow(headOf(textFromLine(bytes, marks + 1)), columns) : undefined;
  const line = headerLine ?? marks + (below ?? 1);
  if (below !== undefined)
    problems.push({
      at: `line ${line}`,
      message: `looks like the header: leave out what stands above it with --header-line ${line}`,
    });
  const from = textFromLine(bytes, line);
  if (headerLine !== undefined && from.length === 0)
    throw new PaylinkError("usage", `The list ends above line ${headerLine}, which --header-line names.`);
  const head = headOf(from);
  const lines = { bytes: from, columns, signal };
  const readWith = async (quotes: Quotes): Promise<List> => {
    const delimiter = named ?? (await delimiterOf(head, columns, quotes));
    const list = await readCsv(lines, { delimiter, quotes }, line);
    const beginning = named === undefined ? mark : `${mark}sep=${named}\n`;
    return { ...list, beginning, problems: [...problems, ...list.problems] };
  };
  try {
    return await readWith("strict");
  } catch (error) {
    if (!(error instanceof PaylinkError && error.cause instanceof CsvError)) throw error;
    return readWith("formulas");
  }
}

const SEVERAL_DELIMITERS: Problem = {
  at: "line 1",
  message: "must name one character that separates the cells, such as sep=;",
};

/** The list, if its columns can be read without guessing; else throws `usage`. */
export function requireColumns(list: List): List {
  if (list.problems.length === 0) return list;
  throw new PaylinkError("usage", "The columns cannot be read without guessing.", {
    problems: list.problems,
  });
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

/** The first line says which character separates cells, as spreadsheets read it; `sep=;,` names several. */
const DELIMITER_LINE = /^"?sep=([^\w\s"]|\t)"?[\r\n]/i;
const DELIMITERS_LINE = /^"?sep=/i;

interface Lines {
  readonly bytes: Uint8Array;
  readonly columns: Columns;
  readonly signal: AbortSignal;
}

/** `firstLine` is the number of the first line of the text. */
async function readCsv(
  { bytes, columns: names, signal }: Lines,
  dialect: CsvDialect,
  firstLine: number,
): Promise<Omit<List, "beginning">> {
  let columns: Column[] | undefined;
  let headerLine = firstLine;
  const rows: ListRow[] = [];
  for await (const records of recordsOf(decode(bytes), dialect, firstLine)) {
    signal.throwIfAborted();
    for (const { line, cells } of records) {
      if (isBlank(cells)) continue;
      if (columns === undefined) {
        columns = ownNames(cells, names);
        headerLine = line;
      } else rows.push(csvRow(cells, columns, line));
    }
  }
  // What a column is depends on its cells, too. The rows have the same columns.
  columns?.splice(0, columns.length, ...byCells(columns, rows, names));
  const problems =
    columns === undefined
      ? []
      : [
          ...headerProblems(columns, headerLine, names.areSent),
          ...names.unused(columns.map(({ name }) => name)),
        ];
  return { format: "csv", delimiter: dialect.delimiter, columns: columns ?? [], rows, problems };
}

function byCells(columns: readonly Column[], rows: readonly ListRow[], names: Columns): Column[] {
  const cellAt = ({ values }: ListRow, place: number): string => cellText(values[place] ?? null).trim();
  const cellsOf = (place: number): string[] => rows.flatMap((row) => cellAt(row, place) || []);
  const isFilled = (place: number): boolean => rows.some((row) => cellAt(row, place) !== "");
  const fieldOf = ({ field, meant }: Column): string | undefined => field ?? meant;
  const saysNothing = (column: Column, place: number): boolean => {
    if (fieldOf(column) === undefined || rows.length === 0 || names.isMapped(column.name)) return false;
    const isCurrency = fieldOf(column) === "currency";
    if (!isFilled(place))
      return (
        (column.meant !== undefined && !isCurrency) ||
        columns.some((other, at) => fieldOf(other) === fieldOf(column) && isFilled(at))
      );
    // In German, `Valuta` is the day of a booking.
    if (!isCurrency || cellsOf(place).every((cell) => DATE_CELL.test(cell))) return isCurrency;
    return columns
      .slice(0, place)
      .some(
        (other, at) =>
          fieldOf(other) === "currency" && rows.every((row) => cellAt(row, at) === cellAt(row, place)),
      );
  };
  const kept = columns.map((column, place) => (saysNothing(column, place) ? leftOut(column.name) : column));
  return names.together(kept, isFilled).map((column, place): Column => {
    const isUnnamed = (fieldOf(column) ?? column.role) === undefined && !names.isMapped(column.name);
    if (isUnnamed && saysStates(column.name, cellsOf(place))) return { ...column, role: "state" };
    // Banks say the side of a line in a column without a name, or in that of its kind.
    const moneyIn =
      column.role === "kind" || (isUnnamed && column.name === numberedName(place))
        ? moneyInOf(cellsOf(place))
        : undefined;
    return moneyIn === undefined ? column : { ...column, role: "sign", moneyIn };
  });
}

/** The name of a column that has none. */
const numberedName = (place: number): string => `column ${place + 1}`;

function headerProblems(columns: readonly Column[], line: number, areSent: boolean): Problem[] {
  const problems = [
    ...repetitionsIn(columns),
    ...misnamed(columns),
    ...columns.flatMap(({ name }) => controlProblem(name, name, true)),
  ].map(({ at, message }) => ({ at: `line ${line}, ${at}`, message }));
  if (!areSent || problems.length > 0 || columns.some(({ field }) => field !== undefined)) return problems;
  return [{ at: `line ${line}`, message: "must have column names such as amount, currency, customerName" }];
}

/** Gives every column a unique name, so that the results contain all columns. */
function ownNames(record: readonly string[], names: Columns): Column[] {
  const columns: Column[] = [];
  for (const [place, spelled] of record.entries()) {
    const name = spelledName(spelled) === "" ? numberedName(place) : spelledName(spelled);
    const isRepeated = columns.some((other) => other.name === name);
    columns.push(names.named(isRepeated ? `${name} (${numberedName(place)})` : name));
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
    const own = plural(record.length, "column");
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
  const problems = rows.length === 0 ? [] : names.unused([...columns].map(({ name }) => name));
  return { format: "json lines", delimiter: ",", beginning, columns: [...columns], rows, problems };
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
  const columns = names.together(cells.map(([column]) => column));
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
    if (isNested(value) && (column.field === undefined || !names.isField(column.name)))
      yield* leaves(value, names, column.name);
    else yield [column, value];
  }
}

const isNested = (value: Json): value is JsonObject => isJsonObject(value) && Object.keys(value).length > 0;
