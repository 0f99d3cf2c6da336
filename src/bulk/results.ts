/**
 * The results of a run: all rows in their order, each with its link or its error, in a file that is replaced as a whole; and the
 * links that such a file has when it is read again.
 */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { stringify } from "csv-stringify";
import { canonicalAddress, isWebAddress } from "../values/addresses.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, type Hint } from "../domain/hint.ts";
import { stringifyJson } from "../values/json.ts";
import { LINK_STATUSES } from "../domain/payment-link-reply.ts";
import { systemReason } from "../values/system-reason.ts";
import { syncFolder } from "../store/folders.ts";
import { csvCell, escapeFormula } from "../render/csv-cell.ts";
import { safeJson } from "../render/safe-text.ts";
import type { Column } from "../lists/columns.ts";
import type { Attempt } from "../store/sent-rows.ts";
import type { RowOutcome, Status } from "./outcome.ts";
import type { RowIdentity } from "./row.ts";
import { columnNames, type List, type ListRow } from "../lists/read-list.ts";
import { cellText } from "../lists/cells.ts";
import { ownOutputOf } from "../lists/own-output.ts";

/** The columns that a run adds to a list. */
const RESULT_COLUMNS = ["id", "url", "status", "error", "service"] as const;
type ResultColumn = (typeof RESULT_COLUMNS)[number];

type ResultNames = ReadonlyMap<ResultColumn, string>;

/** The names of the columns of results among those of all columns. In JSON lines, a row has no member without a value. */
function resultNamesIn(names: readonly string[]): ResultNames {
  const found = RESULT_COLUMNS.flatMap((column) => {
    const [name] = [`link_${column}`, column].flatMap(
      (wanted) => names.find((one) => one.toLowerCase() === wanted) ?? [],
    );
    return name === undefined ? [] : [[column, name] as const];
  });
  return new Map(found);
}

/** The columns of a list that those of results are looked for in, and its rows. */
type ListOfResults = Pick<List, "columns" | "rows">;

/**
 * Those of a list that is the results of a run; none of any other. People delete columns that they do not need: the service, and
 * one of the others, are enough, and so are all others without the service.
 */
export function resultColumnsOf({ columns, rows }: ListOfResults): ResultNames {
  const names = resultNamesIn(columns.map(({ name }) => name));
  if (isOfLinks({ columns })) return names;
  if (!isOfResults(names)) return NO_RESULTS;
  const address = names.has("service") ? "service" : "url";
  // A column of the merchant may have the name too.
  for (const row of rows) if (isWebAddress(resultText(row, names, address).replace(/ .*/, ""))) return names;
  return NO_RESULTS;
}

/** Whether a list is one of links that exist, as `links list` prints them. */
export const isOfLinks = ({ columns }: Pick<List, "columns">): boolean => ownOutputOf(columns) === "links";

const NO_RESULTS: ResultNames = new Map();

const isOfResults = (names: ResultNames): boolean =>
  names.has("service")
    ? names.has("id") || names.has("url") || names.has("status")
    : names.size === RESULT_COLUMNS.length - 1;

/** The columns of a list that are not those of results. */
export function ownColumns(list: ListOfResults): readonly Column[] {
  const names = new Set(resultColumnsOf(list).values());
  return list.columns.filter(({ name }) => !names.has(name));
}

/** The service and terminal at which a row of results has a link; empty if it has none. */
export const linkedAt = (row: ListRow, names: ResultNames): string =>
  resultText(row, names, "id") + resultText(row, names, "url") === ""
    ? ""
    : resultText(row, names, "service");

function resultText({ columns, values }: ListRow, names: ResultNames, column: ResultColumn): string {
  const wanted = names.get(column);
  const place = wanted === undefined ? -1 : columns.findIndex(({ name }) => name === wanted);
  return cellText(values[place] ?? null).trim();
}

/**
 * What a row of results was sent with to this service and its terminal; undefined if it was not. What it was created for is not known
 * of a row that may have been edited since.
 */
export function attemptIn(
  row: ListRow,
  names: ResultNames,
  service: string,
  {
    key,
    terminal,
    orderNumber,
    payment,
  }: Pick<RowIdentity, "key" | "terminal" | "orderNumber"> & Pick<Attempt, "payment">,
): Attempt | undefined {
  if (names.size === 0) return undefined;
  const text = (column: ResultColumn): string => resultText(row, names, column);
  const [id, url, status] = [text("id"), text("url"), text("status").toLowerCase()];
  const [address = "", to = terminal] = text("service").split(" ");
  const isHere = address === "" || canonicalAddress(address) === service;
  const hasLink =
    id + url !== "" || (names.has("id") || names.has("url") ? status === "unknown" : HAS_LINK.has(status));
  if (!isHere || to !== terminal || !hasLink) return undefined;
  return {
    source: "results",
    key,
    occurrence: 0,
    attempt: 0,
    state: status === "unknown" ? "unknown" : "created",
    sentAt: 0,
    payment,
    content: undefined,
    orderNumber,
    status: undefined,
    id: id === "" ? null : id,
    url: url === "" ? null : url,
    error: text("error") || null,
  };
}

