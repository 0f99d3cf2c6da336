/** The results of a run: all rows in their order, each with its link or its error, in a file that is replaced as a whole. */
import { createHash, hash } from "node:crypto";
import {
  accessSync,
  appendFileSync,
  constants,
  createReadStream,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { stringify } from "csv-stringify";
import { hint, type Hint, PaylinkError } from "../domain/errors.ts";
import { isJsonNumber, type Json, type JsonObject, stringifyJson } from "../domain/json.ts";
import { hasCode, systemReason } from "../domain/system-reason.ts";
import { safeJson, safeText } from "../render/safe-text.ts";
import { makeFolder } from "../store/folders.ts";
import type { Checked } from "./check-rows.ts";
import type { Outcome, Status } from "./memory.ts";
import type { Row } from "./row.ts";
import type { Rows } from "./rows.ts";

/** The outcome of a row; `invalid` if it cannot be sent, `sent_before` if it was sent from another list. */
export type Result = Outcome<Status | "invalid" | "sent_before">;

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
    escape_formulas: true,
  });
  const withBeginning = (chunks: AsyncIterable<Uint8Array>) => sink(begun(rows, chunks));
  await pipeline(Readable.from(csvRecords(rows, checked, resultOf)), csv, withBeginning);
}

/** The results begin as the list does, so that the spreadsheet of the list opens them too. */
async function* begun(
  { mark, namesDelimiter, delimiter }: Rows,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${mark ? "\uFEFF" : ""}${namesDelimiter ? `sep=${delimiter}\n` : ""}`);
  yield* chunks;
}

export const isCsv = (path: string): boolean => /\.csv$/i.test(path);
export const isJsonLines = (path: string): boolean => /\.(?:jsonl|ndjson)$/i.test(path);

/** If the list has its own column `id`, the column of the link is `link_id`. */
function resultNames(columns: Checked["columns"]): Readonly<Record<ResultColumn, string>> {
  const used = new Set([...columns.keys()].map((name) => name.toLowerCase()));
  const name = (column: ResultColumn): string => (used.has(column) ? `link_${column}` : column);
  return { id: name("id"), url: name("url"), status: name("status"), error: name("error") };
}

type ResultOf = ResultParts["resultOf"];

async function* csvRecords(rows: Rows, { columns }: Checked, resultOf: ResultOf): AsyncGenerator<string[]> {
  const places = new Map([...columns.keys()].map((name, place) => [name, place]));
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
function harmless(name: ResultColumn, text: string): string {
  // Spaces at the start must not hide a formula from `escape_formulas`.
  const safe = safeText(text).trimStart();
  return safe.replace(
    /([,;])(\s*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g,
    (_, separator: string, spaces: string) =>
      name === "url" ? `${encodeURIComponent(separator)}${spaces}` : `${separator}${spaces}'`,
  );
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
    yield Buffer.from(`${safeJson(stringifyJson({ ...own, ...Object.fromEntries(members) }))}\n`);
  }
}

const objectOf = ({ cells }: Row): JsonObject =>
  Object.fromEntries(cells.map(({ column, value }) => [column.name, value]));

export interface ResultsFile {
  readonly path: string;
  readonly written: WrittenResults;
  /** Whether any file may be replaced. */
  readonly force: boolean;
}

/** Throws `usage` unless results can be written to the file. `input` is the list's own path. */
export async function requireWritable({ path, written, force }: ResultsFile, input: string): Promise<void> {
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
  if (force) return;
  const mayReplace = await written.mayReplace(path).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  if (!mayReplace)
    refuse(
      "exists already, and paylink did not write it or it was edited since",
      hint`To overwrite it: --force`,
      hint`To keep it, give another file: --output <file>`,
    );
}

/**
 * Writes a draft and renames it, so that the file always has either all new results or all old ones. The draft is a new
 * file with a name of its own: it never follows a link that somebody put there.
 */
export function fileSink({ path, written, force }: ResultsFile, id: string): Sink {
  const draft = `${path}.${id}.part`;
  return async (chunks) => {
    const digest = createHash("sha256");
    const digesting = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of source) {
        digest.update(chunk);
        yield chunk;
      }
    };
    const file = await open(draft, "wx").catch((error: unknown) => {
      throw unwritable(path, error);
    });
    try {
      await pipeline(chunks, digesting, file.createWriteStream());
      if (!force && !(await written.mayReplace(path)))
        throw new Error("another program has changed the file");
      written.record(path, digest.digest("hex"));
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

export interface WrittenResults {
  /** Whether the file has the bytes that paylink wrote, or does not exist. */
  readonly mayReplace: (path: string) => Promise<boolean>;
  /** Call it before the file is replaced: a kill in between must leave a file that the next run may replace. */
  readonly record: (path: string, digest: string) => void;
}

export function openWrittenResults(folder: string): WrittenResults {
  const recordOf = (path: string): string =>
    join(folder, hash("sha256", join(realpathSync(dirname(path)), basename(path))));
  return {
    mayReplace: async (path) => {
      const digest = await digestOfFile(path);
      return digest === undefined || linesOf(recordOf(path)).includes(digest);
    },
    record: (path, digest) => {
      makeFolder(folder);
      appendFileSync(recordOf(path), `${digest}\n`, { mode: 0o600 });
    },
  };
}

async function digestOfFile(path: string): Promise<string | undefined> {
  const digest = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) digest.update(chunk as Uint8Array);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  return digest.digest("hex");
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}
