/** Lays out columns of remote text. */
import { clip, safeText } from "./safe-text.ts";

export interface Cell {
  readonly text: string;
  /** Applied after the width is measured. */
  readonly paint?: (text: string) => string;
  readonly right?: boolean;
}

/** Values longer than the width allows are shortened, those of the widest column first. */
export function renderTable(rows: readonly (readonly Cell[])[], width = Number.POSITIVE_INFINITY): string {
  const texts = rows.map((row) => row.map(({ text }) => safeText(text)));
  const columns = Math.max(0, ...texts.map((row) => row.length));
  const full = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...texts.map((row) => (row[column] ?? "").length)),
  );
  const widths = fitted(full, width - GAP.length * (columns - 1));
  const line = (row: readonly Cell[], index: number): string =>
    row
      .map(({ paint, right = false }, column) => {
        const text = clip(texts[index]?.[column] ?? "", widths[column] ?? 0);
        const padding = " ".repeat((widths[column] ?? 0) - text.length);
        const shown = paint === undefined ? text : paint(text);
        return right ? padding + shown : shown + padding;
      })
      .join(GAP)
      .trimEnd();
  return rows.map(line).join("\n");
}

const GAP = "  ";

/** Shortens the widest column, one character at a time, until all fit. */
function fitted(full: readonly number[], total: number): readonly number[] {
  const widths = [...full];
  for (let sum = widths.reduce((one, other) => one + other, 0); sum > Math.max(total, widths.length); sum--) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}
