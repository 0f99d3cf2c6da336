/** Which rows of a list are chosen by what they have in a column: `--only Status=Open`. */
import { comparableText } from "../values/comparable-text.ts";
import type { Problem } from "../domain/errors.ts";
import { accepted, nearest, refused, type Parsed } from "../values/parse-result.ts";
import { cellText } from "./cells.ts";
import type { List, ListRow } from "./read-list.ts";

/** Rows are chosen that have one of the values of each column that is named. */
export interface Choice {
  readonly column: string;
  readonly value: string;
}

export function parseOnly(typed: string): Parsed<Choice> {
  const at = typed.indexOf("=");
  const column = typed.slice(0, at).trim();
  if (at === -1 || column === "") return refused("must be a column and a value, such as Status=Open");
  return accepted({ column, value: typed.slice(at + 1).trim() });
}

const compared = (text: string): string => comparableText(text).toLowerCase();

const columnIn = (columns: ListRow["columns"], name: string): number =>
  columns.findIndex((column) => compared(column.name) === compared(name));

const chosenCell = ({ columns, values }: ListRow, name: string): string =>
  cellText(values[columnIn(columns, name)] ?? null);

export const isChosen = (row: ListRow, choices: readonly Choice[]): boolean =>
  choices.every(({ column }) =>
    choices.some(
      (choice) =>
        compared(choice.column) === compared(column) &&
        compared(choice.value) === compared(chosenCell(row, column)),
    ),
  );

/** Values of a column that are named where none of them is the chosen one. */
const MOST_NAMED = 5;

/** The choices that no row can meet: of a column that the list does not have, or of a value that no row has. */
export const choiceProblems = (
  { columns, rows }: Pick<List, "columns" | "rows">,
  choices: readonly Choice[],
): Problem[] =>
  choices.flatMap(({ column, value }) => {
    const got = `(got "${column}=${value}")`;
    const names = columns.map(({ name }) => name);
    if (columnIn(columns, column) === -1) {
      const near = nearest(column, names);
      const message = `names a column that the list does not have ${got}`;
      return [{ at: "--only", message: near === undefined ? message : `${message}; did you mean ${near}?` }];
    }
    const found = new Set(rows.map((row) => comparableText(chosenCell(row, column))));
    if ([...found].some((cell) => compared(cell) === compared(value))) return [];
    const some = [...found].filter((cell) => cell !== "").slice(0, MOST_NAMED);
    return [{ at: "--only", message: `chooses no row ${got}: ${column} has ${some.join(", ")}` }];
  });
