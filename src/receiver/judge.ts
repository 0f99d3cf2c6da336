/** Judges a received webhook: signature and digest first, and only then the record in its body. */
import type { Violation, TransactionRecord } from "../domain/transaction.ts";
import type { HttpRequest } from "../http/message.ts";
import type { VerificationKey } from "../signatures/keys.ts";
import type { Policy } from "../signatures/policy.ts";
import type { Warning } from "../domain/reasons.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { verify } from "../signatures/verify.ts";
import { readContent } from "./content.ts";

export interface Judgement {
  readonly verdict: Verdict;
  /** Null if the webhook is not authentic or has no record. */
  readonly record: TransactionRecord | null;
  readonly violations: readonly Violation[];
}

export interface JudgeOptions {
  readonly keys: readonly VerificationKey[];
  readonly policy: Policy;
  readonly now: Date;
  /** Decoded bytes that a compressed body may grow to. */
  readonly maxBody: number;
  /** The JSON Pointer to the record, if the service wraps it. */
  readonly recordAt?: string | undefined;
  /** Also reads the record of a webhook that does not verify. */
  readonly unverified?: boolean;
}

export function judge(request: HttpRequest, options: JudgeOptions): Judgement {
  const { keys, policy, now, maxBody, recordAt, unverified = false } = options;
  const verdict = verify(request, { keys, policy, now: Math.floor(now.getTime() / 1000) });
  if (verdict.verdict === "invalid" && !unverified) return { verdict, record: null, violations: [] };
  const { record, violations, decoded } = readContent(request, maxBody, recordAt);
  return {
    verdict: decoded ? verdict : warned(verdict, "content_encoding_not_decoded"),
    record,
    violations,
  };
}

/** The verdict with one more warning. */
export const warned = (verdict: Verdict, warning: Warning): Verdict => ({
  ...verdict,
  warnings: [...verdict.warnings, warning],
});
