/** Loads the service's public keys for a command. A key that cannot be read fails the command, with a next step. */
import { PaylinkError } from "../domain/errors.ts";
import { SandboxNotRunning } from "../http/exchange.ts";
import type { VerificationKey } from "../signatures/verification-key.ts";
import { KeyFailure, openKeySources, readKeySources, type KeyAccess, type Keyring } from "./key-sources.ts";

interface CommandAccess extends KeyAccess {
  /** What the command does not do without a key. */
  readonly undone: "received" | "created" | "verified";
}

/** The keys of every source together. Throws `key_invalid`, `file_unreadable`, `not_reached`. */
export const loadKeys = (sources: readonly string[], access: CommandAccess): Promise<VerificationKey[]> =>
  orFail(readKeySources(sources, access), access);

/** Keys that can be renewed while in use. Throws as `loadKeys` does. */
export const openKeyring = (sources: readonly string[], access: CommandAccess): Promise<Keyring> =>
  orFail(openKeySources(sources, access), access);

async function orFail<T>(reading: Promise<T>, access: CommandAccess): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw error instanceof KeyFailure ? failureOf(error, access) : error;
  }
}

function failureOf({ kind, message, details, cause }: KeyFailure, { undone }: CommandAccess): PaylinkError {
  const code = kind === "unreachable" ? "not_reached" : "key_invalid";
  const step = cause instanceof SandboxNotRunning ? "Start it: paylink sandbox" : nextStep(kind, undone);
  const hint = step === undefined ? undefined : `Nothing was ${undone}. ${step}`;
  return new PaylinkError(code, message, { hint, details, cause });
}

/** Undefined if the hint of the code is enough. */
function nextStep(kind: KeyFailure["kind"], undone: CommandAccess["undone"]): string | undefined {
  const setting = "paylink config set webhookKey";
  // `create` has no flag for a key.
  const flag = undone === "created" ? "" : "--key <file>, or ";
  if (kind === "unreachable") return `Start the service, or give a key file: ${flag}${setting} <file>`;
  if (kind === "redirected") return `If you trust the target, set it as the key: ${setting} <url>`;
  if (kind === "forbidden")
    return `Download the key with your account, and give the file: ${flag}${setting} <file>`;
  return undefined;
}
