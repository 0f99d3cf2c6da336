/** Reads the rows of a CSV file (RFC 4180 and spreadsheet variants): any line end; comma, semicolon or tab. */
import { CsvError, parse } from "csv-parse";
import { hint, PaylinkError, type Problem } from "../domain/errors.ts";
import { createSpelling, repeatedFields, columnOf, type Column, type Row } from "./row.ts";

/** Characters of one record. Without a limit, an open quote would make the rest of the file one record. */
const MAX_RECORD = 1_000_000;

export type Delimiter = "," | ";" | "\t";

/** The most frequent delimiter of the header line outside quotes. */
export function delimiterOf(head: string): Delimiter {
  const [line = ""] = head.replace(/"(?:[^"]|"")*"/g, "").split(/[\r\n]/, 1);
  const count = (delimiter: string): number => line.split(delimiter).length;
  const [most = ","] = ([",", ";", "\t"] as const).toSorted((a, b) => count(b) - count(a));
  return most;
}

export async function* csvRows(text: AsyncIterable<string>, delimiter: Delimiter): AsyncGenerator<Row> {
  let index = 0;
  let columns: readonly Column[] | undefined;
  for await (const batch of records(text, delimiter)) {
    for (const { line, cells } of batch) {
      // Spreadsheets end a list with rows that contain only delimiters.
      if (cells.every((cell) => cell.trim() === "")) continue;
      if (columns === undefined) columns = header(cells, line);
      else yield rowOf(cells, columns, index++, line);
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

function rowOf(record: readonly string[], columns: readonly Column[], index: number, line: number): Row {
  const cells = columns.map((column, place) => ({ column, value: record[place] ?? "" }));
  const problems: Problem[] =
    record.length === columns.length
      ? []
      : [{ at: "", message: `has ${record.length} columns, but the header has ${columns.length}` }];
  return { index, line, cells, problems };
}
