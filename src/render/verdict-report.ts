/** Shows the result of `verify`: each step, the digests, the signature base, warnings, cause and advice. */
import type { Paint } from "./paint.ts";
import { REASONS, WARNING_MEANINGS, type Warning } from "../domain/reasons.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Explanation } from "../receiver/captured.ts";
import { traceBase, type Check, type TracedLine } from "../signatures/explain/checks.ts";
import { compareDigests, type ComparedDigest } from "../signatures/digest.ts";
import { renderRecord, type RecordStyle } from "./transaction-record.ts";
import { safeText } from "./safe-text.ts";
import { clip } from "./width.ts";

/** `source` says where the address of the request comes from. */
export function renderExplanation(
  explanation: Explanation,
  request: HttpRequest,
  source: string,
  style: RecordStyle,
): string {
  const { paint } = style;
  const { verdict, record, violations } = explanation;
  const { checks, signatureBase } = explanation;
  return joined([
    heading(verdict, request, paint),
    renderSteps({ checks, signatureBase, warnings: verdict.warnings }, request, source, paint),
    section("cause", cause(explanation, paint), paint),
    record === null && violations.length === 0 ? "" : renderRecord(record, violations, style),
  ]);
}

export interface VerdictSteps extends Pick<Explanation, "checks" | "signatureBase"> {
  readonly warnings: readonly Warning[];
}

/**
 * The steps, the digests, the signature base and the warnings, without the conclusion. There is nothing to compare if what was
 * rejected was not an HTTP request.
 */
export function renderSteps(
  { checks, warnings, signatureBase }: VerdictSteps,
  request: HttpRequest | null,
  source: string,
  paint: Paint,
): string {
  const digests = request === null ? [] : compareDigests(request.headers, request.body);
  const trace = request === null ? [] : traceBase(signatureBase, request, source);
  return joined([
    section(
      "checks",
      checks.map((check) => checked(check, paint)),
      paint,
    ),
    section(
      "digest",
      digests.flatMap((digest) => comparison(digest, paint)),
      paint,
    ),
    section(
      "signature base",
      trace.flatMap((line) => traced(line, paint)),
      paint,
    ),
    section(
      "warnings",
      warnings.map((warning) => warned(warning, paint)),
      paint,
    ),
  ]);
}

const joined = (sections: readonly string[]): string => sections.filter((text) => text !== "").join("\n\n");

function heading(verdict: Explanation["verdict"], request: HttpRequest, paint: Paint): string {
  const { method, scheme, authority, target } = request;
  const address = `${scheme}://${authority}${target}`;
  const word = verdict.verdict === "valid" ? paint.green.bold("VALID") : paint.red.bold("INVALID");
  const code = verdict.verdict === "valid" ? "" : `  ${paint.bold(verdict.code)}`;
  return `${word}${code}  ${safeText(method)} ${safeText(clip(address, ADDRESS_LENGTH))}`;
}

const ADDRESS_LENGTH = 200;

function section(title: string, lines: readonly string[], paint: Paint): string {
  return lines.length === 0 ? "" : [paint.cyan(title), ...lines.map((line) => `  ${line}`)].join("\n");
}

const CHECK_WIDTH = 18;

function checked({ check, ok, detail }: Check, paint: Paint): string {
  const mark = ok ? paint.green("✓") : paint.red("✗");
  return `${mark} ${check.padEnd(CHECK_WIDTH)}${safeText(detail)}`;
}

function comparison({ sent, computed }: ComparedDigest, paint: Paint): string[] {
  const same = sent === computed;
  return [
    `sent      ${safeText(sent)}`,
    `computed  ${same ? paint.green(computed) : paint.red(computed)}${same ? "" : "  (of this body)"}`,
  ];
}

/** Shows the whole line, since every character of it counts for the signature. */
const traced = ({ line, origin }: TracedLine, paint: Paint): string[] => [
  safeText(line),
  paint.dim(`  └ ${safeText(origin)}`),
];

function warned(warning: Warning, paint: Paint): string {
  return `${paint.yellow("!")} ${warning}  ${paint.dim(WARNING_MEANINGS[warning])}`;
}

function cause({ verdict: { verdict, code }, hints }: Explanation, paint: Paint): string[] {
  if (verdict === "valid" || code === "ok") return [];
  if (hints.length === 0) return [REASONS[code].advice ?? NOTHING];
  return hints.flatMap(({ variant, advice }) => [
    `${paint.bold(safeText(variant))}  ${paint.dim(explains(code))}`,
    ...advice.split("\n").map((line) => `  ${safeText(line)}`),
  ]);
}

const explains = (code: string): string =>
  code === "signature_invalid" || code === "content_digest_mismatch" || code === "body_incomplete"
    ? "this variant verifies; it explains the failure, but is not accepted"
    : "";

const NOTHING = "No variant of the message explains the failure.";