/** What says that a row has a link, or may have one, where both columns of the link are gone. */
const HAS_LINK: ReadonlySet<string> = new Set<Status>(["created", "unknown", ...LINK_STATUSES]);

/** A row with what became of it. */
export interface Result {
  readonly row: ListRow;
  readonly outcome: RowOutcome;
  /** Undefined for a row that cannot be sent. */
  readonly terminal: string | undefined;
}

interface ResultParts {
  readonly list: List;
  /** Of every row, in the order of the list. */
  readonly results: Iterable<Result>;
  readonly service: string;
}

/** Accepts the bytes of the results. */
export type Sink = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

export async function writeResults(format: List["format"], parts: ResultParts, sink: Sink): Promise<void> {
  if (format === "json lines") return sink(jsonLines(parts));
  const { list } = parts;
  await pipeline(
    Readable.from(csvRecords(parts)),
    stringify({ delimiter: list.delimiter }),
    // The results begin as the list does, so that the spreadsheet of the list opens them too.
    async function* (chunks: AsyncIterable<Uint8Array>) {
      yield Buffer.from(list.beginning);
      yield* chunks;
    },
    sink,
  );
}

/** If the list has its own column `id`, the column of the link is `link_id`. */
function resultNames(columns: readonly Column[]): string[] {
  const used = new Set(columns.map(({ name }) => name.toLowerCase()));
  return RESULT_COLUMNS.map((column) => (used.has(column) ? `link_${column}` : column));
}

const resultOf = (
  { outcome, terminal }: Result,
  service: string,
): Record<ResultColumn, string | undefined> => ({
  id: outcome.id ?? undefined,
  url: outcome.url ?? undefined,
  status: outcome.status,
  error: outcome.error ?? undefined,
  service: terminal === undefined ? service : `${service} ${terminal}`,
});

function* csvRecords({ list, results, service }: ResultParts): Generator<string[]> {
  const columns = ownColumns(list);
  yield [...columns.map(({ name }) => escapeFormula(name)), ...resultNames(columns)];
  const places = new Map(columns.map(({ name }, place) => [name, place]));
  for (const sent of results) {
    const { row } = sent;
    const record = Array.from({ length: columns.length }, () => "");
    for (const [at, { name }] of row.columns.entries()) {
      const place = places.get(name);
      if (place !== undefined) record[place] = escapeFormula(cellText(row.values[at] ?? null));
    }
    const result = resultOf(sent, service);
    yield [...record, ...RESULT_COLUMNS.map((name) => harmless(name, result[name] ?? ""))];
  }
}

/** In a URL, the separator is escaped. */
const harmless = (name: ResultColumn, text: string): string =>
  csvCell(text, name === "url" ? encodeURIComponent : undefined);

async function* jsonLines({ list, results, service }: ResultParts): AsyncGenerator<Uint8Array> {
  const names = resultNames(ownColumns(list));
  for (const sent of results) {
    const { row } = sent;
    const own = row.object ?? Object.fromEntries(row.columns.map(({ name }, at) => [name, row.values[at]]));
    const result = resultOf(sent, service);
    const members = RESULT_COLUMNS.map((column, place) => [names[place], result[column]]);
    yield Buffer.from(`${safeJson(stringifyJson({ ...own, ...Object.fromEntries(members) }))}\n`);
  }
}

/** Throws `usage` unless results can be written to the file: with `force`, over any other. `input` is the list's own path. */
export async function requireWritable(path: string, force: boolean, input: string): Promise<void> {
  const refuse = (reason: string, ...hints: readonly Hint[]): never => {
    throw new PaylinkError("usage", `--output ${path} ${reason}.`, {
      consequence: "Nothing was sent.",
      hints,
    });
  };
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing !== undefined && realpathSync(path) === input) refuse("must not be the list itself");
  if (existing?.isFile() === false) refuse("must be a file");
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch {
    refuse("must be in a folder that paylink can write to");
  }
  if (!force && existing !== undefined && !(await isReplaceable(path)))
    refuse(
      "exists already, and does not hold results of bulk",
      hint`To overwrite it: --force`,
      hint`To keep it, give another file: --output <file>`,
    );
}

/** The results in a file; undefined if no file is there, or paylink did not write it. */
export async function resultsAt(path: string): Promise<Uint8Array | undefined> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  return isOfResults(await namesIn(bytes)) ? bytes : undefined;
}

/** None if it cannot be read as a list. */
async function namesIn(bytes: Uint8Array): Promise<ResultNames> {
  try {
    return resultNamesIn(await columnNames(bytes));
  } catch (error) {
    if (error instanceof PaylinkError) return NO_RESULTS;
    throw error;
  }
}

/** What a merchant has made himself is not overwritten: both columns are hardly in it. */
async function isReplaceable(path: string): Promise<boolean> {
  if (statSync(path).size === 0) return true;
  const names = await namesIn((await resultsAt(path)) ?? new Uint8Array());
  return names.has("status") && names.has("service");
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
      // Otherwise a power cut may leave the name of the new file without its content.
      await pipeline(chunks, file.createWriteStream({ flush: true }));
      await rename(draft, path);
      syncFolder(dirname(path));
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
