/** Which keys may verify a signature: picked by its keyid, meant for verifying, of the algorithm's type, and strong. */

import { ALGORITHMS, type Algorithm } from "./algorithms.ts";
import { SignatureError } from "./verdict.ts";
import type { VerificationKey } from "./keys.ts";

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

/** Two keys with the id that a signature names: nothing says which is meant. */
export function requireDistinct(keys: readonly VerificationKey[], keyid: string | null): void {
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

/** The key's owner must mean it to verify signatures, at this time (RFC 7517 4.2, 4.3; RFC 5280 4.1.2.5). */
export function checkUse(key: VerificationKey, now: number): SignatureError | undefined {
  const problem =
    key.use !== null && key.use !== "sig"
      ? `its use is "${key.use}"`
      : key.keyOps !== null && !key.keyOps.includes("verify")
        ? `its key_ops are ${key.keyOps.join(", ") || "empty"}`
        : key.notBefore !== null && now < key.notBefore
          ? `its certificate is not valid before ${dateOf(key.notBefore)}`
          : key.notAfter !== null && now > key.notAfter
            ? `its certificate expired on ${dateOf(key.notAfter)}`
            : undefined;
  return problem === undefined
    ? undefined
    : new SignatureError("key_unusable", `the key cannot verify signatures: ${problem}`);
}

/** The day, in UTC. */
const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

/** Seconds before a certificate expires in which there is still time to ask the service for the next one. */
const EXPIRES_SOON = 30 * 24 * 3600;

/** What the user should know about the dates of a key's certificate. */
export function expiryWarning({ notBefore, notAfter }: VerificationKey, now: number): string | undefined {
  if (notBefore !== null && now < notBefore)
    return `the certificate is not valid before ${dateOf(notBefore)}, so no webhook verifies with it until then`;
  if (notAfter === null || now + EXPIRES_SOON < notAfter) return undefined;
  return now > notAfter
    ? `the certificate expired on ${dateOf(notAfter)}, so no webhook verifies with it; ask the service for its new one`
    : `the certificate expires on ${dateOf(notAfter)}; ask the service for its next one, and add it as a second key`;
}

/** The key's `alg` and type must agree with the algorithm (RFC 9421 3.2 step 6). */
export function checkAlgorithm(
  { kind, alg }: VerificationKey,
  algorithm: Algorithm,
): SignatureError | undefined {
  const { keyKinds, jwkAlgs }: { keyKinds: readonly string[]; jwkAlgs: readonly string[] } =
    ALGORITHMS[algorithm];
  if (alg !== null && !jwkAlgs.includes(alg))
    return new SignatureError("alg_key_mismatch", `the key is for ${alg}, not for ${algorithm}`);
  if (!keyKinds.includes(kind))
    return new SignatureError(
      "key_type_mismatch",
      `the key is of type ${kind}; ${algorithm} needs ${keyKinds.join(" or ")}`,
    );
  return undefined;
}

/** Refuses a key that can be broken, or that makes verification slow. */
export function checkStrength({ weakness }: VerificationKey): SignatureError | undefined {
  return weakness === null ? undefined : new SignatureError("weak_key", weakness);
}

export const describeStrength = ({ bits }: VerificationKey): string =>
  bits === null ? "not an RSA key" : `RSA of ${bits} bits`;
