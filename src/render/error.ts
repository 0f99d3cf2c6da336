/** A failure in words: what happened, every problem by its place, and what to do next; or one JSON document. */
import type { Paint } from "./paint.ts";
import type { PaylinkError, Problem } from "../domain/errors.ts";
import { safeLines, safeText } from "./safe-text.ts";

interface ErrorStyle {
  readonly json: boolean;
  readonly notePaint: Paint;
  /** What the user was to be told before the failure. */
  readonly warnings: readonly string[];
}

/** `example` is a line that would work, for a usage error to end with. */
export function renderError(
  error: PaylinkError,
  { json, notePaint, warnings }: ErrorStyle,
  example?: string,
): string {
  if (json) return JSON.stringify({ error: jsonOf(error), ...(warnings.length > 0 ? { warnings } : {}) });
  const lines = [`${notePaint.red("✗")} ${safeLines(error.message)}`];
  const places = error.problems.map(({ at }) => safeText(at));
  const width = Math.max(0, ...places.map((place) => place.length));
  for (const [index, { message }] of error.problems.entries()) {
    lines.push(`  ${notePaint.bold((places[index] ?? "").padEnd(width))}  ${safeText(message)}`);
  }
  const hint = error.hint ?? (example === undefined ? undefined : `Try: ${example}`);
  if (hint !== undefined) lines.push(...hint.split("\n").map((line) => `  ${line}`));
  return lines.join("\n");
}

/** One problem (or warning) on one line: where it is, and what it is. */
export const renderProblem = ({ at, message }: Problem): string => safeText(`${at} ${message}`.trim());

function jsonOf({ code, message, problems, hint, details }: PaylinkError): Record<string, unknown> {
  return {
    code,
    message,
    details: {
      ...details,
      ...(problems.length > 0 ? { problems } : {}),
      ...(hint === undefined ? {} : { hint }),
    },
  };
}
