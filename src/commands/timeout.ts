/** `--timeout`, for every command that waits for the service. */
import { parseDuration } from "../domain/duration.ts";
import { PaylinkError } from "../domain/errors.ts";

/** How long one exchange may take where nobody says otherwise, in milliseconds. */
export const REQUEST_TIMEOUT = 30_000;

/** Milliseconds from `--timeout`; undefined where it was not given. */
export function timeoutOf(timeout: string | undefined): number | undefined {
  if (timeout === undefined) return undefined;
  const parsed = parseDuration(timeout);
  if (parsed.ok && parsed.value.milliseconds > 0) return parsed.value.milliseconds;
  throw new PaylinkError("usage", `--timeout ${parsed.ok ? "must be more than 0" : parsed.message}.`);
}
