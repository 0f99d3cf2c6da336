/** The RSA keys of the tests: fixed, because making one takes longer than most tests. */
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { vectorFile } from "./vectors.ts";

export interface Keys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly privatePem: string;
  readonly publicPem: string;
}

function pairOf(privateKey: KeyObject): Keys {
  const publicKey = createPublicKey(privateKey);
  return {
    privateKey,
    publicKey,
    privatePem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

const { keys } = vectorFile<{
  keys: { "test-key-rsa": { private_pem: string }; "test-key-rsa-pss": { jwk: JsonWebKey } };
}>("keys");

/** Whoever sends webhooks signs with these: the key of RFC 9421, appendix B.1.1. */
export const KEYS = pairOf(createPrivateKey(keys["test-key-rsa"].private_pem));

/** The keys of somebody else: those of RFC 9421, appendix B.1.2, as a plain RSA key. */
export const OTHER_KEYS = pairOf(createPrivateKey({ key: keys["test-key-rsa-pss"].jwk, format: "jwk" }));

/** The environment of commands that act on what was signed with these. */
export const KEY_ENV = { PAYLINK_WEBHOOK_KEY: KEYS.publicPem };

/** Writes the private key where `--sign-with` finds it. */
export function privateKeyFile(home: string): string {
  const path = join(home, "private.pem");
  writeFileSync(path, KEYS.privatePem);
  return path;
}

/** Writes the public key where `--key` finds it. */
export function keyFile(home: string): string {
  const path = join(home, "service.pem");
  writeFileSync(path, KEYS.publicPem);
  return path;
}
