/** Shows a failure: what happened, every problem with its place, and the next step; or one JSON document. */
import { plural } from "../values/plural.ts";
import type { Paint } from "./paint.ts";
import { maskCardNumbers } from "../domain/card-numbers.ts";
import type { PaylinkError, Problem } from "../domain/errors.ts";
import { type Named, renderAdvice } from "./hint.ts";
import { safeLines, safeText } from "./safe-text.ts";

interface ErrorStyle {
  readonly json: boolean;
  readonly notePaint: Paint;
  /** The warnings before the failure. */
  readonly warnings: readonly string[];
  /** Results that stdout did not accept. */
  readonly unwritten: readonly string[];
  /** What lines of a log also say; undefined if stdout is not a log. */
  readonly stamp?: ((level: "info" | "error") => { readonly at: Date; readonly level: string }) | undefined;
}

export function renderError(
  error: PaylinkError,
  { json, notePaint, warnings, unwritten, stamp }: ErrorStyle,
  named?: Named,
): string {
  const hints = renderAdvice(error, named);
  if (json)
    return JSON.stringify(
      {
        error: errorJson(error, hints),
        ...(warnings.length > 0 ? { warnings } : {}),
        ...(unwritten.length > 0 ? { output: unwritten.join("\n") } : {}),
        ...stamp?.(error.isInterruption ? "info" : "error"),
      },
      (_, value: unknown) => (typeof value === "string" ? maskCardNumbers(value) : value),
    );
  const lines = [`${notePaint.red("✗")} ${safeLines(error.message)}${fixes(error)}`];
  const problems = error.unnamed;
  const places = problems.map(({ at }) => safeText(at));
  const width = Math.max(0, ...places.map((place) => place.length));
  for (const [index, { message }] of problems.entries()) {
    lines.push(`  ${notePaint.bold((places[index] ?? "").padEnd(width))}  ${safeText(message)}`);
  }
  const { body } = error.details;
  if (typeof body === "string") lines.push(safeLines(body));
  lines.push(...hints.map((line) => `  ${line}`));
  return lines.join("\n");
}

/** The user must fix the problems of wrong usage; the problems of other failures explain the message. */
function fixes({ code, problems }: PaylinkError): string {
  if (code !== "usage" || problems.length === 0) return "";
  return ` Fix ${plural(problems.length, "problem")}:`;
}

/** One problem, or warning, on one line: its place and its message. */
export const renderProblem = ({ at, message }: Problem): string => safeText(`${at} ${message}`.trim());

function errorJson(
  { code, message, problems, details }: PaylinkError,
  hints: readonly string[],
): Record<string, unknown> {
  return {
    code,
    message,
    details: {
      ...details,
      ...(problems.length > 0 ? { problems: problems.map(problemJson) } : {}),
      ...(hints.length > 0 ? { hint: hints.join("\n") } : {}),
    },
  };
}

/** The kind is for grouping alone. */
export const problemJson = ({ at, message, value, instead }: Problem): Problem => ({
  at,
  message,
  ...(value === undefined ? {} : { value }),
  ...(instead === undefined ? {} : { instead }),
});
