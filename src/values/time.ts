/** Points in time and lengths of time as users and services write them: ISO 8601, `30s`, `7d`, "in 7 days". */
import { plural } from "./plural.ts";
import { accepted, type Parsed, refused } from "./parse-result.ts";

const DATE_FORM = /^\d{4}-\d\d-\d\d$/;
/** The extended form of ISO 8601, and the basic one: `20261224T180000Z`. An offset may be `+01:00`, `+0100` or `+01`. */
const DATE_TIMES = [
  /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?)(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)$/,
  /^(\d{8})T((?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d(?:[.,]\d+)?)?)(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)$/,
];

/** The last instant that ISO 8601 writes with four digits of year. */
const LAST_INSTANT = Date.parse("9999-12-31T23:59:59.999Z");

/** The instant of an ISO 8601 date-time with a zone (`Z` or an offset); undefined for any other text. */
export function parseInstant(text: string): Date | undefined {
  const parts = dateTimeParts(text);
  return parts === undefined ? undefined : new Date(`${parts.day}T${parts.time}${parts.zone}`);
}

/** Whether the text is an ISO 8601 date-time in UTC: `2025-01-31T10:00:00Z`, `2025-01-31T10:00:00.123+00:00`. */
export function isUtcDateTime(text: string): boolean {
  return (
    DATE_FORM.test(text.slice(0, 10)) && /(?:Z|\+00:00)$/.test(text) && dateTimeParts(text) !== undefined
  );
}

interface DateTime {
  readonly day: string;
  readonly time: string;
  readonly zone: string;
}

/** In the form that `Date` reads. */
function dateTimeParts(text: string): DateTime | undefined {
  const [, day = "", time = "", zone = ""] =
    DATE_TIMES.map((form) => form.exec(text)).find((found) => found !== null) ?? [];
  const date = day.replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  if (!isDay(date)) return undefined;
  return {
    day: date,
    time: time
      .replace(
        /^(\d\d)(\d\d)(\d\d)?/,
        (_, hour: string, minute: string, second = "00") => `${hour}:${minute}:${second}`,
      )
      .replace(",", "."),
    zone: zone
      .toUpperCase()
      .replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours: string, minutes = "00") => `${hours}:${minutes}`),
  };
}

/** ISO 8601 in UTC, as the specification spells it: services may refuse milliseconds. */
export const formatInstant = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, "Z");

/** The same without seconds, rounded down. */
export const formatMinute = (date: Date): string => date.toISOString().replace(/:\d\d\.\d{3}Z$/, "Z");

/**
 * Parses ISO 8601, or a duration (`7d`) from now, or before now with -1 (`--since 7d`). A date-time needs a zone, since
 * local time would be another instant on another machine. A date is the start of that day where the user is.
 */
export const parseWhen = (text: string, now: Date, direction: 1 | -1 = 1): Parsed<Date> =>
  parseMoment(text, now, { direction, ofDay: [0, 0] });

/**
 * As `parseWhen`, but a date is the last second of that day: "until 31 December" includes that day. It is the second before the next
 * day, since where clocks go back at midnight, 23:59:59 comes twice.
 */
export const parseExpiry = (text: string, now: Date): Parsed<Date> =>
  parseMoment(text, now, { direction: 1, ofDay: [1, -SECOND] });

/** The end of a period in the past, which is not in it: that of a date is the start of the next day. */
export const parseUntil = (text: string, now: Date): Parsed<Date> =>
  parseMoment(text, now, { direction: -1, ofDay: [1, 0] });

interface MomentOptions {
  readonly direction: 1 | -1;
  /** What a date stands for: milliseconds after the start of that day, or of another one, so many days later. */
  readonly ofDay: readonly [days: number, milliseconds: number];
}

function parseMoment(text: string, now: Date, { direction, ofDay }: MomentOptions): Parsed<Date> {
  const trimmed = text.trim();
  const [day] = DATE_FORM.exec(trimmed) ?? [];
  if (day !== undefined && isDay(day)) return withinYears(dayMoment(day, ofDay));
  const instant = parseInstant(trimmed);
  if (instant !== undefined) return accepted(instant);
  const duration = parseDuration(trimmed);
  if (!duration.ok) return refused(notWhen(trimmed, now));
  return withinYears(addDuration(now, duration.value, direction));
}

function dayMoment(day: string, [days, milliseconds]: MomentOptions["ofDay"]): Date {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  // The constructor with numbers reads the years 0 to 99 as 1900 to 1999.
  const start = new Date(2000, 0, 1);
  start.setFullYear(year, month - 1, date + days);
  return new Date(start.getTime() + milliseconds);
}

const withinYears = (date: Date): Parsed<Date> =>
  date.getTime() <= LAST_INSTANT && date.getUTCFullYear() >= 0
    ? accepted(date)
    : refused("must be within the years 0000 to 9999");

/** "in 7 days", "3 hours ago", "now". */
export function formatRelative(date: Date, now: Date): string {
  const distance = date.getTime() - now.getTime();
  if (Math.abs(distance) < SECOND / 2) return "now";
  const words = durationWords(Math.abs(distance));
  return distance > 0 ? `in ${words}` : `${words} ago`;
}

/** "14 minutes", "26 hours": in the largest unit with a count of at least two, to round little. */
export function durationWords(milliseconds: number): string {
  const [unit, name] = UNIT_NAMES.find(([candidate]) => milliseconds >= 2 * UNITS[candidate]) ?? SECONDS;
  return plural(Math.max(0, Math.round(milliseconds / UNITS[unit])), name);
}

const SECONDS = ["s", "second"] as const;
const UNIT_NAMES = [["y", "year"], ["d", "day"], ["h", "hour"], ["m", "minute"], SECONDS] as const;

function notWhen(text: string, now: Date): string {
  const zoned = parseInstant(`${text}Z`) !== undefined;
  const example = zoned ? `${text}Z` : now.toISOString().replace(/\.\d+/, "");
  return zoned
    ? `must name its time zone, such as ${example}`
    : `must be a date (${example.slice(0, 10)}), an ISO 8601 date-time with a zone (${example}) or a duration (45m, 36h, 7d)`;
}

/** Refuses 30 February, which `Date` reads as a day in March. */
function isDay(day = ""): boolean {
  // The day after the last of a month is read as the first of the next one.
  return new Date(day).getUTCDate() === Number(day.slice(-2));
}

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

/** `30s`, `90s` or `15m`, as a user types it: in the largest unit that divides it. */
export function formatDuration(milliseconds: number): string {
  const units = ["d", "h", "m", "s"] as const;
  const unit = units.find((one) => milliseconds >= UNITS[one] && milliseconds % UNITS[one] === 0) ?? "ms";
  return `${milliseconds / UNITS[unit]}${unit}`;
}

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

/** The result, or what `late` returns or throws if it takes longer than `milliseconds`. */
export function within<T>(milliseconds: number, result: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const otherwise = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  }).then(late);
  return Promise.race([result, otherwise]).finally(() => clearTimeout(timer));
}

function isUnit(text: string): text is Unit {
  return Object.hasOwn(UNITS, text);
}
