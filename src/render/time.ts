/** Formats points in time for people: local time with its offset. */
import { formatRelative, parseInstant } from "../domain/time.ts";

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
