/** Loads the service's public keys for a command: a key that cannot be had is a failure of the command, with what to do. */
import { PaylinkError } from "../domain/errors.ts";
import { SandboxNotRunning } from "../http/exchange.ts";
import type { VerificationKey } from "../signatures/verification-key.ts";
import { KeyFailure, openKeySources, readKeySources, type KeyAccess, type Keyring } from "./key-sources.ts";

/** The keys of every source together. Throws `key_invalid`, `file_unreadable`, `not_reached`. */
export const loadKeys = (sources: readonly string[], access: KeyAccess): Promise<VerificationKey[]> =>
  orFail(readKeySources(sources, access));

/** Keys that can be renewed while in use. Throws as `loadKeys` does. */
export const openKeyring = (sources: readonly string[], access: KeyAccess): Promise<Keyring> =>
  orFail(openKeySources(sources, access));

async function orFail<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw error instanceof KeyFailure ? failureOf(error) : error;
  }
}

function failureOf({ kind, message, details, cause }: KeyFailure): PaylinkError {
  const code = kind === "unreachable" ? "not_reached" : "key_invalid";
  const hint =
    cause instanceof SandboxNotRunning ? "Nothing was received. Start it: paylink sandbox" : HINTS[kind];
  return new PaylinkError(code, message, { hint, details, cause });
}

/** The code's own hint tells enough of the others. */
const HINTS: Readonly<Partial<Record<KeyFailure["kind"], string>>> = {
  unreachable: "Nothing was received. Start the service, or give a key file with --key.",
  redirected:
    "Nothing was received. If you trust the target, set it as the key: --key, or paylink config set webhookKey",
  forbidden:
    "Nothing was received. Download the key with your account, and give the file: --key <file>, or paylink config set webhookKey <file>",
};
