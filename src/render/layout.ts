/** Lays out text for a terminal: columns of remote text, lines that fit, and local times. */
import { formatRelative, parseInstant, UNITS } from "../values/time.ts";
import type { Level } from "../events/event-json.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { clip, padEnd, padStart, widthOf } from "./width.ts";

/** Stands for an empty or absent value. */
export const NO_VALUE = "–";

export interface Cell {
  readonly text: string;
  /** Applied after the width is measured. */
  readonly paint?: (text: string) => string;
  /** An amount: it is never cut. */
  readonly right?: boolean;
  /** A date, an id and the like: it is cut only if it is longer than a line. */
  readonly isWhole?: boolean;
}

const GAP = "  ";
/** What follows the first line of a row. */
const CONTINUATION_INDENT = "    ";
/** The least width of a column, unless its values are shorter. */
const LEAST_WIDTH = 12;

/**
 * Values longer than the width allows are shortened, those of the widest column first. If the shortest values do not fit
 * either, each row continues on the next line.
 */
export function renderTable(rows: readonly (readonly Cell[])[], width = Number.POSITIVE_INFINITY): string {
  const safe = rows.map((row) => row.map((cell) => ({ ...cell, text: safeText(cell.text) })));
  const columns = columnsOf(safe, width - CONTINUATION_INDENT.length);
  const lines = layoutLines(columns, width);
  const shown = (cell: Cell, at: number): string => {
    const room = columns[at]?.width ?? 0;
    const text = cell.right === true ? cell.text : clip(cell.text, room);
    const padded = cell.right === true ? padStart(text, room) : padEnd(text, room);
    return cell.paint === undefined ? padded : padded.replace(text, () => cell.paint?.(text) ?? text);
  };
  return safe
    .flatMap((row) => {
      const cells = row.map(shown);
      return lines.map(({ from, to }, line) =>
        ((line === 0 ? "" : CONTINUATION_INDENT) + cells.slice(from, to).join(GAP)).trimEnd(),
      );
    })
    .join("\n");
}

/** A table with titles, each aligned as its column. */
export function renderListing(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  { paint, lineWidth }: { readonly paint: Paint; readonly lineWidth: number },
): string {
  const right = rows[0]?.map((cell) => cell.right === true) ?? [];
  const header = titles.map((text, at): Cell => ({ text, paint: paint.dim, right: right[at] === true }));
  return renderTable([header, ...rows], lineWidth);
}

interface TableColumn {
  width: number;
  readonly least: number;
}

/** `room` is the width of a line. */
function columnsOf(rows: readonly (readonly Cell[])[], room: number): TableColumn[] {
  const count = rows.reduce((most, row) => Math.max(most, row.length), 0);
  return Array.from({ length: count }, (_, at) => {
    const cells = rows.flatMap((row) => row[at] ?? []);
    // A call takes fewer arguments than a list may have rows.
    const width = cells.reduce((most, { text }) => Math.max(most, widthOf(text)), 0);
    if (cells.some(({ right }) => right)) return { width, least: width };
    return { width, least: Math.min(width, cells.some(({ isWhole }) => isWhole) ? room : LEAST_WIDTH) };
  });
}

interface Line {
  readonly from: number;
  readonly to: number;
}

/** Shortens the columns, and says which of them stand on one line. */
function layoutLines(columns: readonly TableColumn[], total: number): Line[] {
  const lines: Line[] = [];
  let from = 0;
  while (from < columns.length) {
    const room = total - (from === 0 ? 0 : CONTINUATION_INDENT.length);
    let to = from + 1;
    while (to < columns.length && widthOfLine(columns.slice(from, to + 1), "least") <= room) to++;
    const line = columns.slice(from, to);
    for (let over = widthOfLine(line, "width") - room; over > 0; over--) {
      const wide = line.filter(({ width, least }) => width > least);
      const [widest] = wide.toSorted((one, other) => other.width - one.width);
      if (widest === undefined) break;
      widest.width--;
    }
    lines.push({ from, to });
    from = to;
  }
  return lines;
}

const widthOfLine = (columns: readonly TableColumn[], of: "width" | "least"): number =>
  columns.reduce((sum, column) => sum + column[of], GAP.length * (columns.length - 1));

/** `width` excludes the indent, which every line but the first gets. A word longer than a line, such as a URL, stays whole. */
export function wrap(text: string, width: number, indent = 0): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line.trimEnd());
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}

/**
 * Breaks lines that are too long between words, and indents what follows as far as the line. Nothing is broken in a command, so that it
 * can be copied: from `paylink` to the end of the sentence.
 */
export const fitLines = (text: string, width: number): string =>
  text
    .split("\n")
    .map((line) => (widthOf(withoutColours(line)) <= width ? line : fitLine(line, width)))
    .join("\n");

function fitLine(line: string, width: number): string {
  const start = /^(?:[!✓✗→] | *)/.exec(withoutColours(line))?.[0].length ?? 0;
  const lines: string[] = [];
  let fitting = "";
  for (const piece of line.match(UNBROKEN) ?? []) {
    const next = `${fitting}${piece}`;
    if (fitting.trim().length > start && widthOf(withoutColours(next.trimEnd())) > width) {
      lines.push(fitting.trimEnd());
      fitting = `${" ".repeat(start)}${piece}`;
    } else fitting = next;
  }
  return [...lines, fitting].join("\n");
}

/** A command with the words after it, or a word; each with the spaces around it. */
const UNBROKEN = / *(?:paylink (?:'[^']*'|[^'])*?(?:[.;,)](?= |$)|$)|\S+) */g;

// oxlint-disable-next-line no-control-regex -- colours take no room
const withoutColours = (text: string): string => text.replace(/\u001b\[[0-9;]*m/g, "");

/** Columns of a bar. */
const BAR = 24;

/** How much is done, from 0 to 1. */
export function renderBar(share: number): string {
  const filled = Math.round(share * BAR);
  return `${"█".repeat(filled)}${"░".repeat(BAR - filled)}`;
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

interface Period {
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

/** `since 2026-11-21 10:15:30 +01:00`; empty for all time. */
export function formatPeriod({ since, until }: Period): string {
  const end = until && formatLocal(until);
  if (since === undefined) return end === undefined ? "" : `before ${end}`;
  return end === undefined ? `since ${formatLocal(since)}` : `from ${formatLocal(since)} to ${end}`;
}

/** One line of a log: the local time, as all times are shown, the level and the text. */
export const logLine = (at: Date, level: Level, text: string): string =>
  `${formatLocal(at)} ${level} ${text}`;

/** `10:15:30`, for events that happen now. */
export function clockTime(date: Date): string {
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function offset(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

interface Shown {
  readonly now: () => Date;
  readonly out: { readonly isTerminal: boolean };
}

/** "3 hours ago" within a day, otherwise the date and time; who reads a file does it at another time. */
export function listedTime(date: Date, { now: clock, out }: Shown): string {
  if (!out.isTerminal) return formatLocal(date);
  const now = clock();
  const age = now.getTime() - date.getTime();
  return age < UNITS.d ? formatRelative(date, now) : formatLocal(date).slice(0, "2026-11-21 10:15".length);
}
