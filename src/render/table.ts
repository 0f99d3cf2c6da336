/** Lays out columns of remote text. Values are never shortened, since users copy them. */
import { safeText } from "./safe-text.ts";

export interface Cell {
  readonly text: string;
  /** Applied after the width is measured. */
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
