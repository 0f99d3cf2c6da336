/** The results of a run: all rows in their order, each with its link or its error. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { stringify } from "csv-stringify";
import { isJsonNumber, stringifyJson, type Json, type JsonObject } from "../domain/json.ts";
import type { Checked } from "./check-rows.ts";
import type { Outcome, Status } from "./outcome.ts";
import type { Row } from "./row.ts";
import type { Rows } from "./rows.ts";

/** The outcome of a row; `invalid` if it cannot be sent, `sent_before` if it was sent from another list. */
export type Result = Omit<Outcome, "status"> & {
  readonly status: Status | "invalid" | "sent_before";
};

const RESULT_COLUMNS = ["id", "url", "status", "error"] as const;
type ResultColumn = (typeof RESULT_COLUMNS)[number];

interface ResultParts {
  readonly rows: Rows;
  readonly checked: Checked;
  readonly resultOf: (row: Row) => Result;
}

/** Accepts the bytes of the results. */
export type Sink = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

export async function writeResults(
  format: Rows["format"],
  { rows, checked, resultOf }: ResultParts,
  sink: Sink,
): Promise<void> {
  const names = resultNames(checked.columns);
  if (format === "json lines") {
    await sink(jsonLines(rows, names, resultOf));
    return;
  }
  const columns = [...checked.columns.keys(), ...RESULT_COLUMNS.map((column) => names[column])];
  const csv = stringify({
    header: true,
    columns,
    delimiter: rows.delimiter,
    bom: rows.mark,
    escape_formulas: true,
  });
  await pipeline(Readable.from(csvRecords(rows, checked, resultOf)), csv, sink);
}

export const isCsv = (path: string): boolean => /\.csv$/i.test(path);
export const isJsonLines = (path: string): boolean => /\.(?:jsonl|ndjson)$/i.test(path);

/** If the list has its own column `id`, the column of the link is `link_id`. */
function resultNames(columns: ReadonlyMap<string, boolean>): Readonly<Record<ResultColumn, string>> {
  const taken = new Set([...columns.keys()].map((name) => name.toLowerCase()));
  const name = (column: ResultColumn): string => (taken.has(column) ? `link_${column}` : column);
  return { id: name("id"), url: name("url"), status: name("status"), error: name("error") };
}

type ResultOf = ResultParts["resultOf"];

async function* csvRecords(rows: Rows, { columns }: Checked, resultOf: ResultOf): AsyncGenerator<string[]> {
  const places = new Map([...columns.keys()].map((name, place) => [name, place]));
  for await (const row of rows.read()) {
    const record = Array.from({ length: columns.size }, () => "");
    for (const { column, value } of row.cells) record[places.get(column.name) ?? 0] = textOf(value);
    const result = resultOf(row);
    yield [...record, ...RESULT_COLUMNS.map((name) => result[name] ?? "")];
  }
}

/** A cell has text, a number in its spelling, or any other JSON as JSON. */
function textOf(value: Json): string {
  if (typeof value === "string") return value;
  if (value === null) return "";
  return isJsonNumber(value) ? value.value : stringifyJson(value);
}

async function* jsonLines(
  rows: Rows,
  names: Readonly<Record<ResultColumn, string>>,
  resultOf: ResultOf,
): AsyncGenerator<Uint8Array> {
  for await (const row of rows.read()) {
    const result = resultOf(row);
    const own = row.object ?? objectOf(row);
    const members = RESULT_COLUMNS.map((name) => [names[name], result[name]]);
    yield Buffer.from(`${stringifyJson({ ...own, ...Object.fromEntries(members) })}\n`);
  }
}

const objectOf = ({ cells }: Row): JsonObject =>
  Object.fromEntries(cells.map(({ column, value }) => [column.name, value]));
