/** The merchant of the sandboxes: one for all tests, so that no sandbox makes a key, which takes longer than most tests. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxIdentity } from "../../src/sandbox/identity.ts";
import { KEYS } from "./keys.ts";

export const MERCHANT: SandboxIdentity = {
  merchantId: "000000000012345",
  merchantName: "Sandbox Merchant",
  merchantStoreId: 1,
  clientId: "sandbox",
  clientSecret: "10000000-0000-4000-8000-000000000000",
  terminalId: "1234567890",
  token: "sandbox_20000000-0000-4000-8000-000000000000",
  keyid: "sandbox-30000000",
  privateKey: KEYS.privatePem,
  retired: [],
};

/** Puts the merchant where a sandbox looks for one before it makes its own; a home that has one keeps it. */
export function giveMerchant(home: string): void {
  const folder = join(home, "data", "sandbox");
  if (existsSync(folder)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "sandbox.json"), JSON.stringify(MERCHANT), { mode: 0o600 });
}
