/** Who the sandbox is on this machine: the merchant, its credentials and the key that signs, kept between runs. */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { PaylinkError } from "../domain/errors.ts";

const identity = z.object({
  merchantId: z.string(),
  merchantName: z.string(),
  merchantStoreId: z.number(),
  clientId: z.string(),
  clientSecret: z.string(),
  terminals: z.array(z.string()),
  token: z.string(),
  keyid: z.string(),
  privateKey: z.string(),
});
export type SandboxIdentity = z.infer<typeof identity>;

/** A new merchant with a new RSA-2048 key. */
export function newIdentity(newId: () => string): SandboxIdentity {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    merchantId: "000000000012345",
    merchantName: "Sandbox Merchant",
    merchantStoreId: 1,
    clientId: "sandbox",
    clientSecret: newId(),
    terminals: ["1234567890"],
    token: `sandbox_${newId()}`,
    keyid: `sandbox-${newId().slice(0, 8)}`,
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** Reads the identity that a folder holds, or makes one there, readable by its owner alone. */
export function openIdentity(folder: string, newId: () => string): SandboxIdentity {
  const path = join(folder, "sandbox.json");
  try {
    const stored = identity.parse(JSON.parse(readFileSync(path, "utf8")));
    createPrivateKey(stored.privateKey);
    return stored;
  } catch (error) {
    if (!isMissing(error))
      throw new PaylinkError("file_unreadable", `${path} is not what the sandbox wrote there.`, {
        cause: error,
        hint: "Move it away, and the sandbox makes itself a new identity.",
      });
  }
  const made = newIdentity(newId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path, JSON.stringify(made, null, 2), { mode: 0o600, flag: "wx" });
  return made;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";
