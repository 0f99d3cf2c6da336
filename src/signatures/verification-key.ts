/** A public key or secret that may verify signatures, with what its source says about it and how strong it is. */

import type { KeyObject } from "node:crypto";
import { keyKind } from "./algorithms.ts";

/** What the source of a key says about it; null where it says nothing. */
interface KeyDescription {
  readonly keyid: string | null;
  /** JWK members as given (RFC 7517 4.2 to 4.4). */
  readonly alg: string | null;
  readonly use: string | null;
  readonly keyOps: readonly string[] | null;
  /** Unix seconds, of a certificate. */
  readonly notBefore: number | null;
  readonly notAfter: number | null;
}

/** Holds what is read from the key itself, since reading that takes longer than the other checks of a message. */
export interface VerificationKey extends KeyDescription {
  readonly key: KeyObject;
  /** As `keyKind` names it. */
  readonly kind: string;
  /** Of an RSA modulus; null for other keys. */
  readonly bits: number | null;
  /** Why the key must not be used; null where it is strong. */
  readonly weakness: string | null;
  /** Secure where the padding is checked, but unusual. */
  readonly smallExponent: boolean;
}

export function verificationKey(
  key: KeyObject,
  { keyid, alg, use, keyOps, notBefore, notAfter }: Partial<KeyDescription> = {},
): VerificationKey {
  const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
  const isRsa = modulusLength !== undefined && publicExponent !== undefined;
  return {
    keyid: keyid ?? null,
    key,
    kind: keyKind(key),
    bits: isRsa ? modulusLength : null,
    weakness: isRsa ? weaknessOf(modulusLength, publicExponent) : null,
    smallExponent: isRsa && publicExponent < 65537n,
    alg: alg ?? null,
    use: use ?? null,
    keyOps: keyOps ?? null,
    notBefore: notBefore ?? null,
    notAfter: notAfter ?? null,
  };
}

/** With an exponent of 1 every forgery verifies; one of thousands of bits takes milliseconds a message. */
function weaknessOf(bits: number, exponent: bigint): string | null {
  if (bits < 2048) return `the key has ${bits} bits; the minimum is 2048`;
  if (bits > 16384) return `the key has ${bits} bits; the maximum is 16384`;
  if (exponent < 3n || exponent % 2n === 0n)
    return `the key's exponent is ${exponent}; it must be odd, and 3 or more`;
  if (exponent >= 1n << 64n) return "the key's exponent has more than 64 bits";
  return null;
}
