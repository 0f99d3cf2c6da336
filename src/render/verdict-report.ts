/** Shows the result of `verify`: each step, the digests, the signature base, warnings, cause and advice. */
import type { Paint } from "./paint.ts";
import { REASONS, WARNING_MEANINGS, type RefusalCode, type Warning } from "../domain/reasons.ts";
import type { Violation, TransactionRecord } from "../domain/transaction.ts";
import { renderRecord } from "./transaction-record.ts";
import { safeText } from "./safe-text.ts";
import { clip } from "./width.ts";

interface ShownVerdict {
  readonly verdict: "valid" | "invalid";
  readonly code: "ok" | RefusalCode;
  readonly keyid: string | null;
  readonly alg: string;
  readonly checks: readonly { readonly check: string; readonly ok: boolean; readonly detail: string }[];
  readonly warnings: readonly Warning[];
  readonly hints: readonly { readonly variant: string; readonly advice: string }[];
}

export interface ShownSteps {
  readonly verdict: Pick<ShownVerdict, "checks" | "warnings">;
  readonly digests: readonly { readonly sent: string; readonly computed: string }[];
  readonly trace: readonly { readonly line: string; readonly origin: string }[];
}

export interface ShownExamination extends ShownSteps {
  readonly verdict: ShownVerdict;
  readonly record: TransactionRecord | null;
  readonly violations: readonly Violation[];
  readonly request: {
    readonly method: string;
    readonly scheme: string;
    readonly authority: string;
    readonly target: string;
  };
}

interface VerdictStyle {
  readonly paint: Paint;
  readonly width: number;
}

export function renderExamination(shown: ShownExamination, style: VerdictStyle): string {
  const { verdict, record, violations } = shown;
  const { paint } = style;
  const sections = [
    heading(shown, paint),
    renderSteps(shown, paint),
    section("cause", cause(verdict, paint), paint),
    record === null && violations.length === 0 ? "" : renderRecord(record, violations, style),
  ];
  return joined(sections);
}

/** The steps, the digests, the signature base and the warnings, without the conclusion. */
export function renderSteps({ verdict, digests, trace }: ShownSteps, paint: Paint): string {
  return joined([
    section("checks", checks(verdict, paint), paint),
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
      verdict.warnings.map((warning) => warned(warning, paint)),
      paint,
    ),
  ]);
}

const joined = (sections: readonly string[]): string => sections.filter((text) => text !== "").join("\n\n");

function heading({ verdict, request }: ShownExamination, paint: Paint): string {
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

function checks({ checks: made }: ShownSteps["verdict"], paint: Paint): string[] {
  return made.map(({ check, ok, detail }) => {
    const mark = ok ? paint.green("✓") : paint.red("✗");
    return `${mark} ${check.padEnd(CHECK_WIDTH)}${safeText(clip(detail, DETAIL_LENGTH))}`;
  });
}

const DETAIL_LENGTH = 1000;

function comparison({ sent, computed }: { sent: string; computed: string }, paint: Paint): string[] {
  const same = sent === computed;
  return [
    `sent      ${safeText(sent)}`,
    `computed  ${same ? paint.green(computed) : paint.red(computed)}${same ? "" : "  (of this body)"}`,
  ];
}

/** Shows the whole line, since every character of it counts for the signature. */
const traced = ({ line, origin }: { line: string; origin: string }, paint: Paint): string[] => [
  safeText(line),
  paint.dim(`  └ ${safeText(origin)}`),
];

function warned(warning: Warning, paint: Paint): string {
  return `${paint.yellow("!")} ${warning}  ${paint.dim(WARNING_MEANINGS[warning])}`;
}

function cause({ verdict, code, hints }: ShownVerdict, paint: Paint): string[] {
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
