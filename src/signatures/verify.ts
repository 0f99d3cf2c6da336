/** Verification of a signed request (RFC 9421 3.2): one message, one policy, one moment, one verdict. */

import type { HttpRequest } from "../http/message.ts";
import { ALGORITHMS } from "./algorithms.ts";
import { signatureBase } from "./base.ts";
import type { Component } from "./components.ts";
import { checkDigest, isActive } from "./digest.ts";
import {
  checkAlgorithm,
  checkStrength,
  checkUse,
  describeStrength,
  keysPassing,
  matchingKeys,
  requireDistinct,
} from "./key-rules.ts";
import type { Policy } from "./policy.ts";
import { readSignature, type ReceivedSignature } from "./received.ts";
import { Report } from "./report.ts";
import { SignatureError, type Verdict } from "./verdict.ts";
import type { VerificationKey } from "./keys.ts";

export interface VerifyOptions {
  readonly keys: readonly VerificationKey[];
  readonly policy: Policy;
  /** Unix seconds. */
  readonly now: number;
}

/** Runs the steps in order and stops at the first that fails. Throws only what says nothing about the message, as `Report.fail`. */
export const verify = (request: HttpRequest, options: VerifyOptions): Verdict =>
  examine(request, options, (received, report) => {
    const candidates = chooseKeys(received, options, report);
    checkSignature(request, received, candidates, options, report);
  });

/** The same with other steps in place of those that need a key. */
export function examine(
  request: HttpRequest,
  options: Pick<VerifyOptions, "policy" | "now">,
  checkKeys: (received: ReceivedSignature, report: Report) => void,
): Verdict {
  const report = new Report(options.policy);
  try {
    const received = readSignature(request.headers, options.policy, report);
    checkCoverage(received, options.policy, report);
    checkFreshness(received, options, report);
    checkKeys(received, report);
    checkContent(request, report);
    warnOfUncovered(request, received.components, report);
  } catch (error) {
    report.fail(error);
  }
  return report.verdict();
}

function checkCoverage({ components }: ReceivedSignature, { required }: Policy, report: Report): void {
  report.begin("coverage", "coverage_missing");
  if (!components.some(coversContent)) {
    throw new SignatureError("coverage_missing", "content-digest is not covered, so the body is not signed");
  }
  for (const { identity, identifier } of required) {
    if (!components.some((component) => component.identity === identity)) {
      throw new SignatureError("coverage_missing", `${identifier} is required but not covered`);
    }
  }
  report.pass(`content-digest${required.map(({ identifier }) => `, ${identifier}`).join("")}`);
}

/**
 * With any other parameter it is the digest of something else, or one that is not compared with the body. With `sf` and `bs`
 * it covers the body, and is refused for its own reason when the base is built.
 */
function coversContent({ name, parameters }: Component): boolean {
  if (name !== "content-digest") return false;
  if (parameters.size === 0) return true;
  const key = parameters.get("key");
  const flag = parameters.get("sf") ?? parameters.get("bs");
  return parameters.size === 1 && (flag === true || (typeof key === "string" && isActive(key)));
}

function checkFreshness(
  { created, expires }: ReceivedSignature,
  { policy: { maxAge, skew, requireCreated }, now }: Pick<VerifyOptions, "policy" | "now">,
  report: Report,
): void {
  report.begin("freshness", "signature_too_old");
  if (created === null) {
    if (requireCreated) throw new SignatureError("created_missing", "created is required but missing");
    report.warn("created_missing");
  } else if (created > now + skew) {
    const unit = created > 100 * now ? ", which looks like milliseconds" : "";
    throw new SignatureError(
      "created_in_future",
      `created ${created} is ${created - now} s in the future${unit}`,
    );
  } else if (now - created > maxAge + skew) {
    throw new SignatureError(
      "signature_too_old",
      `created ${now - created} s ago; the limit is ${maxAge} + ${skew} s`,
    );
  }
  if (expires !== null && now > expires) {
    throw new SignatureError("signature_expired", `expired ${now - expires} s ago`);
  }
  report.pass(created === null ? "no created" : `created ${now - created} s ago`);
}

