/** Lengths of time as users write them: `30s`, `45m`, `36h`, `7d`, `3y`. */

import { accepted, type Parsed, refused } from "./parse-result.ts";

const SECOND = 1000;
const DAY = 86_400 * SECOND;

/** Milliseconds of each unit; a year counts 365 days until it is added to a date. */
export const UNITS = {
  ms: 1,
  s: SECOND,
  m: 60 * SECOND,
  h: 3600 * SECOND,
  d: DAY,
  w: 7 * DAY,
  y: 365 * DAY,
} as const;
export type Unit = keyof typeof UNITS;

/** Milliseconds: a timer of Node counts in 32 bits and fires at once above this (24.8 days). */
export const LONGEST_TIMER = 2 ** 31 - 1;

export interface Duration {
  readonly count: number;
  readonly unit: Unit;
  readonly milliseconds: number;
}

/** The range of a date (ECMA-262 21.4.1.1) limits durations. */
const MAX_MILLISECONDS = 8.64e15;

export function duration(count: number, unit: Unit): Duration {
  return { count, unit, milliseconds: count * UNITS[unit] };
}

/** A whole number and one unit, nothing else: no sign, fraction, space or second unit. */
export function parseDuration(text: string): Parsed<Duration> {
  const [, digits, unit] = /^(\d+)([a-z]+)$/.exec(text.trim()) ?? [];
  if (digits === undefined || unit === undefined || !isUnit(unit)) {
    return refused("must be a whole number and a unit (ms, s, m, h, d, w, y), such as 30s, 45m, 36h or 7d");
  }
  const parsed = duration(Number(digits), unit);
  return parsed.milliseconds <= MAX_MILLISECONDS ? accepted(parsed) : refused("must be shorter");
}

/**
 * The date plus or minus the duration: years by the calendar (29 February becomes the 28th in a common year), other
 * units by their milliseconds. An invalid date if the result is out of range.
 */
export function addDuration(
  date: Date,
  { count, unit, milliseconds }: Duration,
  direction: 1 | -1 = 1,
): Date {
  if (unit !== "y") return new Date(date.getTime() + direction * milliseconds);
  const moved = new Date(date);
  moved.setUTCFullYear(date.getUTCFullYear() + direction * count);
  if (moved.getUTCMonth() !== date.getUTCMonth()) moved.setUTCDate(0);
  return moved;
}

function isUnit(text: string): text is Unit {
  return Object.hasOwn(UNITS, text);
}
