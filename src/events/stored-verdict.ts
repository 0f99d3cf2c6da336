/** A verdict as it is stored: only what the keys, the policy and the clock decided. The message gives the rest again. */

import type { HttpRequest } from "../http/message.ts";
import { DEFAULT_POLICY, type Policy } from "../signatures/policy.ts";
import type { Reason, Warning } from "../domain/reasons.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { examine, rebuildBase, verifiedWith } from "../signatures/verify.ts";

export interface StoredVerdict {
  readonly code: "ok" | Reason;
  readonly warnings: readonly Warning[];
  /** The details of the checks that the message does not give, by check. The last one is of the check that failed. */
  readonly details: Readonly<Record<string, string>>;
}

/** The checks that the keys and the policy give. */
const NOT_IN_MESSAGE: ReadonlySet<string> = new Set(["coverage", "key", "key-strength", "signature-value"]);

export function storedVerdict({ code, warnings, checks, alg }: Verdict): StoredVerdict {
  const details: Record<string, string> = {};
  for (const { check, ok, detail } of checks)
    if (!ok || (NOT_IN_MESSAGE.has(check) && detail !== usualDetail(check, alg, details["key"])))
      details[check] = detail;
  return { code, warnings, details };
}

function usualDetail(check: string, alg: string, key = ""): string | undefined {
  if (check === "coverage") return "content-digest";
  return check === "signature-value" ? verifiedWith(alg, key) : undefined;
}

/** Takes a signature of any age: the age was judged when the message arrived. */
const ANY_AGE: Policy = { ...DEFAULT_POLICY, maxAge: Infinity, skew: Infinity };

/** The verdict that `verify` gave at `now`, in Unix seconds. Hints are not stored. */
export function restoreVerdict(
  request: HttpRequest,
  { code, warnings, details }: StoredVerdict,
  now: number,
): Verdict {
  const restored = checkAgain(request, details["key"] ?? "", now);
  const failed = code === "ok" ? undefined : Object.keys(details).at(-1);
  const names = restored.checks.map(({ check }) => check);
  const reached = failed === undefined ? names.length : names.indexOf(failed) + 1;
  const checks = restored.checks
    .slice(0, reached)
    .map(({ check, detail }) => ({ check, ok: check !== failed, detail: details[check] ?? detail }));
  const hasBase = checks.some(({ check, ok }) => check === "signature-base" && ok);
  return {
    ...restored,
    verdict: code === "ok" ? "valid" : "invalid",
    code,
    checks,
    warnings,
    signatureBase: hasBase ? restored.signatureBase : null,
  };
}

/** Every check that needs no key, as far as the message allows. */
const checkAgain = (request: HttpRequest, key: string, now: number): Verdict =>
  examine(request, { policy: ANY_AGE, now }, (received, report) => {
    const { algorithm } = ANY_AGE;
    const pass = (check: string, detail: string): void => {
      report.begin(check, "signature_invalid");
      report.pass(detail);
    };
    pass("key", key);
    pass("algorithm", algorithm);
    rebuildBase(request, received, report);
    pass("key-strength", "");
    pass("signature-value", verifiedWith(algorithm, key));
  });
