/** Shows a bulk run: its progress, its warnings and the number of rows with each outcome. */
import type { Paint } from "./paint.ts";
import type { Problem } from "../domain/errors.ts";
import { safeText } from "./safe-text.ts";

/** The number of rows with each outcome. */
export interface Tally {
  readonly created: number;
  /** Those of `created` that an earlier run created. */
  readonly earlier: number;
  /** Rows that were sent from another list. */
  readonly sent_before: number;
  readonly refused: number;
  readonly not_reached: number;
  readonly unknown: number;
  readonly invalid: number;
  readonly not_sent: number;
}

const WORDS = {
  created: "created",
  sent_before: "sent before",
  refused: "refused",
  not_reached: "not reached",
  unknown: "unknown",
  invalid: "invalid",
  not_sent: "not sent",
} as const;
const KINDS = Object.keys(WORDS) as (keyof typeof WORDS)[];

export const count = (number: number): string => number.toLocaleString("en-US");

export function rowsOf(number: number): string {
  return `${count(number)} ${number === 1 ? "row" : "rows"}`;
}

/** A warning about `rows` rows; the first is on this line. */
export function renderRowWarning({ at, message }: Problem, line: number, rows: number): string {
  const more = rows > 1 ? ` (and ${count(rows - 1)} more like it)` : "";
  return `line ${line}, ${safeText(`${at} ${message}`)}${more}`;
}

export function renderTally(tally: Tally, paint: Paint): string {
  const total = KINDS.reduce((sum, kind) => sum + tally[kind], 0);
  const parts = KINDS.filter((kind) => tally[kind] > 0).map((kind) => {
    const words = `${count(tally[kind])} ${WORDS[kind]}`;
    if (kind === "not_sent" || kind === "sent_before") return words;
    if (kind !== "created") return paint.red(words);
    return paint.green(tally.earlier > 0 ? `${words} (${count(tally.earlier)} in an earlier run)` : words);
  });
  return `${rowsOf(total)}: ${parts.join(", ") || "nothing to do"}`;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** The rows of this run that have no link. */
  readonly failed: number;
  /** Milliseconds since the run began, and the rows done in this time. */
  readonly elapsed: number;
  readonly doneNow: number;
  /** What the run waits for, in words. */
  readonly waiting: string | undefined;
}

const BAR = 24;

/** One line, with a bar if the line is redrawn in place. */
export function renderProgress(progress: Progress, bar: boolean): string {
  const { done, total, failed, elapsed, doneNow, waiting } = progress;
  const share = total === 0 ? 1 : done / total;
  const rate = elapsed > 0 ? (doneNow * 1000) / elapsed : 0;
  const parts = [
    `${count(done)} of ${count(total)} (${Math.floor(share * 100)}%)`,
    `${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))}/s`,
    ...(rate > 0 && done < total ? [`${length((total - done) / rate)} left`] : []),
    ...(failed > 0 ? [`${count(failed)} without a link`] : []),
    ...(waiting === undefined ? [] : [waiting]),
  ];
  const filled = Math.round(share * BAR);
  return `${bar ? `${"█".repeat(filled)}${"░".repeat(BAR - filled)}  ` : ""}${parts.join("  ")}`;
}

/** Formats seconds: 42s, 3m10s, 2h05m. */
export function length(seconds: number): string {
  const whole = Math.ceil(seconds);
  const pad = (part: number): string => String(part).padStart(2, "0");
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${pad(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${pad(Math.floor((whole % 3600) / 60))}m`;
}
