/** The keys that the sandbox signs with: the current one, and those that were replaced and are still published. */
import { createPublicKey, type JsonWebKey } from "node:crypto";
import { PaylinkError } from "../domain/errors.ts";
import {
  publicJwk,
  readKeys,
  readSigningKey,
  type SigningKey,
  type VerificationKey,
} from "../signatures/keys.ts";
import type { StoredKeys } from "./identity.ts";

export type SigningKeys = ReturnType<typeof createSigningKeys>;

/** `renew` creates a new key and returns once it is on disk; `now` is the sandbox's time. */
export function createSigningKeys(opened: StoredKeys, renew: (now: Date) => StoredKeys, now: () => Date) {
  let stored = opened;
  let current = parseSigningKey(stored);
  /** The entries of the key set: the current key first, then the retired keys. */
  const published = (): readonly JsonWebKey[] => [
    publicJwk(current.key, stored.keyid),
    ...stored.retired
      .filter(({ until }) => Date.parse(until) > now().getTime())
      .map(({ keyid, publicKey }) => publicJwk(createPublicKey(publicKey), keyid)),
  ];
  return {
    current: (): SigningKey => current,
    published,
    /** The published keys as receivers read them. */
    verifying: (): readonly VerificationKey[] => readPublished(published()),
    /** Changes to a new key and returns its id. */
    rotate: (): string => {
      stored = renew(now());
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

function readPublished(keys: readonly JsonWebKey[]): readonly VerificationKey[] {
  const read = readKeys(JSON.stringify({ keys }));
  if (read.ok) return read.keys;
  throw new Error(read.reason);
}
