/** Shows the result of `verify`: each step, the digests, the signature base, warnings, cause and advice. */
import type { Paint } from "./paint.ts";
import type { Violation, TransactionRecord } from "../domain/transaction.ts";
import { renderRecord } from "./transaction-record.ts";
import { clip, safeText } from "./safe-text.ts";
import { warningWords } from "./signature-warnings.ts";

interface ShownVerdict {
  readonly verdict: "valid" | "invalid";
  readonly code: string;
  readonly keyid: string | null;
  readonly alg: string;
  readonly checks: readonly { readonly check: string; readonly ok: boolean; readonly detail: string }[];
  readonly warnings: readonly string[];
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

function warned(warning: string, paint: Paint): string {
  return `${paint.yellow("!")} ${warning}  ${paint.dim(warningWords(warning))}`;
}

function cause({ verdict, code, hints }: ShownVerdict, paint: Paint): string[] {
  if (verdict === "valid") return [];
  if (hints.length === 0)
    return [ADVICE[code] ?? FAMILY.find(([start]) => code.startsWith(start))?.[1] ?? NOTHING];
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

/** The advice if no variant explains the failure. */
const ADVICE: Readonly<Record<string, string>> = {
  signature_invalid:
    "No variant of the message verifies: a covered component was changed in transit, or another key signed it. Compare the signature base above with the sender's, line by line.",
  content_digest_mismatch:
    "No variant of the body matches: it was changed in transit, or belongs to another signature. Capture the bytes as they arrive.",
  unsigned:
    "This is not a webhook of the service, or a proxy removes Signature and Signature-Input. Configure the proxy to forward both.",
  signature_missing:
    "A proxy or framework may have removed Signature. Configure it to forward the header unchanged.",
  signature_input_missing:
    "A proxy or framework may have removed Signature-Input. Configure it to forward the header unchanged.",
  coverage_missing: "The sender must sign this component. An unsigned component can be changed in transit.",
  label_not_found: "The service signs with the label sig1. Other signatures are ignored.",
  key_not_found:
    "The signature names a key that is not configured. Fetch the key set of the service again, or pass it with --key.",
  key_ambiguous: "Pass only the key that the service signs with: --key service.pem",
  key_unusable: "Use a key that is for verifying signatures and currently valid.",
  weak_key: "Such a key can be broken. The service must use RSA with at least 2048 bits.",
  alg_not_allowed: "The configuration sets the algorithm; a message cannot choose it.",
  method_not_allowed: "Webhooks use POST.",
  body_too_large: "The limit is 1 MiB; a webhook has a few KiB.",
  body_incomplete: "The body is incomplete. Capture all of it, or find out what closed the connection.",
  http_parse_error:
    "No HTTP server accepts this message. If the capture was edited, capture the webhook again.",
  created_missing: "--require-created requires it; the service may not send it.",
};

const FAMILY: readonly (readonly [start: string, advice: string])[] = [
  ["signature_", "The field breaks RFC 9421 or RFC 8941. If no proxy changed it, the sender must fix it."],
  [
    "duplicate_",
    "Programs differ in which of two values they use, so neither is accepted. Find out what added the second.",
  ],
  [
    "component_",
    "The signature covers a component that this message does not have in that form. Configure proxies to forward headers and target unchanged.",
  ],
  ["alg_", "The key does not fit the configured algorithm. Use the RSA key of the service."],
  ["key_", "Use the RSA public key of the service."],
];
