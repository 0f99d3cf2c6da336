/** The result of verification: codes and facts. Sentences are made where somebody reads them (`explain.ts`). */
import { boundDetail, type Reason, type Warning } from "../domain/reasons.ts";

/** The checks in the order in which they are made, each with the reason where a field that it reads cannot be parsed. */
export const CHECKS = {
  "signature-fields": "unsigned",
  "signature-input": "signature_input_malformed",
  signature: "signature_malformed",
  labels: "label_mismatch",
  components: "signature_input_malformed",
  "signature-bytes": "signature_malformed",
  parameters: "signature_param_invalid",
  coverage: "coverage_missing",
  freshness: "signature_too_old",
  key: "key_not_found",
  algorithm: "alg_not_allowed",
  "signature-base": "component_value_invalid",
  "key-strength": "weak_key",
  "signature-value": "signature_invalid",
  "content-digest": "content_digest_malformed",
} as const;
export type CheckName = keyof typeof CHECKS;

/** A check that failed: its reason code, and the words that help to find the cause. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  readonly reason: Reason;

  constructor(reason: Reason, detail: string) {
    super(boundDetail(detail));
    this.reason = reason;
  }
}

/** The key that verified a signature. */
export interface VerifyingKey {
  /** Its own id; null where it has none. */
  readonly keyid: string | null;
  /** Its place among the configured keys, from 1. */
  readonly number: number;
  /** Of its modulus. */
  readonly bits: number;
  /** RFC 7638: it identifies the key, whatever form it was read from. */
  readonly thumbprint: string;
}

/** The check that failed. */
export interface FailedCheck {
  /** Its name, such as `freshness` or `content-digest`; `http` before the signature was looked at. */
  readonly check: CheckName | "http";
  /** What was found, for people: its words may change. At most 500 characters. */
  readonly detail: string;
}

/** The result of the verification of one request. */
export interface Verdict<Code extends string = Reason> {
  /** Whether the request is authentic. */
  readonly verdict: "valid" | "invalid";
  /** `ok`, or the reason of the first check that failed. */
  readonly code: "ok" | Code;
  /** The label of the signature that was checked: `sig1`. */
  readonly label: string;
  /** The id of the key that the signature names; null where it names none. */
  readonly keyid: string | null;
  /** The algorithm that was required: `rsa-v1_5-sha256`. */
  readonly alg: string;
  /** Unix seconds, as the signature states them; null where it has no `created`. */
  readonly created: number | null;
  /** Component identifiers without their quotes: `@method`, `content-digest;key="sha-256"`. */
  readonly covered: readonly string[];
  /** What is unusual and refuses nothing; `paylink help reasons` lists them. */
  readonly warnings: readonly Warning[];
  /** The key that verified the signature; null where none did. */
  readonly key: VerifyingKey | null;
  /** The check that failed; null where all passed. */
  readonly failure: FailedCheck | null;
}
