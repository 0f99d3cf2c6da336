/** Which keys may verify a signature: picked by its keyid, meant for verifying, of the algorithm's type, and strong. */

import { SignatureError } from "./verdict.ts";
import type { VerificationKey } from "./keys.ts";
import { ALGORITHM, JWK_ALGORITHM } from "./policy.ts";
import { shortKey } from "./thumbprint.ts";

/** The most keys that one signature makes us try. */
export const MAX_TRIED = 8;

/** Ids that a message names. */
const MAX_NAMED = 8;

/**
 * A keyid picks the keys with that id, without falling back to one of another id; those of a source without ids may have any. Without a
 * keyid every key may be meant: the user trusts all of them.
 */
export function matchingKeys(
  keys: readonly VerificationKey[],
  keyid: string | null,
): readonly VerificationKey[] {
  const matching = keys.filter((key) => keyid === null || key.keyid === keyid || key.isAnonymous);
  if (matching.length > 0) return matching;
  throw new SignatureError(
    "key_not_found",
    keyid === null
      ? "no key is configured"
      : `no key "${keyid}" is configured; known: ${keyNames(keys) || "none"}`,
  );
}

/** One key may be listed twice: in a set that was merged from others, by two sources, or by certificates, of which the latest counts. */
export function withoutRepeats(keys: readonly VerificationKey[]): readonly VerificationKey[] {
  const distinct = new Map<string, VerificationKey>();
  for (const key of keys) {
    const known = distinct.get(key.thumbprint);
    if (known === undefined || endOf(known) < endOf(key)) distinct.set(key.thumbprint, key);
  }
  return [...distinct.values()];
}

const endOf = ({ validity }: VerificationKey): number => validity?.to ?? Infinity;

/** Their ids, or the beginnings of their thumbprints. */
function keyNames(keys: readonly VerificationKey[]): string {
  const names = keys.slice(0, MAX_NAMED).map(({ keyid, thumbprint }) => keyid ?? shortKey(thumbprint));
  return [...names, ...(keys.length > MAX_NAMED ? [`${keys.length - MAX_NAMED} more`] : [])].join(", ");
}

/** What is said of keys beyond those that are tried; undefined where all are. */
export function untriedWarning(keys: readonly VerificationKey[]): string | undefined {
  const usable = withoutRepeats(keys.filter((key) => keyProblem(key) === undefined));
  if (usable.length <= MAX_TRIED) return undefined;
  return `${usable.length} keys are given, and a webhook that names none of them is tried with the first ${MAX_TRIED}. Not tried: ${keyNames(usable.slice(MAX_TRIED))}. Leave out the keys that the service has replaced.`;
}

/** Leaves out the keys that break a rule. Where every key breaks it, throws the first key's reason. */
export function keysPassing(
  keys: readonly VerificationKey[],
  rule: (key: VerificationKey) => SignatureError | undefined,
): readonly VerificationKey[] {
  const passing = keys.filter((key) => rule(key) === undefined);
  const [first] = keys;
  const broken = passing.length === 0 && first !== undefined ? rule(first) : undefined;
  if (broken !== undefined) throw broken;
  return passing;
}

/** The key's owner must mean it to verify signatures (RFC 7517 4.2, 4.3). */
export function checkKeyUse({ use, keyOps }: VerificationKey): SignatureError | undefined {
  const problem =
    use !== null && use !== "sig"
      ? `its use is "${use}"`
      : keyOps !== null && !keyOps.includes("verify")
        ? `its key_ops are ${keyOps.join(", ") || "empty"}`
        : undefined;
  return problem === undefined
    ? undefined
    : new SignatureError("key_unusable", `the key cannot verify signatures: ${problem}`);
}

/** Whether a time, in Unix seconds, is within the dates of the key's certificate. */
export const isCurrent = ({ validity }: VerificationKey, now: number): boolean =>
  validity === null || (now >= validity.from && now <= validity.to);

/** The day, in UTC. */
const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

/** The warning about a key whose certificate is outside its dates. Such a key is still used. */
export function expiryWarning(key: VerificationKey, now: number): string | undefined {
  if (key.validity === null || isCurrent(key, now)) return undefined;
  const { from, to } = key.validity;
  return `the certificate is valid from ${dateOf(from)} to ${dateOf(to)} only; its key is used anyway. Ask the service for the new certificate`;
}

/** The key's `alg`, by its name of RFC 7518 or RFC 9421, and type must agree with the algorithm (RFC 9421 3.2 step 6). */
export function checkAlgorithm({ kind, alg }: VerificationKey): SignatureError | undefined {
  if (alg !== null && alg !== JWK_ALGORITHM && alg !== ALGORITHM)
    return new SignatureError(
      "alg_key_mismatch",
      `the key is for ${alg}; webhooks are signed with ${ALGORITHM}, which a JSON Web Key calls ${JWK_ALGORITHM}`,
    );
  if (kind !== "rsa")
    return new SignatureError("key_type_mismatch", `the key is of type ${kind}; ${ALGORITHM} needs rsa`);
  return undefined;
}

/** Refuses a key that can be broken, or that makes verification slow. */
export function checkStrength({ weakness }: VerificationKey): SignatureError | undefined {
  return weakness === null ? undefined : new SignatureError("weak_key", weakness);
}

/** Why a key can never verify a webhook. */
export const keyProblem = (key: VerificationKey): SignatureError | undefined =>
  checkKeyUse(key) ?? checkAlgorithm(key) ?? checkStrength(key);
