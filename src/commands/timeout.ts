/** `--timeout`, for every command that waits for the service. */
import { parseDuration } from "../domain/duration.ts";
import { PaylinkError } from "../domain/errors.ts";
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";

/** How long one exchange may take where nobody says otherwise, in milliseconds. */
export const REQUEST_TIMEOUT = 30_000;

/** Milliseconds from `--timeout`; undefined where it was not given. */
export function readTimeout(timeout: string | undefined): Parsed<number | undefined> {
  if (timeout === undefined) return accepted(undefined);
  const parsed = parseDuration(timeout);
  if (!parsed.ok) return parsed;
  const { milliseconds } = parsed.value;
  return milliseconds > 0 ? accepted(milliseconds) : refused("must be more than 0");
}

/** For commands of which nothing else can be wrong. Throws `usage`. */
export function timeoutOf(timeout: string | undefined): number | undefined {
  const read = readTimeout(timeout);
  if (read.ok) return read.value;
  throw new PaylinkError("usage", `--timeout ${read.message}.`);
}
