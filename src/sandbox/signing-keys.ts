/** The sandbox's signing keys: the current one, and the retired ones that it still publishes. */
import { createPublicKey, type JsonWebKey } from "node:crypto";
import { PaylinkError } from "../domain/errors.ts";
import { publicJwk, readSigningKey, type SigningKey } from "../signatures/keys.ts";

/** The keys in PEM, as the sandbox's identity stores them. */
export interface StoredKeys {
  readonly keyid: string;
  readonly privateKey: string;
  readonly retired: readonly { readonly keyid: string; readonly publicKey: string; readonly until: string }[];
}

export interface SigningKeys {
  current(): SigningKey;
  /** The entries of the key set: the current key first, then the retired keys. */
  published(): readonly JsonWebKey[];
  /** Changes to a new key and returns its id. */
  rotate(): string;
}

/** `renew` creates a new key and returns once it is on disk. */
export function createSigningKeys(opened: StoredKeys, renew: () => StoredKeys, now: () => Date): SigningKeys {
  let stored = opened;
  let current = parseSigningKey(stored);
  return {
    current: () => current,
    published: () => [
      publicJwk(current.key, stored.keyid),
      ...stored.retired
        .filter(({ until }) => Date.parse(until) > now().getTime())
        .map(({ keyid, publicKey }) => publicJwk(createPublicKey(publicKey), keyid)),
    ],
    rotate: () => {
      stored = renew();
      current = parseSigningKey(stored);
      return stored.keyid;
    },
  };
}

function parseSigningKey({ privateKey, keyid }: StoredKeys): SigningKey {
  const key = readSigningKey(privateKey, keyid);
  if (key.ok) return key.key;
  throw new PaylinkError("key_invalid", `The sandbox's signing key is invalid: ${key.reason}`);
}
