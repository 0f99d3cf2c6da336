/** Where the header of a list in CSV is, and what splits its cells. */
import { PaylinkError } from "../domain/errors.ts";
import { type Column, type Columns } from "./columns.ts";
import { type CsvDialect, type Quotes, recordsOf, textOfCell } from "./csv.ts";
import type { ListHead } from "./list-text.ts";

const DELIMITERS = [",", ";", "\t", "|"];

/** Records at the beginning that show which delimiter a list has. */
const SAMPLE = 50;

/** What splits the first records most evenly; of two such, the one with more columns that are fields, then with more columns. */
export async function delimiterOf(head: ListHead, names: Columns, quotes: Quotes): Promise<string> {
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

export const isEven = (cells: readonly string[], header: readonly string[]): boolean =>
  cells.length === header.length || cells.slice(header.length).every((cell) => cell.trim() === "");

/** The records that the beginning holds whole. What is no CSV with this delimiter has none from there on. */
export async function firstRecords(
  { text: head, isCut }: ListHead,
  dialect: CsvDialect,
): Promise<string[][]> {
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
export const isBlank = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === "");

/** A name of a column, without white space around it. */
export const spelledName = (name: string): string => textOfCell(name).trim();

/** Lines above a header, at most: titles, accounts, periods. */
const MOST_ABOVE = 40;

const isKnown = ({ field, meant, role }: Column): boolean => (field ?? meant ?? role) !== undefined;

/**
 * The line, from 1, that looks like the header where the first line does not: a report has a title above it, a bank the name of the
 * account. Undefined if the first line may be the header.
 */
export function headerBelow({ text }: ListHead, names: Columns): number | undefined {
  // A name of the header goes on in the next line.
  if ((/^[^\r\n]*/.exec(text)?.[0].split('"').length ?? 1) % 2 === 0) return undefined;
  const known = text
    .split(/\r\n|\r|\n/, MOST_ABOVE + 1)
    .map((line) => Math.max(...DELIMITERS.map((delimiter) => knownColumns(line, delimiter, names))));
  const [first = 0, ...below] = known;
  const most = Math.max(0, ...below);
  return first < 2 && most >= 2 ? below.indexOf(most) + 2 : undefined;
}

/** Of a line that is split at every delimiter, in quotes too: columns of the same meaning count once. */
const knownColumns = (line: string, delimiter: string, names: Columns): number =>
  new Set(
    line
      .split(delimiter)
      .map((cell) => names.named(spelledName(cell.replace(/^\s*"(.*)"\s*$/, "$1"))))
      .flatMap((column) => (isKnown(column) ? (column.field ?? column.meant ?? column.role) : [])),
  ).size;
