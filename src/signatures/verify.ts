/** Verification of a signed request (RFC 9421 3.2): one message, one policy, one moment, one verdict. */

import { verify as cryptoVerify } from "node:crypto";
import type { HttpRequest } from "../http/message.ts";
import { lacksLength, receivedBase } from "./base.ts";
import type { Component } from "./components.ts";
import { checkDigest, isActive } from "./digest.ts";
import {
  checkAlgorithm,
  checkStrength,
  checkKeyUse,
  isCurrent,
  keysPassing,
  matchingKeys,
  withoutRepeats,
  MAX_TRIED,
} from "./key-rules.ts";
import { ALGORITHM, type Policy } from "./policy.ts";
import { VerificationProgress } from "./progress.ts";
import { readSignature, type ReceivedSignature } from "./received.ts";
import { SignatureError, type Verdict } from "./verdict.ts";
import type { VerificationKey } from "./keys.ts";

export interface VerifyOptions {
  readonly keys: readonly VerificationKey[];
  readonly policy: Policy;
  /** Unix seconds. */
  readonly now: number;
}

/**
 * Makes the checks in the order of `CHECKS` and stops at the first that fails. Throws only what says nothing about the
 * message, as `Progress.invalid`.
 */
export function verify(request: HttpRequest, options: VerifyOptions): Verdict {
  const progress = new VerificationProgress();
  try {
    const received = readSignature(request.headers, progress);
    checkCoverage(received, options.policy, progress);
    checkFreshness(received, options, progress);
    const candidates = chooseKeys(received, options, progress);
    checkSignature(request, received, candidates, options, progress);
    checkContent(request, progress);
    warnOfUncovered(request, received.components, progress);
    return progress.valid();
  } catch (error) {
    return progress.invalid(error);
  }
}

function checkCoverage(
  { components }: ReceivedSignature,
  { required }: Policy,
  progress: VerificationProgress,
): void {
  progress.check = "coverage";
  if (!components.some(coversContent)) {
    throw new SignatureError("coverage_missing", "content-digest is not covered, so the body is not signed");
  }
  for (const { identity, identifier } of required) {
    if (!components.some((component) => component.identity === identity)) {
      throw new SignatureError("coverage_missing", `${identifier} is required but not covered`);
    }
  }
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
  { policy: { maxAge, skew, requireCreated }, now }: VerifyOptions,
  progress: VerificationProgress,
): void {
  progress.check = "freshness";
  if (created === null) {
    if (requireCreated) throw new SignatureError("created_missing", "created is required but missing");
    progress.warn("created_missing");
  } else if (created > now + skew) {
    throw new SignatureError("created_in_future", `created ${created} is ${created - now} s in the future`);
  } else if (now - created > maxAge + skew) {
    throw new SignatureError(
      "signature_too_old",
      `created ${now - created} s ago; the limit is ${maxAge} + ${skew} s`,
    );
  }
  if (expires !== null && now > expires) {
    throw new SignatureError("signature_expired", `expired ${now - expires} s ago`);
  }
}

/** Steps 5 and 6 of RFC 9421 3.2: the keys to try. The policy sets the algorithm; `alg` and the keys must agree. */
function chooseKeys(
  { keyid, alg }: ReceivedSignature,
  { keys }: VerifyOptions,
  progress: VerificationProgress,
): readonly VerificationKey[] {
  progress.check = "key";
  const usable = keysPassing(matchingKeys(keys, keyid), checkKeyUse);
  progress.check = "algorithm";
  if (alg !== null && alg !== ALGORITHM) {
    throw new SignatureError(
      "alg_not_allowed",
      `the signature has alg "${alg}"; only ${ALGORITHM} is allowed`,
    );
  }
  return withoutRepeats(keysPassing(usable, checkAlgorithm));
}

function checkSignature(
  request: HttpRequest,
  received: ReceivedSignature,
  candidates: readonly VerificationKey[],
  { keys, now }: VerifyOptions,
  progress: VerificationProgress,
): void {
  progress.check = "signature-base";
  const base = Buffer.from(receivedBase(received, request), "latin1");
  if (lacksLength(received.components, request)) progress.warn("content_length_computed");
  progress.check = "key-strength";
  const strong = keysPassing(candidates, checkStrength);
  progress.check = "signature-value";
  const tried = strong.slice(0, MAX_TRIED);
  const key = tried.find((one) => isSignature(base, one, received.signature));
  if ((key === undefined ? tried : [key]).some(({ smallExponent }) => smallExponent))
    progress.warn("weak_exponent");
  if (key === undefined) throw noKeyVerifies(strong.length);
  if (!isCurrent(key, now)) progress.warn("certificate_expired");
  const { keyid, bits, thumbprint } = key;
  progress.key = { keyid, number: keys.indexOf(key) + 1, bits, thumbprint };
}

/**
 * RSASSA-PKCS1-v1_5 (RFC 9421 3.3.2). The key is passed by itself, since Cloudflare Workers refuse a `KeyObject` in an object:
 * `checkAlgorithm` lets only keys of type `rsa` through, whose padding is then PKCS#1 v1.5.
 */
export const isSignature = (base: Uint8Array, { key }: VerificationKey, signature: Uint8Array): boolean =>
  cryptoVerify("sha256", base, key, signature);

const noKeyVerifies = (count: number): SignatureError =>
  new SignatureError(
    "signature_invalid",
    count === 1
      ? "the signature does not match this key"
      : count > MAX_TRIED
        ? `the signature matches none of the first ${MAX_TRIED} of ${count} keys; the others were not tried`
        : `the signature matches none of the ${count} keys`,
  );

/** A signature over Content-Digest proves nothing about the body until the digest is recomputed (RFC 9421 7.2.8). */
function checkContent({ headers, body }: HttpRequest, progress: VerificationProgress): void {
  progress.check = "content-digest";
  const digest = checkDigest(headers, body);
  for (const warning of digest.warnings) progress.warn(warning);
  if (!digest.ok) throw new SignatureError(digest.reason, digest.detail);
}

/** Anything not covered may have been changed in transit (RFC 9421 7.2.1). */
function warnOfUncovered(
  { target }: HttpRequest,
  components: readonly Component[],
  progress: VerificationProgress,
): void {
  const covers = (wanted: string): boolean => components.some(({ name }) => name === wanted);
  const query = (): boolean => !target.includes("?") || covers("@query") || covers("@query-param");
  if (!covers("@method")) progress.warn("method_not_covered");
  if (!covers("@target-uri") && !covers("@request-target") && !(covers("@path") && query())) {
    progress.warn("target_not_covered");
  }
  if (!covers("content-type")) progress.warn("content_type_not_covered");
}
