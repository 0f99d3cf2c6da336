/** The keys and the policy that `verify` judges with, and judging rejected webhooks again with them, as of their receipt. */
import type { Context } from "../context.ts";
import type { NewEvent, Rejection } from "../receiver/event.ts";
import { judge } from "../receiver/judge.ts";
import { loadKeys } from "../receiver/webhook-keys.ts";
import { policyOf, type PolicyValues, serviceKeys } from "./shared-flags.ts";

/** The event that a rejection becomes if it verifies now; else the reason code. */
export type JudgeAgain = (rejection: Rejection) => NewEvent | string;

interface KeyFlags extends Partial<PolicyValues> {
  readonly key: readonly string[];
}

/** The keys and the policy in force. Throws `key_required`, and if a key cannot be read. */
export async function openKeys(context: Context, { key, ...policyFlags }: KeyFlags) {
  const settings = await context.settings();
  const { keySources, keyPlace } = serviceKeys(key, settings, "verify");
  const loaded = await loadKeys(keySources, { ...context, place: keyPlace, effect: "verify" });
  return { ...loaded, policy: policyOf(policyFlags, settings) };
}

/** Throws as `openKeys` does. */
export async function openJudgeAgain(context: Context, flags: KeyFlags): Promise<JudgeAgain> {
  const { keys, policy } = await openKeys(context, flags);
  return ({ id, receivedAt, request, code }) => {
    // It was not an HTTP request.
    if (request === null) return code;
    const { verdict, content } = judge(request, { keys, policy, now: receivedAt });
    return verdict.verdict === "valid"
      ? { type: "event", id, receivedAt, request, verdict, content }
      : verdict.code;
  };
}
