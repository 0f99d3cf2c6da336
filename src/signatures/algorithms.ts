/** The signature algorithms of RFC 9421 3.3: how each signs and verifies, and which keys it uses. */

import {
  constants,
  createHmac,
  sign as cryptoSign,
  verify as cryptoVerify,
  timingSafeEqual,
  type KeyObject,
} from "node:crypto";

export interface SignatureAlgorithm {
  /** `rsa`, `ec:prime256v1` and so on, as `keyKind` names them. */
  readonly keyKinds: readonly string[];
  /** The JWK `alg` values with the same meaning (RFC 7518 3.1), which are not valid in a message. */
  readonly jwkAlgs: readonly string[];
  sign(base: Uint8Array, key: KeyObject): Buffer;
  verify(base: Uint8Array, key: KeyObject, signature: Uint8Array): boolean;
}

type SigningOptions = { padding?: number; saltLength?: number; dsaEncoding?: "ieee-p1363" };

/**
 * Without options, the key is passed by itself: Cloudflare Workers refuse a `KeyObject` in an object. The padding of an RSA key
 * is then PKCS#1 v1.5, and callers check that the key is of the algorithm's kinds: one with the PSS identifier would use PSS.
 */
function asymmetric(
  keyKinds: readonly string[],
  jwkAlgs: readonly string[],
  digest: string | null,
  options?: SigningOptions,
): SignatureAlgorithm {
  const withOptions = (key: KeyObject) => (options === undefined ? key : { key, ...options });
  return {
    keyKinds,
    jwkAlgs,
    sign: (base, key) => cryptoSign(digest, base, withOptions(key)),
    verify: (base, key, signature) => cryptoVerify(digest, base, withOptions(key), signature),
  };
}

function hmacSha256(base: Uint8Array, key: KeyObject): Buffer {
  return createHmac("sha256", key).update(base).digest();
}

export const ALGORITHMS = {
  "rsa-v1_5-sha256": asymmetric(["rsa"], ["RS256"], "sha256"),
  "rsa-pss-sha512": asymmetric(["rsa", "rsa-pss"], ["PS512"], "sha512", {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: 64,
  }),
  "ecdsa-p256-sha256": asymmetric(["ec:prime256v1"], ["ES256"], "sha256", { dsaEncoding: "ieee-p1363" }),
  "ecdsa-p384-sha384": asymmetric(["ec:secp384r1"], ["ES384"], "sha384", { dsaEncoding: "ieee-p1363" }),
  ed25519: asymmetric(["ed25519"], ["EdDSA", "Ed25519"], null),
  "hmac-sha256": {
    keyKinds: ["secret"],
    jwkAlgs: ["HS256"],
    sign: hmacSha256,
    verify: (base, key, signature) => {
      const expected = hmacSha256(base, key);
      return expected.length === signature.length && timingSafeEqual(expected, signature);
    },
  },
} as const satisfies Record<string, SignatureAlgorithm>;

export type Algorithm = keyof typeof ALGORITHMS;

export function keyKind(key: KeyObject): string {
  const curve = key.asymmetricKeyDetails?.namedCurve;
  const type = key.asymmetricKeyType ?? key.type;
  return curve === undefined ? type : `${type}:${curve}`;
}
