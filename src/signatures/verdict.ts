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
  /** The name of the step, such as `created` or `content-digest`. */
  readonly check: string;
  /** Whether it passed. */
  readonly ok: boolean;
  /** What was found, for people: its words may change. */
  readonly detail: string;
}

/** Why a verdict is invalid: its code, and the words of the check that failed. */
export function failureOf({ code, checks }: Verdict): { readonly code: Reason; readonly detail: string } {
  const reason = code === "ok" ? "signature_invalid" : code;
  return { code: reason, detail: checks.find(({ ok }) => !ok)?.detail ?? reason };
}

/** A variant of the message that the signature matches: it explains a failure and is never accepted. */
export interface Hint {
  /** What is different, such as `scheme=http`. */
  readonly variant: string;
  /** What to do about it. */
  readonly advice: string;
}

/** The result of the verification: the same as `paylink verify --json` prints. */
export interface Verdict<Code extends string = Reason> {
  /** Whether the request is authentic. */
  readonly verdict: "valid" | "invalid";
  /** `ok`, or the reason of the first step that failed. */
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
  /** The steps, in order, up to the first that failed. */
  readonly checks: readonly Check[];
  /** What is unusual and refuses nothing; `paylink help reasons` lists them. */
  readonly warnings: readonly Warning[];
  /** What explains a failure; always empty in the library. */
  readonly hints: readonly Hint[];
  /** As rebuilt from the message (RFC 9421 2.5); null where that failed. */
  readonly signatureBase: string | null;
}
