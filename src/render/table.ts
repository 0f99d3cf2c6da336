/** Columns of remote text, each as wide as its widest cell. A value is never clipped: it may have to be copied. */
import { safeText } from "./safe-text.ts";

export interface Cell {
  readonly text: string;
  /** Colours the cell after it was measured. */
  readonly paint?: (text: string) => string;
  readonly right?: boolean;
}

export function renderTable(rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map(({ text }) => safeText(text)));
  const columns = Math.max(0, ...texts.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...texts.map((row) => (row[column] ?? "").length)),
  );
  const line = (row: readonly Cell[], index: number): string =>
    row
      .map(({ paint, right = false }, column) => {
        const text = texts[index]?.[column] ?? "";
        const padding = " ".repeat((widths[column] ?? 0) - text.length);
        const shown = paint === undefined ? text : paint(text);
        return right ? padding + shown : shown + padding;
      })
      .join("  ")
      .trimEnd();
  return rows.map(line).join("\n");
}
