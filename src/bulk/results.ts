/** The results of a run: all rows in their order, each with its link or its error, in a file that is replaced as a whole. */
import { accessSync, constants, createReadStream, realpathSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { stringify } from "csv-stringify";
import { hint, type Hint, PaylinkError } from "../domain/errors.ts";
import { stringifyJson } from "../domain/json.ts";
import { systemReason } from "../domain/system-reason.ts";
import { safeJson, safeText } from "../render/safe-text.ts";
import type { Checked } from "./check-rows.ts";
import { headOf } from "./input.ts";
import { textOf, type Row } from "./row.ts";
import type { Rows } from "./rows.ts";
import type { Result } from "./sent-rows.ts";

const RESULT_COLUMNS = ["id", "url", "status", "error"] as const;

interface ResultParts {
  readonly rows: Rows;
  readonly checked: Pick<Checked, "columns">;
  readonly resultOf: (row: Row) => Result;
}

/** Accepts the bytes of the results. */
export type Sink = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

export async function writeResults(format: Rows["format"], parts: ResultParts, sink: Sink): Promise<void> {
  if (format === "json lines") return sink(jsonLines(parts));
  const { rows, checked } = parts;
  const columns = [...checked.columns, ...resultNames(checked.columns)];
  const csv = stringify({ header: true, columns, delimiter: rows.delimiter, escape_formulas: true });
  await pipeline(
    Readable.from(csvRecords(parts)),
    csv,
    // The results begin as the list does, so that the spreadsheet of the list opens them too.
    async function* (chunks: AsyncIterable<Uint8Array>) {
      yield Buffer.from(rows.beginning);
      yield* chunks;
    },
    sink,
  );
}

/** If the list has its own column `id`, the column of the link is `link_id`. */
function resultNames(columns: Checked["columns"]): string[] {
  const used = new Set([...columns].map((name) => name.toLowerCase()));
  return RESULT_COLUMNS.map((column) => (used.has(column) ? `link_${column}` : column));
}

async function* csvRecords({ rows, checked, resultOf }: ResultParts): AsyncGenerator<string[]> {
  const { columns } = checked;
  const places = new Map([...columns].map((name, place) => [name, place]));
  for await (const row of rows.read()) {
    const record = Array.from({ length: columns.size }, () => "");
    for (const { column, value } of row.cells) record[places.get(column.name) ?? 0] = textOf(value);
    const result = resultOf(row);
    yield [...record, ...RESULT_COLUMNS.map((name) => harmless(name, result[name] ?? ""))];
  }
}

/**
 * A spreadsheet of another country splits at the other separator, whatever the quotes: what follows must be no formula. In
 * a URL, the separator is escaped. A file is shown with `cat` too.
 */
function harmless(name: (typeof RESULT_COLUMNS)[number], text: string): string {
  // Spaces at the start must not hide a formula from `escape_formulas`.
  const safe = safeText(text).trimStart();
  return safe.replace(
    /([,;])(\s*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g,
    (_, separator: string, spaces: string) =>
      name === "url" ? `${encodeURIComponent(separator)}${spaces}` : `${separator}${spaces}'`,
  );
}

async function* jsonLines({ rows, checked, resultOf }: ResultParts): AsyncGenerator<Uint8Array> {
  const names = resultNames(checked.columns);
  for await (const row of rows.read()) {
    const own = row.object ?? Object.fromEntries(row.cells.map(({ column, value }) => [column.name, value]));
    const result = resultOf(row);
    const members = RESULT_COLUMNS.map((column, place) => [names[place], result[column] ?? undefined]);
    yield Buffer.from(`${safeJson(stringifyJson({ ...own, ...Object.fromEntries(members) }))}\n`);
  }
}

/** Throws `usage` unless results can be written to the file: with `force`, over any other. `input` is the list's own path. */
export async function requireWritable(path: string, force: boolean, input: string): Promise<void> {
  const refuse = (reason: string, ...hints: readonly Hint[]): never => {
    throw new PaylinkError("usage", `--output ${path} ${reason}. Nothing was sent.`, { hints });
  };
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing !== undefined && realpathSync(path) === input) refuse("must not be the list itself");
  if (existing?.isFile() === false) refuse("must be a file");
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch {
    refuse("must be in a folder that paylink can write to");
  }
  if (!force && existing !== undefined && !(await hasResults(path)))
    refuse(
      "exists already, and does not hold results of bulk",
      hint`To overwrite it: --force`,
      hint`To keep it, give another file: --output <file>`,
    );
}

/** The columns of the link at the end of a header, whatever separates them. */
const RESULT_HEADER = /(?:link_)?id([^\w\s]|\t)(?:link_)?url\1(?:link_)?status\1(?:link_)?error$/;
/** The same at the end of a JSON line; without an outcome, members are left out. */
const RESULT_LINE =
  /^\{.*"(?:link_)?status":"(?:created|refused|not_reached|unknown|not_sent|invalid)"[^{]*\}$/;

/** Whether the file is empty, or begins as results do. */
async function hasResults(path: string): Promise<boolean> {
  const { text } = await headOf(() => createReadStream(path)).catch((error: unknown) => {
    if (error instanceof PaylinkError) return { text: "other" };
    throw unwritable(path, error);
  });
  const lines = text.split(/\r?\n/, 2).filter((line) => !line.startsWith("sep="));
  const [first = ""] = lines;
  return text === "" || RESULT_HEADER.test(first) || RESULT_LINE.test(first);
}

/**
 * Writes a draft and renames it, so that the file always has either all new results or all old ones. The draft is a new
 * file with a name of its own, for its owner only: it never follows a link that somebody put there.
 */
export function fileSink(path: string, id: string): Sink {
  const draft = `${path}.${id}.part`;
  return async (chunks) => {
    const file = await open(draft, "wx", 0o600).catch((error: unknown) => {
      throw unwritable(path, error);
    });
    try {
      await pipeline(chunks, file.createWriteStream());
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error instanceof PaylinkError ? error : unwritable(path, error);
    }
  };
}

const unwritable = (path: string, error: unknown): PaylinkError =>
  new PaylinkError("file_unwritable", `Cannot write the results to ${path}: ${systemReason(error)}.`, {
    hints: [
      hint`paylink remembers all results. Run the same command again with another --output: no row is sent twice.`,
    ],
    cause: error,
  });
