/** Reads the rows of a JSON lines file: one object per line, nested like the request or flat with dots. */
import type { Problem } from "../domain/errors.ts";
import { isJsonObject, joinPath, type Json, type JsonObject } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { createSpelling, repeatedFields, columnOf, type Cell, type Column, type Row } from "./row.ts";

export async function* jsonRows(text: AsyncIterable<string>): AsyncGenerator<Row> {
  let line = 0;
  let index = 0;
  const misspelled = createSpelling();
  for await (const json of lines(text)) {
    line++;
    if (json.trim() !== "") yield rowOf(json, index++, line, misspelled);
  }
}

async function* lines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of text) {
    const [first = "", ...more] = chunk.split("\n");
    rest += first;
    for (const next of more) {
      yield rest;
      rest = next;
    }
  }
  yield rest;
}

type Misspelled = (columns: readonly Column[]) => readonly Problem[];

function rowOf(json: string, index: number, line: number, misspelled: Misspelled): Row {
  const parsed = parseJson(json);
  const invalid = (message: string): Row => ({ index, line, cells: [], problems: [{ at: "", message }] });
  if (!parsed.ok) return invalid(parsed.message.replace("line 1, ", ""));
  const { value, duplicates } = parsed.value;
  if (!isJsonObject(value)) return invalid("must be a JSON object");
  const cells = [...leaves(value)];
  const columns = cells.map(({ column }) => column);
  const repeated = new Set([...duplicates, ...repeatedFields(columns)]);
  return {
    index,
    line,
    cells,
    object: value,
    problems: [...[...repeated].map((at) => ({ at, message: "is given twice" })), ...misspelled(columns)],
  };
}

/** One cell for each value. An object in the place of a single-value field is a value itself. */
function* leaves(object: JsonObject, path = ""): Generator<Cell> {
  for (const [name, value] of Object.entries(object)) {
    const column = columnOf(joinPath(path, name));
    if (isNested(value) && column.field === undefined) yield* leaves(value, column.name);
    else yield { column, value };
  }
}

const isNested = (value: Json): value is JsonObject => isJsonObject(value) && Object.keys(value).length > 0;
