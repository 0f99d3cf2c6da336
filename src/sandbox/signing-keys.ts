/** The keys that the sandbox signs with: the one in use, and those that it still serves after a rotation. */
import type { JsonWebKey } from "node:crypto";
import { publicJwk, type SigningKey } from "../signatures/keys.ts";

export interface SigningKeys {
  current(): SigningKey;
  /** The key set's entries: the one in use first, then the retired ones that are still served. */
  published(): readonly JsonWebKey[];
  /** Makes a new key the one in use and tells its id. */
  rotate(): string;
}

/** One key for good: for a sandbox that lives no longer than a command. */
export function oneKey(key: SigningKey): SigningKeys {
  return {
    current: () => key,
    published: () => [publicJwk(key.key, key.keyid ?? "")],
    rotate: () => key.keyid ?? "",
  };
}
