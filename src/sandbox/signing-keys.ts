/** The keys that the sandbox signs with: the current one, and those that were replaced and are still published. */
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { publicJwk, type SigningKey, type VerificationKey, verificationKey } from "../signatures/keys.ts";
import type { StoredKeys } from "./identity.ts";

export type SigningKeys = ReturnType<typeof createSigningKeys>;

/** `renew` creates a new key and returns once it is on disk; `now` is the sandbox's time. */
export function createSigningKeys(opened: StoredKeys, renew: (now: Date) => StoredKeys, now: () => Date) {
  let stored = opened;
  let current = keyFromPem(stored);
  /** The current key first, then the retired keys. */
  const published = (): readonly { readonly keyid: string; readonly key: KeyObject }[] => [
    { keyid: stored.keyid, key: createPublicKey(current.key) },
    ...stored.retired
      .filter(({ until }) => Date.parse(until) > now().getTime())
      .map(({ keyid, publicKey }) => ({ keyid, key: createPublicKey(publicKey) })),
  ];
  return {
    current: (): SigningKey => current,
    /** The entries of the key set. */
    published: (): readonly JsonWebKey[] => published().map(({ key, keyid }) => publicJwk(key, keyid)),
    /** The published keys as receivers read them. */
    verifying: (): readonly VerificationKey[] =>
      published().map(({ key, keyid }) => verificationKey(key, { keyid })),
    /** Changes to a new key and returns its id. */
    rotate: (): string => {
      stored = renew(now());
      current = keyFromPem(stored);
      return stored.keyid;
    },
  };
}

const keyFromPem = ({ privateKey, keyid }: StoredKeys): SigningKey => ({
  key: createPrivateKey(privateKey),
  keyid,
});
