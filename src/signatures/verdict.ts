/** The result of verification: a reason code, the checks made, warnings, hints and the signature base. */

/** Reason codes in the order of the steps of RFC 9421 3.2 that report them. */
export const REASONS = [
  "unsigned",
  "signature_missing",
  "signature_input_missing",
  "signature_input_malformed",
  "signature_malformed",
  "limit_exceeded",
  "duplicate_label",
  "label_mismatch",
  "label_not_found",
  "duplicate_param",
  "signature_param_invalid",
  "coverage_missing",
  "created_missing",
  "created_in_future",
  "signature_too_old",
  "signature_expired",
  "key_not_found",
  "key_ambiguous",
  "key_unusable",
  "alg_not_allowed",
  "alg_key_mismatch",
  "key_type_mismatch",
  "duplicate_component",
  "component_missing",
  "component_unknown",
  "component_not_applicable",
  "component_param_unknown",
  "component_param_incompatible",
  "component_sf_type_unknown",
  "req_on_request",
  "query_param_ambiguous",
  "component_value_invalid",
  "duplicate_header",
  "weak_key",
  "signature_invalid",
  "content_digest_unsupported",
  "content_digest_malformed",
  "content_digest_mismatch",
] as const;
export type Reason = (typeof REASONS)[number];

/** A step that failed: its reason code, and the words that help to find the cause. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  readonly reason: Reason;

  constructor(reason: Reason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** An error's own words, whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const WARNINGS = [
  "multiple_signatures",
  "non_canonical_signature_input",
  "non_canonical_base64",
  "signature_has_parameters",
  "unknown_signature_param",
  "content_digest_alg_ignored",
  "content_digest_without_sha256",
  "content_encoding_not_decoded",
  "method_not_covered",
  "target_not_covered",
  "content_type_not_covered",
  "created_missing",
  "weak_exponent",
  "duplicate_delivery",
] as const;
export type Warning = (typeof WARNINGS)[number];

/** One step of the procedure and its result. A step that was not reached is not listed. */
export interface Check {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A variant of the message that the signature matches: it explains a failure and is never accepted. */
export interface Hint {
  readonly variant: string;
  readonly advice: string;
}

export interface Verdict<Code extends string = Reason> {
  readonly verdict: "valid" | "invalid";
  /** `ok`, or the reason of the first step that failed. */
  readonly code: "ok" | Code;
  readonly label: string;
  readonly keyid: string | null;
  readonly alg: string;
  /** Unix seconds, as the signature states them; null where it has no `created`. */
  readonly created: number | null;
  /** Component identifiers without their quotes: `@method`, `content-digest;key="sha-256"`. */
  readonly covered: readonly string[];
  readonly checks: readonly Check[];
  readonly warnings: readonly Warning[];
  readonly hints: readonly Hint[];
  /** As rebuilt from the message (RFC 9421 2.5); null where that failed. */
  readonly signatureBase: string | null;
}
