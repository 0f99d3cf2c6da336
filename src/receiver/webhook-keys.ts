/** Loads the service's public keys for a command. A key that cannot be read fails the command, with a next step. */
import { hint, paylink, PaylinkError, type CommandLine, type Hint } from "../domain/errors.ts";
import { SandboxNotRunning } from "../http/exchange.ts";
import type { VerificationKey } from "../signatures/keys.ts";
import { KeyFailure, openKeySources, readKeySources, type KeyAccess, type Keyring } from "./key-sources.ts";

interface CommandAccess extends KeyAccess {
  /** What the command does with a key. */
  readonly effect: "receive" | "create" | "verify";
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

function failureOf({ kind, message, details, cause }: KeyFailure, { effect }: CommandAccess): PaylinkError {
  const code = kind === "unreachable" ? "not_reached" : "key_invalid";
  const step =
    cause instanceof SandboxNotRunning ? hint`Start it: ${paylink("sandbox")}` : nextStep(kind, effect);
  return new PaylinkError(code, message, {
    effect,
    hints: step === undefined ? undefined : [step],
    details,
    cause,
  });
}

/** Undefined if the hint of the code is enough. */
function nextStep(kind: KeyFailure["kind"], effect: CommandAccess["effect"]): Hint | undefined {
  const set = (value: string): CommandLine => paylink("config", "set", "webhookKey", value);
  // `create` has no flag for a key.
  const flag = effect === "create" ? "" : "--key <file>, or ";
  if (kind === "unreachable") return hint`Start the service, or give a key file: ${flag}${set("<file>")}`;
  if (kind === "redirected") return hint`If you trust the target, set it as the key: ${set("<url>")}`;
  if (kind === "forbidden")
    return hint`Download the key with your account, and give the file: ${flag}${set("<file>")}`;
  return undefined;
}
