/** What verification answers: a value with a code, every check that was made, warnings and the signature base. */

/** Reason codes in the order in which the steps of RFC 9421 3.2 can produce them; `ok` is none of them. */
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

export const WARNINGS = [
  "multiple_signatures",
  "non_canonical_signature_input",
  "non_canonical_base64",
  "signature_has_parameters",
  "unknown_signature_param",
  "content_digest_alg_ignored",
  "content_encoding_not_decoded",
  "method_not_covered",
  "target_not_covered",
  "content_type_not_covered",
  "created_missing",
  "weak_exponent",
  "duplicate_delivery",
] as const;
export type Warning = (typeof WARNINGS)[number];

/** One step of the procedure, as it went. A step that was never reached is not listed. */
export interface Check {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A variant of the message under which the signature would have verified: it explains and is never accepted. */
export interface Hint {
  readonly variant: string;
  readonly advice: string;
}

export interface Verdict<Code extends string = Reason> {
  readonly verdict: "valid" | "invalid";
  /** `ok`, or the first step's reason that failed. */
  readonly code: "ok" | Code;
  readonly label: string;
  readonly keyid: string | null;
  readonly alg: string;
  /** Unix seconds, as the signature says; null where it says nothing. */
  readonly created: number | null;
  /** Component identifiers without their quotes: `@method`, `content-digest;key="sha-256"`. */
  readonly covered: readonly string[];
  readonly checks: readonly Check[];
  readonly warnings: readonly Warning[];
  readonly hints: readonly Hint[];
  /** As reconstructed from the message (RFC 9421 2.5); null where it could not be. */
  readonly signatureBase: string | null;
}
