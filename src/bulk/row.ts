/** One row of a list of links, in any file format: its cells, and the request field of each column. */
import type { Problem } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { isMisspelled, nearest } from "../domain/nearest.ts";
import { requestFields } from "../domain/payment-link.ts";

export interface Column {
  /** As written in the file. */
  readonly name: string;
  /** The field of the request (`linkOptions.mode`); undefined for the user's own column, which is never sent. */
  readonly field: string | undefined;
}

const FIELDS = requestFields();
const FIELD_OF = new Map(FIELDS.map((field) => [normalised(field), field]));

/** Case, spaces, hyphens and underscores do not matter: `Customer Name` is `customerName`. */
function normalised(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "");
}

export function columnOf(name: string): Column {
  return { name, field: FIELD_OF.get(normalised(name)) };
}

/** The fields that have more than one column. */
export function repeatedFields(columns: readonly Column[]): string[] {
  const fields = columns.flatMap(({ field }) => field ?? []);
  return [...new Set(fields.filter((field, index) => fields.indexOf(field) !== index))];
}

/** Finds columns with a misspelled field: otherwise links would silently lack their values. */
export function createSpelling(): (columns: readonly Column[]) => Problem[] {
  // JSON lines repeat their names in every row.
  const known = new Map<string, string | undefined>();
  const meant = (name: string): string | undefined => {
    if (!known.has(name)) known.set(name, nearest(normalised(name), FIELDS, isMisspelled));
    return known.get(name);
  };
  return (columns) =>
    columns.flatMap(({ name, field }) => {
      const near = field === undefined ? meant(name) : undefined;
      return near === undefined ? [] : [{ at: name, message: `is not a field: did you mean ${near}?` }];
    });
}

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
