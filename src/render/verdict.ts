/** What `verify` finds, in words: each step, the digests, the signature base line by line, warnings, cause and advice. */
import type { Paint } from "./paint.ts";
import type { Breach, TransactionRecord } from "../domain/transaction.ts";
import { renderRecord } from "./record.ts";
import { clip, safeText } from "./safe-text.ts";

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
  readonly breaches: readonly Breach[];
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
  const { verdict, record, breaches } = shown;
  const { paint } = style;
  const sections = [
    heading(shown, paint),
    renderSteps(shown, paint),
    section("cause", cause(verdict, paint), paint),
    record === null && breaches.length === 0 ? "" : renderRecord(record ?? {}, breaches, style),
  ];
  return joined(sections);
}

/** What was done, without what to make of it: each step, the digests, the signature base and the warnings. */
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
    `computed  ${same ? paint.green(computed) : paint.red(computed)}${same ? "" : "  (of the body at hand)"}`,
  ];
}

/** The line is shown whole: it is what was, or was not, signed. */
const traced = ({ line, origin }: { line: string; origin: string }, paint: Paint): string[] => [
  safeText(line),
  paint.dim(`  └ ${safeText(origin)}`),
];

const WARNINGS: Readonly<Record<string, string>> = {
  multiple_signatures: "there are several signatures; only the one that counts was looked at",
  non_canonical_signature_input: "Signature-Input has white space that the signed form has not",
  non_canonical_base64: "base64 without its padding, or with stray bits",
  signature_has_parameters: "the signature itself has parameters, which mean nothing",
  unknown_signature_param: "Signature-Input has a parameter that RFC 9421 does not know",
  content_digest_alg_ignored: "Content-Digest has an algorithm that proves nothing, which was passed over",
  content_digest_without_sha256: "Content-Digest has sha-512 only; the service is specified to send sha-256",
  content_encoding_not_decoded: "the body has a coding that cannot be undone, so its record was not read",
  method_not_covered: "the method is not signed: it may have been changed on the way",
  target_not_covered: "the address is not signed: the webhook may have been meant for another one",
  content_type_not_covered: "the content type is not signed: it may have been changed on the way",
  created_missing: "the signature does not say when it was made: it can be replayed for ever",
  weak_exponent: "the key's public exponent is below 65537",
};

function warned(warning: string, paint: Paint): string {
  return `${paint.yellow("!")} ${warning}  ${paint.dim(WARNINGS[warning] ?? "")}`;
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
    ? "verifies; it explains, and is not accepted"
    : "";

const NOTHING = "No variant of the message explains it.";

/** What to do where no variant says more. */
const ADVICE: Readonly<Record<string, string>> = {
  signature_invalid:
    "No variant of the message verifies: something covered was changed on the way, or another key signed it. Compare the signature base above with the sender's, line by line.",
  content_digest_mismatch:
    "No variant of the body matches: it was changed on the way, or is not the body of this signature. Capture the bytes as they arrive.",
  unsigned:
    "This is no webhook of the service, or a proxy strips Signature and Signature-Input. Let both pass.",
  signature_missing: "A proxy or framework may have dropped Signature. Let it pass untouched.",
  signature_input_missing: "A proxy or framework may have dropped Signature-Input. Let it pass untouched.",
  coverage_missing: "Whoever signed has to cover it; what is not covered proves nothing.",
  label_not_found: "The service signs under the label sig1, and no other signature counts.",
  key_not_found:
    "The signature names a key that is not configured. Fetch the service's key set again, or give it with --key.",
  key_ambiguous: "Give only the key that the service signs with: --key service.pem",
  key_unusable: "Give a key that is meant for verifying signatures, and is valid at the time.",
  weak_key: "Such a key can be broken or forged; the service has to use RSA of 2048 bits or more.",
  alg_not_allowed: "The algorithm is fixed by configuration, and a message cannot choose it.",
  method_not_allowed: "Webhooks are posted; another method is none.",
  body_too_large: "Webhooks are a few KiB; 1 MiB is the limit.",
  body_incomplete: "The body was cut off: capture it whole, or look for what ended the connection.",
  http_parse_error: "No HTTP server would hand this on. If the capture was edited, take it again.",
  created_missing: "--require-created insists on it; the service may not send it.",
};

const FAMILY: readonly (readonly [start: string, advice: string])[] = [
  [
    "signature_",
    "The field breaks RFC 9421 or RFC 8941. If nothing on the way rewrote it, the signer has to mend it.",
  ],
  ["duplicate_", "Readers differ in which of two they take, so neither is. Find what added the second."],
  [
    "component_",
    "The signature covers something that this message does not have in that form. Let headers and target pass untouched.",
  ],
  ["alg_", "The key and the configured algorithm do not agree. Give the service's RSA key."],
  ["key_", "Give the service's RSA public key."],
];
