/** Other keys and algorithms that may have made the signature. */

import {
  constants,
  createHash,
  verify as cryptoVerify,
  type KeyObject,
  type VerifyKeyObjectInput,
} from "node:crypto";
import { ALGORITHMS, keyKind, type Algorithm } from "../algorithms.ts";
import type { VerificationKey } from "../verification-key.ts";
import type { Signing, SigningVariant, VerifyingAlgorithm } from "./signing.ts";

export function keyVariants({ keys: tried }: Signing, keys: readonly VerificationKey[]): SigningVariant[] {
  return keys.flatMap((key, at) => {
    const name = key.keyid === null ? `key number ${at + 1}, which has no id` : `key ${key.keyid}`;
    return tried.includes(key)
      ? []
      : {
          kind: "key",
          variant: `key=${key.keyid ?? `#${at + 1}`}`,
          apply: (signing) => ({ ...signing, keys: [key] }),
          advice: () =>
            `The signature matches ${name}, which its keyid does not name: the key set is out of date or its ids are wrong. Fetch the service's keys again, or use only that key.`,
        };
  });
}

const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_AUTO } = constants;

const rsa =
  (digest: string, options: Pick<VerifyKeyObjectInput, "padding" | "saltLength">) =>
  (base: Uint8Array, key: KeyObject, signature: Uint8Array): boolean =>
    key.asymmetricKeyType === "rsa" && cryptoVerify(digest, base, { key, ...options }, signature);

const PSS = { padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_AUTO };
const V1_5 = { padding: RSA_PKCS1_PADDING };
const hashed = (base: Uint8Array, encoding: "hex" | "base64"): Buffer =>
  Buffer.from(createHash("sha256").update(base).digest(encoding));
const V1_5_SHA256 = rsa("sha256", V1_5);

/** Only with keys of its own type: with an RSA key, node:crypto would verify RSA under any name. */
const registered =
  (algorithm: Algorithm) =>
  (base: Uint8Array, key: KeyObject, signature: Uint8Array): boolean => {
    const kinds: readonly string[] = ALGORITHMS[algorithm].keyKinds;
    return kinds.includes(keyKind(key)) && ALGORITHMS[algorithm].verify(base, key, signature);
  };

export const ALGORITHM_VARIANTS: readonly SigningVariant[] = (
  [
    ["rsa-pss-sha512", registered("rsa-pss-sha512")],
    ["RSA-PSS with SHA-256", rsa("sha256", PSS)],
    ["RSA-PSS with SHA-512", rsa("sha512", PSS)],
    ["rsa-v1_5-sha512", rsa("sha512", V1_5)],
    ["rsa-v1_5-sha384", rsa("sha384", V1_5)],
    ["rsa-v1_5-sha1", rsa("sha1", V1_5)],
    ["ecdsa-p256-sha256", registered("ecdsa-p256-sha256")],
    ["ecdsa-p384-sha384", registered("ecdsa-p384-sha384")],
    ["ed25519", registered("ed25519")],
    [
      "the hash of the base signed",
      (base, key, signature) =>
        V1_5_SHA256(createHash("sha256").update(base).digest(), key, signature) ||
        V1_5_SHA256(hashed(base, "hex"), key, signature) ||
        V1_5_SHA256(hashed(base, "base64"), key, signature),
    ],
  ] as const satisfies readonly (readonly [string, VerifyingAlgorithm["verify"]])[]
).map(([name, verify]) => ({
  kind: "algorithm",
  variant: `algorithm=${name}`,
  apply: (signing) => ({ ...signing, algorithm: { name, verify } }),
  advice: () =>
    `The signature verifies as ${name}, but only rsa-v1_5-sha256 (RSASSA-PKCS1-v1_5 with SHA-256) is accepted. The signer has to use it.`,
}));
