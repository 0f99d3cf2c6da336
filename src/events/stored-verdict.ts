/** A verdict as it is stored: only what the keys, the policy and the clock decided. The message gives the rest again. */

import type { HttpRequest } from "../http/message.ts";
import { signatureBase } from "../signatures/base.ts";
import { DEFAULT_POLICY, type Policy } from "../signatures/policy.ts";
import { readSignature } from "../signatures/received.ts";
import { Report } from "../signatures/report.ts";
import type { Reason, Warning } from "../domain/reasons.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { checkContent, checkCoverage, checkFreshness, verifiedWith } from "../signatures/verify.ts";

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
function checkAgain(request: HttpRequest, key: string, now: number): Verdict {
  const report = new Report(ANY_AGE);
  const { algorithm } = ANY_AGE;
  try {
    const received = readSignature(request.headers, ANY_AGE, report);
    checkCoverage(received, ANY_AGE, report);
    checkFreshness(received, { policy: ANY_AGE, now }, report);
    report.begin("key", "key_not_found");
    report.pass(key);
    report.begin("algorithm", "alg_not_allowed");
    report.pass(algorithm);
    report.begin("signature-base", "component_value_invalid");
    report.signatureBase = signatureBase(received.components, received.params, request);
    report.pass(`${received.components.length + 1} lines`);
    report.begin("key-strength", "weak_key");
    report.pass("");
    report.begin("signature-value", "signature_invalid");
    report.pass(verifiedWith(algorithm, key));
    checkContent(request, report);
  } catch (error) {
    report.fail(error);
  }
  return report.verdict();
}
