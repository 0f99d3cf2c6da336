/** The keys and the policy that `verify` judges with, and judging rejected webhooks again with them, as of their receipt. */
import type { Context } from "../context.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import type { NewEvent, Rejection, RunKeys } from "../events/event.ts";
import { judge } from "../receiver/judge.ts";
import { loadKeys } from "../receiver/key-sources.ts";
import { thumbprintsOf } from "../receiver/keyring.ts";
import { isThumbprint } from "../signatures/thumbprint.ts";
import { policyFrom, type PolicyValues, serviceKeys } from "./shared-flags.ts";

/** Judges rejections again, as of their receipt. */
export interface JudgeAgain {
  readonly keys: RunKeys;
  /** The event that a rejection becomes if it verifies now; else the reason code. */
  readonly judge: (rejection: Rejection) => NewEvent | string;
}

interface KeyFlags extends Partial<PolicyValues> {
  readonly key: readonly string[];
}

/** The keys and the policy in force. Throws `key_required`, and if a key cannot be read. */
export async function openServiceKeys(context: Context, { key, ...policyFlags }: KeyFlags) {
  const settings = await context.settings();
  const { keySources, keyPlace } = serviceKeys(key, settings, "verify");
  const loaded = await loadKeys(keySources, { ...context, place: keyPlace, effect: "verify" });
  return { ...loaded, policy: policyFrom(policyFlags, settings) };
}

/**
 * The keys whose events a command acts on: read, or named by their thumbprints, as keys are that their service has replaced.
 * Throws `key_required`, and if a key cannot be read; the advice then has the keys of the events in question, which `found` tells.
 */
export async function openRunKeys(
  context: Context,
  key: readonly string[],
  effect: "replay" | "retry" | "send" | "verify",
  found: () => Promise<RunKeys> = async () => [],
): Promise<RunKeys> {
  const { keySources, keyPlace: place } = serviceKeys(key, await context.settings(), undefined);
  if (keySources.length === 0)
    throw new PaylinkError(
      "key_required",
      "No key is configured, and paylink sends only events that one of your keys has verified.",
      { effect },
    );
  const read = keySources.filter((source) => !isThumbprint(source));
  const { keys } = await loadKeys(read, { ...context, place, effect }).catch(async (error: unknown) => {
    if (!(error instanceof PaylinkError && error.code === "not_reached")) throw error;
    const thumbprints = [...new Set(await found())].map((thumbprint) => `--key ${thumbprint}`);
    const more =
      thumbprints.length === 0
        ? hint`Or name the key by its thumbprint, which ${paylink`events show <uti>`} prints: --key <thumbprint>`
        : hint`Or name the key by its thumbprint. These events have: ${thumbprints.join(", ")}`;
    throw error.with({ effect, hints: [...error.hints, more] });
  });
  return thumbprintsOf(keys, keySources.filter(isThumbprint));
}

/** Throws as `openServiceKeys` does. */
export async function openJudgeAgain(context: Context, flags: KeyFlags): Promise<JudgeAgain> {
  const { keys, policy } = await openServiceKeys(context, flags);
  const runKeys = thumbprintsOf(keys);
  return {
    keys: runKeys,
    judge: ({ id, receivedAt, request, code }) => {
      // It was not an HTTP request.
      if (request === null) return code;
      const { verdict, content } = judge(request, { keys, policy, now: receivedAt });
      return verdict.verdict === "valid"
        ? { type: "event", id, receivedAt, request, verdict, content, keys: runKeys }
        : verdict.code;
    },
  };
}
