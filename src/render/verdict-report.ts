/** Shows the result of `verify`: each step, the signature base, warnings, cause and advice. */
import type { Paint } from "./paint.ts";
import { REASONS, WARNING_MEANINGS, type Warning } from "../domain/reasons.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Explanation } from "../receiver/captured.ts";
import type { CheckResult } from "../signatures/explain/verdict-words.ts";
import { renderRecord, type RecordStyle } from "./transaction-record.ts";
import { safeText } from "./safe-text.ts";
import { fitLines, wrap } from "./layout.ts";
import { clip } from "./width.ts";

/** `source` says where the address of the request comes from. */
export function renderExplanation(
  explanation: Explanation,
  request: HttpRequest,
  source: string,
  style: RecordStyle & { readonly lineWidth: number },
): string {
  const { paint, lineWidth } = style;
  const fitted = (text: string): string => fitLines(text, lineWidth);
  const { verdict, checks, signatureBase, record, violations, refused } = explanation;
  return joinSections([
    refused === null ? "" : fitted(refusalText(refused, refused.code !== verdict.code, paint)),
    fitted(`${heading(verdict, request, paint)}${paint.dim(`  (address from ${source})`)}`),
    section(
      "checks",
      checks.map((check) => checkLine(check, paint, lineWidth)),
      paint,
    ),
    section(
      "signature base",
      // The whole lines, since every character of them counts for the signature.
      (signatureBase ?? "").split("\n").filter(Boolean).map(safeText),
      paint,
    ),
    section(
      "warnings",
      verdict.warnings.map((warning) => warningLine(warning, paint)),
      paint,
      fitted,
    ),
    section("cause", cause(explanation, paint), paint, fitted),
    record === null && violations.length === 0 ? "" : renderRecord(record, violations, style),
  ]);
}

const joinSections = (sections: readonly string[]): string =>
  sections.filter((text) => text !== "").join("\n\n");

/** `isJudged` says whether there is a verdict of its own. */
const refusalText = (
  { status, code, detail }: NonNullable<Explanation["refused"]>,
  isJudged: boolean,
  paint: Paint,
): string =>
  `${paint.red.bold(`listen answers ${status}`)}  ${paint.bold(code)}  ${safeText(detail)}\n  ${paint.dim(`It verifies nothing in that case.${isJudged ? " What verify finds:" : ""}`)}`;

function heading(verdict: Explanation["verdict"], request: HttpRequest, paint: Paint): string {
  const { method, scheme, authority, target } = request;
  // A target in absolute form has the address in it.
  const address = target.startsWith("/") ? `${scheme}://${authority}${target}` : target;
  const word = verdict.verdict === "valid" ? paint.green.bold("VALID") : paint.red.bold("INVALID");
  const code = verdict.verdict === "valid" ? "" : `  ${paint.bold(verdict.code)}`;
  return `${word}${code}  ${safeText(method)} ${safeText(clip(address, ADDRESS_LENGTH))}`;
}

const ADDRESS_LENGTH = 200;

function section(
  title: string,
  lines: readonly string[],
  paint: Paint,
  fitted = (line: string): string => line,
): string {
  return lines.length === 0
    ? ""
    : [paint.cyan(title), ...lines.map((line) => fitted(`  ${line}`))].join("\n");
}

const CHECK_WIDTH = 18;

function checkLine({ check, ok, detail }: CheckResult, paint: Paint, lineWidth: number): string {
  const mark = ok ? paint.green("✓") : paint.red("✗");
  const column = CHECK_WIDTH + 4;
  return `${mark} ${check.padEnd(CHECK_WIDTH)}${wrap(safeText(detail), lineWidth - column, column)}`;
}

function warningLine(warning: Warning, paint: Paint): string {
  return `${paint.yellow("!")} ${warning}  ${paint.dim(WARNING_MEANINGS[warning])}`;
}

function cause({ verdict: { verdict, code }, hints }: Explanation, paint: Paint): string[] {
  if (verdict === "valid" || code === "ok") return [];
  if (hints.length === 0) return [REASONS[code].advice ?? UNEXPLAINED];
  return hints.flatMap(({ variant, advice }) => [
    paint.bold(safeText(variant)),
    ...advice.split("\n").map((line) => `  ${safeText(line)}`),
  ]);
}

const UNEXPLAINED = "No variant of the message explains the failure.";
