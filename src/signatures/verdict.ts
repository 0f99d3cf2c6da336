/** The result of verification: a reason code, the checks made, warnings, hints and the signature base. */
import type { Reason, Warning } from "../domain/reasons.ts";

/** A step that failed: its reason code, and the words that help to find the cause. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  readonly reason: Reason;

  constructor(reason: Reason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** One step of the procedure and its result. A step that was not reached is not listed. */
export interface Check {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Why a verdict is invalid: its code, and the words of the check that failed. */
export function failureOf({ code, checks }: Verdict): { readonly code: Reason; readonly detail: string } {
  const reason = code === "ok" ? "signature_invalid" : code;
  return { code: reason, detail: checks.find(({ ok }) => !ok)?.detail ?? reason };
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
