/** One row of a list of links, in any file format: its cells, the request that they ask for, and a digest of that request. */
import { hash } from "node:crypto";
import type { Problem } from "../domain/errors.ts";
import { isJsonNumber, isJsonObject, joinPath, type Json, type JsonObject } from "../domain/json.ts";
import { amountKey } from "../domain/money.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import type { Column } from "./columns.ts";

export interface Cell {
  readonly column: Column;
  readonly value: Json;
}

export interface Row {
  /** Its position among the rows, from 0, without blank lines. */
  readonly index: number;
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly Cell[];
  /** The object of the line, if the file is JSON lines. */
  readonly object?: JsonObject;
  /** Problems of the row as a whole, found before its fields are checked. */
  readonly problems: readonly Problem[];
}

interface Built {
  /** Ready to send; null if there are problems. */
  readonly request: PaymentLinkRequest | null;
  /** Each at its column, or at the flag with a wrong default. */
  readonly problems: readonly Problem[];
  /** Each at its place, as above. */
  readonly warnings: () => readonly Problem[];
}

interface BuiltDraft extends Built {
  /** The request as built, valid or not. */
  readonly draft: JsonObject;
}

export interface RowRequest extends BuiltDraft {
  readonly digest: number;
}

/** Completes the fields of a row with the defaults of the run, and checks the request. */
export type BuildRequest = (now: Date, given: ReadonlyMap<string, Json>) => BuiltDraft;

export function requestOf(row: Row, build: BuildRequest, now: Date): RowRequest {
  if (row.problems.length > 0)
    return { request: null, problems: row.problems, warnings: () => [], draft: {}, digest: NO_DIGEST };
  const { request, problems, warnings, draft } = build(now, fieldsOf(row));
  const columnOfField = (at: string): string =>
    row.cells.find(({ column }) => column.field === at)?.column.name ?? at;
  return {
    request,
    problems: problems.map((problem) => ({ ...problem, at: columnOfField(problem.at) })),
    warnings: () => warnings().map((warning) => ({ ...warning, at: columnOfField(warning.at) })),
    draft,
    digest: digestOf(draft),
  };
}

/** The fields of the row. Empty cells are left out, so that defaults apply. */
function fieldsOf({ cells }: Row): Map<string, Json> {
  const given = new Map<string, Json>();
  for (const { column, value } of cells) {
    if (column.field === undefined || value === null) continue;
    if (typeof value === "string" && value.trim() === "") continue;
    given.set(column.field, value);
  }
  return given;
}

/** Hexadecimal digits: as many as a JavaScript number holds exactly. */
const DIGITS = 13;

/** The digest of a row that cannot be read, which is never sent; no other row has it. */
export const NO_DIGEST = 0;

/**
 * How long a link is valid and where it leads: with another expiry or callback it is still the same payment. A default
 * expiry counts from the time of the run, and would make each run a new list.
 */
const IGNORED: ReadonlySet<string> = new Set(["expirationDate", "paymentSettings"]);

/** Bounds are sent as text. */
const BOUNDS: ReadonlySet<string> = new Set(["linkOptions.minAmount", "linkOptions.maxAmount"]);

export function digestOf(draft: JsonObject): number {
  const facts: string[] = [];
  addFacts(facts, draft, "");
  return digestOfText(facts.toSorted().join("\n"));
}

const digestOfText = (text: string): number => Number.parseInt(hash("sha256", text).slice(0, DIGITS), 16);

/** The same for rows with one order number; 0 without one. */
export const orderDigest = (order = ""): number => (order === "" ? NO_DIGEST : digestOfText(order));

function addFacts(facts: string[], object: JsonObject, path: string): void {
  for (const [name, value] of Object.entries(object)) {
    const at = joinPath(path, name);
    if (IGNORED.has(at)) continue;
    if (isJsonObject(value)) addFacts(facts, value, at);
    else facts.push(JSON.stringify([at, canonical(at, value)]));
  }
}

function canonical(at: string, value: Json): unknown {
  if (isJsonNumber(value)) return amountKey(value);
  if (typeof value === "string" && BOUNDS.has(at)) return amountKey(value);
  return value;
}
