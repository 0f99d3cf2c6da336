/** Verification and signing keys, read from the text of a file or a key set. */

import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { ALGORITHMS, keyKind } from "./algorithms.ts";
import {
  attempt,
  isRecord,
  keyMembers,
  PRIVATE_MEMBERS,
  PUBLIC_MEMBERS,
  readDer,
  readJson,
  readPem,
  textMember,
  textOf,
} from "./key-formats.ts";
import { messageOf } from "./verdict.ts";
import type { VerificationKey } from "./verification-key.ts";

export type KeysRead =
  | { readonly ok: true; readonly keys: VerificationKey[]; readonly warnings: string[] }
  | { readonly ok: false; readonly reason: string };

export interface SigningKey {
  readonly keyid: string | null;
  readonly key: KeyObject;
}

export type SigningKeyRead =
  { readonly ok: true; readonly key: SigningKey } | { readonly ok: false; readonly reason: string };

/** Leaves out the entries of a set that cannot be read, with a warning. */
export function readKeys(input: Uint8Array | string): KeysRead {
  const text = textOf(input);
  const readings = text.includes("-----BEGIN ")
    ? readPem(text)
    : text.startsWith("{")
      ? readJson(text)
      : [attempt(() => readDer(input, text))];
  const keys = readings.flatMap((reading) => reading.key ?? []);
  const warnings = readings.flatMap((reading) => reading.warning ?? []);
  if (keys.length > 0) return { ok: true, keys, warnings };
  return { ok: false, reason: warnings.join("; ") || "it has no key" };
}

/** A private key; `keyid` replaces the `kid` of a JWK. */
export function readSigningKey(input: Uint8Array | string, keyid?: string): SigningKeyRead {
  const text = textOf(input);
  try {
    if (text.startsWith("{")) {
      const jwk: unknown = JSON.parse(text);
      if (!isRecord(jwk)) return { ok: false, reason: "a JWK is a JSON object" };
      const key = createPrivateKey({ key: keyMembers(jwk, PRIVATE_MEMBERS), format: "jwk" });
      return { ok: true, key: { keyid: keyid ?? textMember(jwk, "kid"), key } };
    }
    const key = text.includes("-----BEGIN ")
      ? createPrivateKey(text)
      : createPrivateKey({ key: Buffer.from(input), format: "der", type: "pkcs8" });
    return { ok: true, key: { keyid: keyid ?? null, key } };
  } catch (error) {
    return { ok: false, reason: `no private key could be read: ${messageOf(error)}` };
  }
}

/** The public part of a key, as an entry of a key set (RFC 7517 4). */
export function publicJwk(key: KeyObject, keyid: string): JsonWebKey {
  const kind = keyKind(key);
  const algorithm = Object.values(ALGORITHMS).find(({ keyKinds }) =>
    keyKinds.some((known) => known === kind),
  );
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  const members = keyMembers({ ...publicKey.export({ format: "jwk" }) }, PUBLIC_MEMBERS);
  return { ...members, kid: keyid, use: "sig", ...(algorithm && { alg: algorithm.jwkAlgs[0] }) };
}
