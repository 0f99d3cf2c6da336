/** A list as CSV for a spreadsheet: a record of text cells that are no formulas, and a time as its columns have it. */
import { csvCell } from "./csv-cell.ts";
import { formatLocal } from "./layout.ts";

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** A record without its line end. A number is shown as it is: a minus before it is no formula. */
export const csvRecord = (cells: readonly string[]): string =>
  cells.map((cell) => quoted(NUMBER.test(cell) ? cell : csvCell(cell))).join(",");

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** In local time with its offset, as ISO 8601 writes it; empty without one. */
export const csvTime = (date: Date | undefined): string =>
  date === undefined ? "" : formatLocal(date).replace(" ", "T").replace(" ", "");
