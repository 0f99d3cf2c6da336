/** The cells of a row: each as text, and those of fields by their field. */
import { isJsonNumber, stringifyJson, type Json } from "../values/json.ts";
import type { ListRow } from "./read-list.ts";

/** The text of a cell: a number in its spelling, any other JSON as JSON. */
export function cellText(value: Json): string {
  if (typeof value === "string") return value;
  if (value === null) return "";
  return isJsonNumber(value) ? value.value : stringifyJson(value);
}

/** White space and what is invisible around a text, which no cell shows. */
const AROUND = /^[\s\p{Default_Ignorable_Code_Point}]+|[\s\p{Default_Ignorable_Code_Point}]+$/gu;

/** The fields of the row, trimmed. Empty cells are left out, so that defaults apply. */
export function fieldsOf({ columns, values }: ListRow): Map<string, Json> {
  const given = new Map<string, Json>();
  for (const [place, { field }] of columns.entries()) {
    const cell = values[place] ?? null;
    const value = typeof cell === "string" ? cell.replace(AROUND, "") : cell;
    if (field !== undefined && value !== null && value !== "") given.set(field, value);
  }
  return given;
}
