/** The sandbox's identity on this machine: the merchant, its credentials and its signing keys, stored between runs. */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { hasCode, knownReason, systemReason } from "../values/system-reason.ts";
import { SCOPE } from "../domain/known-services.ts";
import { UNITS } from "../values/time.ts";
import type { Profile } from "../settings/profile.ts";
import { makeFolder } from "../store/folders.ts";
import { replaceFile } from "../store/replace-file.ts";

const identity = z.object({
  merchantId: z.string(),
  merchantName: z.string(),
  merchantStoreId: z.number(),
  clientId: z.string(),
  clientSecret: z.string(),
  /** The terminal assigned to the client (Endpoints rule 1). */
  terminalId: z.string(),
  /** An access token that does not expire: the one in the profile that the sandbox registers. */
  token: z.string(),
  keyid: z.string(),
  privateKey: z.string(),
  /** Keys that were replaced, with the time until which they are published. */
  retired: z._default(z.array(z.object({ keyid: z.string(), publicKey: z.string(), until: z.string() })), []),
});
export type SandboxIdentity = z.infer<typeof identity>;
/** The keys in PEM. */
export type StoredKeys = Pick<SandboxIdentity, "keyid" | "privateKey" | "retired">;
export type Merchant = Omit<SandboxIdentity, keyof StoredKeys>;

/** A new merchant with a new RSA-2048 key. */
function newIdentity(newId: () => string): SandboxIdentity {
  return {
    merchantId: "000000000012345",
    merchantName: "Sandbox Merchant",
    merchantStoreId: 1,
    clientId: "sandbox",
    clientSecret: newId(),
    terminalId: "1234567890",
    token: newToken(newId),
    ...newKey(newId),
    retired: [],
  };
}

/** What every access token begins with, so that it is known wherever it stands. */
export const TOKEN_PREFIX = "sandbox_";

export const newToken = (newId: () => string): string => TOKEN_PREFIX + newId();

function newKey(newId: () => string): Pick<SandboxIdentity, "keyid" | "privateKey"> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    keyid: `sandbox-${newId().slice(0, 8)}`,
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** Milliseconds that a replaced key stays published: longer than all retries of a webhook. */
const PUBLISHED_AFTER_ROTATION = UNITS.d;

/**
 * Replaces the key of the identity in a folder, whole or not at all, and retires the previous one. The new key is on disk
 * when this returns.
 */
export function renewKey(folder: string, newId: () => string, now: Date): SandboxIdentity {
  const path = join(folder, FILE);
  const before = readIdentity(path) ?? newIdentity(newId);
  const publicKey = createPublicKey(before.privateKey).export({ type: "spki", format: "pem" }).toString();
  const until = new Date(now.getTime() + PUBLISHED_AFTER_ROTATION).toISOString();
  const stillPublished = before.retired.filter((key) => Date.parse(key.until) > now.getTime());
  const retired = [{ keyid: before.keyid, publicKey, until }, ...stillPublished];
  const renewed = { ...before, ...newKey(newId), retired };
  replaceFile(path, JSON.stringify(renewed, null, 2));
  return renewed;
}

const FILE = "sandbox.json";

/**
 * The profile of the sandbox. At its first start it has the defaults of links, and webhooks go to `listener`; at a later one only
 * address, token and key are new, and everything else is the user's.
 */
export function profileOf(
  value: SandboxIdentity,
  baseUrl: string,
  listener: string,
  before: Profile = {},
): Profile {
  const now = {
    baseUrl,
    token: value.token,
    webhookKey: [`${baseUrl}/.well-known/jwks.json`],
    tokenUrl: `${baseUrl}/oauth2/token`,
    clientId: value.clientId,
    clientSecret: value.clientSecret,
  };
  if (before.baseUrl !== undefined) return { ...before, ...now };
  const defaults = {
    terminalId: value.terminalId,
    currency: "EUR",
    customerName: "Sandbox Customer",
    callbackUrl: listener,
    tokenScope: SCOPE,
  };
  return { ...defaults, ...before, ...now };
}

/** Creates a file that only its owner can read, whole or not at all. Resolves with false if there is one. */
type CreateFile = (path: string, text: string) => Promise<boolean>;

/** Reads the identity in a folder, or creates one: of two first runs, both use the identity of the first. */
export async function openIdentity(
  folder: string,
  newId: () => string,
  createFile: CreateFile,
): Promise<SandboxIdentity> {
  const path = join(folder, FILE);
  const stored = readIdentity(path);
  if (stored !== undefined) return stored;
  try {
    makeFolder(folder);
  } catch (error) {
    const message = `Cannot write the sandbox's identity ${path}: ${systemReason(error)}.`;
    throw new PaylinkError("file_unwritable", message, { cause: error });
  }
  const created = newIdentity(newId);
  if (await createFile(path, JSON.stringify(created, null, 2))) return created;
  return openIdentity(folder, newId, createFile);
}

/** Undefined if there is no such file. */
function readIdentity(path: string): SandboxIdentity | undefined {
  try {
    const stored = identity.parse(JSON.parse(readFileSync(path, "utf8")));
    createPrivateKey(stored.privateKey);
    return stored;
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    const reason = knownReason(error);
    if (reason !== undefined)
      throw new PaylinkError("file_unreadable", `Cannot read the sandbox's identity ${path}: ${reason}.`, {
        cause: error,
      });
    throw new PaylinkError("file_unreadable", `${path} is damaged: the sandbox cannot read its identity.`, {
      cause: error,
      hints: [hint`If you move it away, the sandbox creates a new identity.`],
    });
  }
}