/** Steps 5 and 6 of RFC 9421 3.2: the keys to try. The policy sets the algorithm; `alg` and the keys must agree. */
function chooseKeys(
  { keyid, alg }: ReceivedSignature,
  { keys, policy: { algorithm }, now }: VerifyOptions,
  report: Report,
): readonly VerificationKey[] {
  report.begin("key", "key_not_found");
  const usable = keysPassing(matchingKeys(keys, keyid), (key) => checkUse(key, now));
  report.pass(usable.map((key) => describeKey(key, keys)).join(", "));
  report.begin("algorithm", "alg_not_allowed");
  if (alg !== null && alg !== algorithm) {
    throw new SignatureError(
      "alg_not_allowed",
      `the signature has alg "${alg}"; only ${algorithm} is allowed`,
    );
  }
  const suitable = keysPassing(usable, (key) => checkAlgorithm(key, algorithm));
  requireDistinct(suitable, keyid);
  report.pass(algorithm);
  return suitable;
}

function describeKey(key: VerificationKey, keys: readonly VerificationKey[]): string {
  if (key.keyid !== null) return `key ${key.keyid}`;
  return keys.length === 1 ? "the configured key" : `key number ${keys.indexOf(key) + 1}, which has no id`;
}

/** Signatures that one message can make us verify. */
const MAX_TRIED = 4;

function checkSignature(
  request: HttpRequest,
  received: ReceivedSignature,
  candidates: readonly VerificationKey[],
  { keys, policy: { algorithm } }: VerifyOptions,
  report: Report,
): void {
  const base = rebuildBase(request, received, report);
  report.begin("key-strength", "weak_key");
  const strong = keysPassing(candidates, checkStrength);
  report.pass(strong.map(describeStrength).join(", "));
  report.begin("signature-value", "signature_invalid");
  const bytes = Buffer.from(base, "latin1");
  const tried = strong.slice(0, MAX_TRIED);
  const key = tried.find((one) => ALGORITHMS[algorithm].verify(bytes, one.key, received.signature));
  if ((key === undefined ? tried : [key]).some(({ smallExponent }) => smallExponent))
    report.warn("weak_exponent");
  if (key === undefined) throw noKeyVerifies(strong.length);
  report.pass(verifiedWith(algorithm, describeKey(key, keys)));
}

export function rebuildBase(request: HttpRequest, received: ReceivedSignature, report: Report): string {
  report.begin("signature-base", "component_value_invalid");
  const base = signatureBase(received.components, received.params, request);
  report.signatureBase = base;
  report.pass(`${received.components.length + 1} lines`);
  return base;
}

export const verifiedWith = (algorithm: string, key: string): string => `${algorithm} verifies with ${key}`;

function noKeyVerifies(count: number): SignatureError {
  if (count > MAX_TRIED)
    return new SignatureError(
      "key_ambiguous",
      `the signature names no key and matches none of the first ${MAX_TRIED} of ${count} keys; the others were not tried`,
    );
  return new SignatureError(
    "signature_invalid",
    count === 1 ? "the signature does not match this key" : `the signature matches none of the ${count} keys`,
  );
}

/** A signature over Content-Digest proves nothing about the body until the digest is recomputed (RFC 9421 7.2.8). */
function checkContent({ headers, body }: HttpRequest, report: Report): void {
  report.begin("content-digest", "content_digest_malformed");
  const digest = checkDigest(headers, body);
  for (const warning of digest.warnings) report.warn(warning);
  if (!digest.ok) throw new SignatureError(digest.reason, digest.detail);
  report.pass(`${digest.verified.join(", ")} over ${body.length} bytes`);
}

/** Anything not covered may have been changed in transit (RFC 9421 7.2.1). */
function warnOfUncovered({ target }: HttpRequest, components: readonly Component[], report: Report): void {
  const covers = (wanted: string): boolean => components.some(({ name }) => name === wanted);
  const query = (): boolean => !target.includes("?") || covers("@query") || covers("@query-param");
  if (!covers("@method")) report.warn("method_not_covered");
  if (!covers("@target-uri") && !covers("@request-target") && !(covers("@path") && query())) {
    report.warn("target_not_covered");
  }
  if (!covers("content-type")) report.warn("content_type_not_covered");
}
