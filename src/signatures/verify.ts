/** Verification of a signed request (RFC 9421 3.2): one message, one policy, one moment, one verdict. */

import type { HttpRequest } from "../http/message.ts";
import { ALGORITHMS } from "./algorithms.ts";
import { signatureBase } from "./base.ts";
import type { Component } from "./components.ts";
import { checkDigest, isActive } from "./digest.ts";
import { requireAlgorithm, requireStrength, requireUsable } from "./key-rules.ts";
import { selectKey, type VerificationKey } from "./keys.ts";
import type { Policy } from "./policy.ts";
import { readSignature, type ReceivedSignature } from "./received.ts";
import { Refusal } from "./refusal.ts";
import { Report } from "./report.ts";
import type { Verdict } from "./verdict.ts";

export interface VerifyOptions {
  readonly keys: readonly VerificationKey[];
  readonly policy: Policy;
  /** Unix seconds. */
  readonly now: number;
}

/** Runs the steps in their order and stops at the first that fails. It never throws. */
export function verify(request: HttpRequest, options: VerifyOptions): Verdict {
  const report = new Report(options.policy);
  try {
    const received = readSignature(request.headers, options.policy, report);
    checkCoverage(received, options.policy, report);
    checkFreshness(received, options, report);
    const key = checkKey(received, options, report);
    checkSignature(request, received, key, options.policy, report);
    checkContent(request, report);
    warnOfUncovered(request, received.components, report);
  } catch (error) {
    report.refuse(error);
  }
  return report.verdict();
}

function checkCoverage({ components }: ReceivedSignature, { required }: Policy, report: Report): void {
  report.begin("coverage", "coverage_missing");
  if (!components.some(coversContent)) {
    throw new Refusal("coverage_missing", "content-digest is not covered, so the body is not signed");
  }
  for (const { identity, identifier } of required) {
    if (!components.some((component) => component.identity === identity)) {
      throw new Refusal("coverage_missing", `${identifier} is required and not covered`);
    }
  }
  report.pass(`content-digest${required.map(({ identifier }) => `, ${identifier}`).join("")}`);
}

/** Any other parameter makes it the digest of something else, or one that is not checked against the body. */
function coversContent({ name, parameters }: Component): boolean {
  if (name !== "content-digest") return false;
  if (parameters.size === 0) return true;
  const key = parameters.get("key");
  const flag = parameters.get("sf") ?? parameters.get("bs");
  return parameters.size === 1 && (flag === true || (typeof key === "string" && isActive(key)));
}

function checkFreshness(
  { created, expires }: ReceivedSignature,
  { policy: { maxAge, skew, requireCreated }, now }: VerifyOptions,
  report: Report,
): void {
  report.begin("freshness", "signature_too_old");
  if (created === null) {
    if (requireCreated) throw new Refusal("created_missing", "created is required and not given");
    report.warn("created_missing");
  } else if (created > now + skew) {
    const unit = created > 100 * now ? " (it looks like milliseconds)" : "";
    throw new Refusal("created_in_future", `created ${created} is ${created - now} s ahead${unit}`);
  } else if (now - created > maxAge + skew) {
    throw new Refusal("signature_too_old", `created ${now - created} s ago, more than ${maxAge} + ${skew} s`);
  }
  if (expires !== null && now > expires) {
    throw new Refusal("signature_expired", `expired ${now - expires} s ago`);
  }
  report.pass(created === null ? "created is not given" : `created ${now - created} s ago`);
}

/** The algorithm is the policy's; `alg` and the key may only agree with it (RFC 9421 7.3.6). */
function checkKey(
  { keyid, alg }: ReceivedSignature,
  options: VerifyOptions,
  report: Report,
): VerificationKey {
  const { keys, policy, now } = options;
  report.begin("key", "key_not_found");
  const key = selectKey(keys, keyid);
  requireUsable(key, now);
  report.pass(key.keyid === null ? "the key that is configured" : `the key ${key.keyid}`);
  report.begin("algorithm", "alg_not_allowed");
  if (alg !== null && alg !== policy.algorithm) {
    throw new Refusal("alg_not_allowed", `the signature says "${alg}", only ${policy.algorithm} is taken`);
  }
  requireAlgorithm(key, policy.algorithm);
  report.pass(policy.algorithm);
  return key;
}

function checkSignature(
  request: HttpRequest,
  { components, params, signature }: ReceivedSignature,
  key: VerificationKey,
  policy: Policy,
  report: Report,
): void {
  report.begin("signature-base", "component_value_invalid");
  const base = signatureBase(components, params, request);
  report.signatureBase = base;
  report.pass(`${components.length + 1} lines`);
  report.begin("key-strength", "weak_key");
  const { size, smallExponent } = requireStrength(key);
  if (smallExponent) report.warn("weak_exponent");
  report.pass(size === null ? "not an RSA key" : `RSA of ${size} bits`);
  report.begin("signature-value", "signature_invalid");
  if (!ALGORITHMS[policy.algorithm].verify(Buffer.from(base, "latin1"), key.key, signature)) {
    throw new Refusal("signature_invalid", "the signature is not this key's over this signature base");
  }
  report.pass(`${policy.algorithm} verifies`);
}

/** A signature over Content-Digest says nothing of the body until the digest is recomputed (RFC 9421 7.2.8). */
function checkContent({ headers, body }: HttpRequest, report: Report): void {
  report.begin("content-digest", "content_digest_malformed");
  const digest = checkDigest(headers, body);
  for (const warning of digest.warnings) report.warn(warning);
  if (!digest.ok) throw new Refusal(digest.reason, digest.detail);
  report.pass(`${digest.verified.join(", ")} over ${body.length} bytes`);
}

/** What is not covered may have been changed on the way (RFC 9421 7.2.1). */
function warnOfUncovered({ target }: HttpRequest, components: readonly Component[], report: Report): void {
  const covers = (wanted: string): boolean =>
    components.some(({ name, parameters }) => name === wanted && !parameters.has("tr"));
  const query = (): boolean => !target.includes("?") || covers("@query") || covers("@query-param");
  if (!covers("@method")) report.warn("method_not_covered");
  if (!covers("@target-uri") && !covers("@request-target") && !(covers("@path") && query())) {
    report.warn("target_not_covered");
  }
  if (!covers("content-type")) report.warn("content_type_not_covered");
}
