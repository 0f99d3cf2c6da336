/** One row of a list of links, whatever the file's format: its own columns, and the fields of a request among them. */
import { hash } from "node:crypto";
import type { Problem } from "../domain/errors.ts";
import { stringifyJson, type Json, type JsonObject } from "../domain/json.ts";
import type { Column } from "./columns.ts";

export interface Cell {
  readonly column: Column;
  readonly value: Json;
}

export interface Row {
  /** Its position among the rows, from 0; blank lines do not count. */
  readonly index: number;
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly Cell[];
  /** The line's own object, where the file is JSON lines. */
  readonly object?: JsonObject;
  /** What is wrong with the row before any field of it is looked at. */
  readonly problems: readonly Problem[];
}

/** The hexadecimal digits of a digest that identify a content: as many as a JavaScript number holds exactly. */
const FINGERPRINT_DIGITS = 12;

/** What a row asks for, as a number: the merchant's own columns, their order and the quoting have no part in it. */
export function fingerprintOf({ cells }: Row): number {
  const asked: string[] = [];
  for (const { column, value } of cells)
    if (column.field !== undefined) asked.push(`${column.field}:${spelled(value)}`);
  return Number.parseInt(hash("sha256", asked.toSorted().join("\n")).slice(0, FINGERPRINT_DIGITS), 16);
}

/** As JSON, on one line; text is all that most lists hold. */
const spelled = (value: Json): string =>
  typeof value === "string" ? JSON.stringify(value) : stringifyJson(value);
