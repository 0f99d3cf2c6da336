/** Which keys may verify a signature: picked by its keyid, meant for verifying, of the algorithm's type, and strong. */

import { SignatureError } from "./verdict.ts";
import type { VerificationKey } from "./keys.ts";
import { ALGORITHM, JWK_ALGORITHM } from "./policy.ts";

/**
 * A keyid picks the keys with that id, without falling back to another key. Without a keyid, or where no key has an id,
 * every key may be meant: the user trusts all of them.
 */
export function matchingKeys(
  keys: readonly VerificationKey[],
  keyid: string | null,
): readonly VerificationKey[] {
  const matching = ignoresIds(keys, keyid) ? keys : keys.filter((key) => key.keyid === keyid);
  if (matching.length > 0) return matching;
  const known = keys.map((key) => key.keyid ?? "(no id)").join(", ");
  throw new SignatureError(
    "key_not_found",
    keyid === null ? "no key is configured" : `no key "${keyid}" is configured; known: ${known || "none"}`,
  );
}

const ignoresIds = (keys: readonly VerificationKey[], keyid: string | null): boolean =>
  keyid === null || keys.every((key) => key.keyid === null);

/** One key may be listed twice: in a set that was merged from others, or by two sources. */
export const withoutRepeats = (keys: readonly VerificationKey[]): readonly VerificationKey[] =>
  keys.filter(({ thumbprint }, at) => keys.findIndex((key) => key.thumbprint === thumbprint) === at);

/** Two keys with the id that a signature names: nothing says which is meant. */
export function requireDistinctIds(keys: readonly VerificationKey[], keyid: string | null): void {
  if (keys.length > 1 && !ignoresIds(keys, keyid))
    throw new SignatureError("key_ambiguous", `${keys.length} keys have the id "${keyid ?? ""}"`);
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
    return new SignatureError("alg_key_mismatch", `the key is for ${alg}, not for ${ALGORITHM}`);
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
