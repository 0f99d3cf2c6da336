/** The keys that the sandbox signs with: the one in use, and those that it still serves after a rotation. */
import { createPublicKey, type JsonWebKey } from "node:crypto";
import { PaylinkError } from "../domain/errors.ts";
import { publicJwk, readSigningKey, type SigningKey } from "../signatures/keys.ts";

/** The keys as the sandbox's identity keeps them, in PEM. */
export interface StoredKeys {
  readonly keyid: string;
  readonly privateKey: string;
  readonly retired: readonly { readonly keyid: string; readonly publicKey: string; readonly until: string }[];
}

export interface SigningKeys {
  current(): SigningKey;
  /** The key set's entries: the one in use first, then the retired ones that are still served. */
  published(): readonly JsonWebKey[];
  /** Makes a new key the one in use and tells its id. */
  rotate(): string;
}

/** `renew` makes a new key and has it on disk before it is in use. */
export function createSigningKeys(opened: StoredKeys, renew: () => StoredKeys, now: () => Date): SigningKeys {
  let stored = opened;
  let current = signingKeyOf(stored);
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
      current = signingKeyOf(stored);
      return stored.keyid;
    },
  };
}

function signingKeyOf({ privateKey, keyid }: StoredKeys): SigningKey {
  const key = readSigningKey(privateKey, keyid);
  if (key.ok) return key.key;
  throw new PaylinkError("key_invalid", `The sandbox's own key cannot be read: ${key.reason}`);
}
