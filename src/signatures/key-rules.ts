/** Which keys are fit to verify with: meant for it, of the algorithm's type, and strong. */

import type { KeyObject } from "node:crypto";
import { ALGORITHMS, keyKind, type Algorithm } from "./algorithms.ts";
import type { VerificationKey } from "./keys.ts";
import { Refusal } from "./refusal.ts";

/** Whether its owner meant the key to verify signatures, and now (RFC 7517 4.2, 4.3; RFC 5280 4.1.2.5). */
export function requireUsable(key: VerificationKey, now: number): void {
  const problem =
    key.use !== null && key.use !== "sig"
      ? `its use is "${key.use}"`
      : key.keyOps !== null && !key.keyOps.includes("verify")
        ? `its key_ops are ${key.keyOps.join(", ") || "none"}`
        : key.notBefore !== null && now < key.notBefore
          ? `its certificate is not valid before ${key.notBefore}`
          : key.notAfter !== null && now > key.notAfter
            ? `its certificate was not valid after ${key.notAfter}`
            : undefined;
  if (problem !== undefined) throw new Refusal("key_unusable", `the key cannot verify: ${problem}`);
}

/** What the key says of its algorithm, and its type, must agree with the algorithm (RFC 9421 3.2 step 6). */
export function requireAlgorithm({ key, alg }: VerificationKey, algorithm: Algorithm): void {
  const { keyKinds, jwkAlgs } = ALGORITHMS[algorithm];
  if (alg !== null && !listed(jwkAlgs, alg)) {
    throw new Refusal("alg_key_mismatch", `the key is for ${alg}, not for ${algorithm}`);
  }
  const { kind } = factsOf(key);
  if (!listed(keyKinds, kind)) {
    throw new Refusal(
      "key_type_mismatch",
      `the key is of type ${kind}, ${algorithm} takes ${keyKinds.join(", ")}`,
    );
  }
}

/** Refuses a key that could be broken or is built to slow us down; says whether its exponent is unusual. */
export function requireStrength({ key }: VerificationKey): { size: number | null; smallExponent: boolean } {
  const { weakness, size, smallExponent } = factsOf(key);
  if (weakness !== undefined) throw new Refusal("weak_key", weakness);
  return { size, smallExponent };
}

interface KeyFacts {
  readonly kind: string;
  readonly size: number | null;
  readonly weakness: string | undefined;
  readonly smallExponent: boolean;
}

/** A key is looked into once, not once a message. */
const FACTS = new WeakMap<KeyObject, KeyFacts>();

function factsOf(key: KeyObject): KeyFacts {
  const known = FACTS.get(key);
  if (known !== undefined) return known;
  const kind = keyKind(key);
  const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
  const isRsa = modulusLength !== undefined && publicExponent !== undefined;
  const facts: KeyFacts = {
    kind,
    size: modulusLength ?? null,
    weakness: isRsa ? weaknessOf(modulusLength, publicExponent) : undefined,
    smallExponent: isRsa && publicExponent < 65537n,
  };
  FACTS.set(key, facts);
  return facts;
}

/** With an exponent of 1 every forgery verifies; one of thousands of bits takes milliseconds a message. */
function weaknessOf(bits: number, exponent: bigint): string | undefined {
  if (bits < 2048) return `the key has ${bits} bits, fewer than 2048`;
  if (bits > 16384) return `the key has ${bits} bits, more than 16384`;
  if (exponent < 3n || exponent % 2n === 0n)
    return `the key's exponent is ${exponent}, not odd and 3 or more`;
  if (exponent >= 1n << 64n) return "the key's exponent has more than 64 bits";
  return undefined;
}

function listed(values: readonly string[], value: string): boolean {
  return values.includes(value);
}
