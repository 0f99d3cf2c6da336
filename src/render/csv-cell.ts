/** Texts as cells of CSV that a spreadsheet takes for text, whatever it splits the file at. */
import { safeText } from "./safe-text.ts";

/** An apostrophe before it shows a spreadsheet that a cell is text; one that is there already needs another to come back. */
export const escapeFormula = (text: string): string =>
  text.replace(/^(?='*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/, "'");

/**
 * A spreadsheet of another country splits at the other separator, whatever the quotes: what follows must be no formula. A file is shown
 * with `cat` too. `separator` is what stands in place of one that a formula would follow.
 */
export function csvCell(text: string, separator = (one: string): string => one): string {
  // Spaces at the start must not hide a formula.
  const safe = escapeFormula(safeText(text).trimStart());
  return safe.replace(
    /([,;\t])(\s*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g,
    (_, found: string, spaces: string) => {
      const shown = separator(found);
      return `${shown}${spaces}${shown === found ? "'" : ""}`;
    },
  );
}
