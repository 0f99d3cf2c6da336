/** The records of CSV as RFC 4180, spreadsheets and programs write it: each with its line, its cells with the text that they hold. */
import { CsvError, parse, type CastingContext } from "csv-parse";
import { PaylinkError } from "../domain/errors.ts";

/** Characters of one record. Without a limit, an open quote would make the rest of the file one record. */
const MAX_RECORD = 1_000_000;

/** Programs write formulas that are texts without quotes around the cell (`="A-1",10`), which RFC 4180 does not know. */
export type Quotes = "strict" | "formulas";

export interface CsvDialect {
  readonly delimiter: string;
  readonly quotes: Quotes;
}

export interface CsvRecord {
  /** The line on which it begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

const lineBreaks = (cell: string): number =>
  cell.includes("\n") || cell.includes("\r") ? (cell.match(/\r\n|\r|\n/g)?.length ?? 0) : 0;

/** The records of each piece. A short row is one bad row, so the parser must accept any number of columns. */
export async function* recordsOf(
  text: Iterable<string> | AsyncIterable<string>,
  { delimiter, quotes }: CsvDialect,
  firstLine = 1,
): AsyncGenerator<CsvRecord[]> {
  let line = firstLine;
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
export function textOfCell(cell: string): string {
  if (FORMULA.test(cell)) return cell.slice(1);
  const [, text] = cell.startsWith("=") ? (FORMULA_TEXT.exec(cell) ?? []) : [];
  return text === undefined ? cell : text.replaceAll('""', '"');
}
