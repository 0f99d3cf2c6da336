/** The thumbprint of a key (RFC 7638): its identity, whatever form it was read from. */
import { createHash, type KeyObject } from "node:crypto";

/** The members that identify a key, by its type, in the order of their names (RFC 7638 3.2, RFC 8037 2). */
const REQUIRED_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  RSA: ["e", "kty", "n"],
  EC: ["crv", "kty", "x", "y"],
  OKP: ["crv", "kty", "x"],
};

/** SHA-256 in base64url: 43 characters. A key that no JWK can express has that of its SPKI instead. */
export function thumbprintOf(publicKey: KeyObject): string {
  return createHash("sha256").update(keyIdentity(publicKey)).digest("base64url");
}

function keyIdentity(publicKey: KeyObject): string | Buffer {
  const jwk = jwkOf(publicKey);
  const names = REQUIRED_MEMBERS[jwk?.kty ?? ""];
  if (names === undefined) return publicKey.export({ format: "der", type: "spki" });
  return JSON.stringify(jwk, [...names]);
}

function jwkOf(publicKey: KeyObject) {
  try {
    return publicKey.export({ format: "jwk" });
  } catch {
    // RSA-PSS, DSA and DH keys have none.
    return undefined;
  }
}

/** The part of a thumbprint by which people, and labels of metrics, tell keys apart. */
export const shortKey = (thumbprint: string): string => thumbprint.slice(0, 8);

/** Whether a text has the form of a thumbprint, which no path and no key has that people use. */
export const isThumbprint = (text: string): boolean => /^[\w-]{43}$/.test(text);
