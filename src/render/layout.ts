/** Lays out text for a terminal: columns of remote text, lines that fit, and local times. */
import { clip, safeText } from "./safe-text.ts";
import { formatRelative, parseInstant } from "../domain/time.ts";

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

/** `width` excludes the indent, which every line but the first gets. A word longer than a line, such as a URL, stays whole. */
export function wrap(text: string, width: number, indent = 0): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}

const two = (count: number): string => String(count).padStart(2, "0");

/** `2026-11-21 10:15:30 +01:00`; any other text is returned unchanged. */
export function localTime(text: string): string {
  const date = parseInstant(text);
  return date === undefined ? text : formatLocal(date);
}

export function formatLocal(date: Date): string {
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${clockTime(date)} ${offset(date)}`;
}

/** `10:15:30`, for events that happen now. */
export function clockTime(date: Date): string {
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function offset(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** "3 hours ago" within a day, otherwise the date and time. */
export function relativeTime(date: Date, now: Date): string {
  const age = now.getTime() - date.getTime();
  return age < DAY ? formatRelative(date, now) : formatLocal(date).slice(0, "2026-11-21 10:15".length);
}

const DAY = 86_400_000;
