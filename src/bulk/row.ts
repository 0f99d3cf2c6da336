/** One row of a list of links, in any file format: its cells, the request that they ask for, and a digest of that request. */
import { hash } from "node:crypto";
import type { Problem } from "../domain/errors.ts";
import {
  isJsonNumber,
  isJsonObject,
  joinPath,
  stringifyJson,
  type Json,
  type JsonObject,
} from "../domain/json.ts";
import { amountKey } from "../domain/money.ts";
import type { BuiltRequest } from "../service/request.ts";
import type { Column } from "./columns.ts";

export interface Cell {
  readonly column: Column;
  readonly value: Json;
}

/** A cell has text, a number in its spelling, or any other JSON as JSON. */
export function textOf(value: Json): string {
  if (typeof value === "string") return value;
  if (value === null) return "";
  return isJsonNumber(value) ? value.value : stringifyJson(value);
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

/** Each problem and warning is at its column, or at the flag with a wrong default. */
export interface RowRequest extends Pick<BuiltRequest, "request" | "problems" | "warnings"> {
  /** The request as the row means it: with a duration as the expiry, where it is one. Valid or not. */
  readonly meant: JsonObject;
}

/** Completes the fields of a row with the defaults of the run, and checks the request. */
export type BuildRequest = (now: Date, given: ReadonlyMap<string, Json>) => RowRequest;

export function requestOf(row: Row, build: BuildRequest, now: Date): RowRequest {
  if (row.problems.length > 0)
    return { request: null, problems: row.problems, warnings: () => [], meant: {} };
  const { request, problems, warnings, meant } = build(now, fieldsOf(row));
  const atColumn = (problem: Problem): Problem => {
    const cell = row.cells.find(({ column }) => column.field === problem.at);
    return cell === undefined ? problem : { ...problem, at: cell.column.name };
  };
  return { request, problems: problems.map(atColumn), warnings: () => warnings().map(atColumn), meant };
}

/** On one line. */
export const problemsText = (problems: readonly Problem[]): string =>
  problems.map(({ at, message }) => `${at} ${message}`.trim()).join("; ");

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

/** The same for two rows that mean the same request, however they spell it and in whatever order. */
export function digestOf(meant: JsonObject): string {
  const facts = [...factsOf(meant)].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify(facts.map(([at, { key }]) => [at, key]));
  // 128 bits and a little: no two of billions of rows have the same digest by chance.
  return hash("sha256", text, "base64url").slice(0, 22);
}

interface Fact {
  /** The same for every spelling of the value. */
  readonly key: unknown;
  readonly value: Json;
}

/** Bounds are sent as text. */
const BOUNDS: ReadonlySet<string> = new Set(["linkOptions.minAmount", "linkOptions.maxAmount"]);

/** Every value of a request, by the path of its field. */
function factsOf(object: JsonObject, path = "", facts = new Map<string, Fact>()): ReadonlyMap<string, Fact> {
  for (const [name, value] of Object.entries(object)) {
    const at = joinPath(path, name);
    if (isJsonObject(value) && Object.keys(value).length > 0) factsOf(value, at, facts);
    else facts.set(at, { key: keyOf(at, value), value });
  }
  return facts;
}

function keyOf(at: string, value: Json): unknown {
  if (isJsonNumber(value)) return amountKey(value);
  if (typeof value === "string" && BOUNDS.has(at)) return amountKey(value);
  return value;
}

/** The fields in which two requests differ, with both values as text: `amount 10.50, was 10.00`. */
export function differences(before: JsonObject, now: JsonObject): string[] {
  const [old, own] = [factsOf(before), factsOf(now)];
  return [...new Set([...old.keys(), ...own.keys()])].flatMap((at) => {
    const [was, is] = [old.get(at), own.get(at)];
    if (JSON.stringify(was?.key) === JSON.stringify(is?.key)) return [];
    return [`${at} ${shown(is)}, was ${shown(was)}`];
  });
}

const shown = (fact: Fact | undefined): string => (fact === undefined ? "none" : textOf(fact.value));
