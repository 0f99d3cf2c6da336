/** Judges rejected webhooks again, with the keys that are configured now and as of their receipt. */
import type { Context } from "../context.ts";
import { hint, paylink, PaylinkError } from "../domain/errors.ts";
import type { NewEvent, Rejection } from "../receiver/events.ts";
import { judge } from "../receiver/judge.ts";
import { loadKeys } from "../receiver/webhook-keys.ts";
import { policyOf, type PolicyValues, serviceKeys } from "./shared-flags.ts";

/** The event that a rejection becomes if it verifies now; else the reason code. */
export type JudgeAgain = (rejection: Rejection) => NewEvent | string;

/** Throws `key_required`, and if a key cannot be read. */
export async function openJudgeAgain(
  context: Context,
  { key, ...policyFlags }: { readonly key: readonly string[] } & Partial<PolicyValues>,
): Promise<JudgeAgain> {
  const settings = await context.settings();
  const { keySources, keyPlace } = serviceKeys(key, settings);
  if (keySources.length === 0)
    throw new PaylinkError("key_required", "No key is configured, so no webhook can be verified.", {
      hints: [
        hint`Name the key of the service: ${paylink("events", "accept", "--all", "--key", "service.pem")}`,
      ],
    });
  const { keys } = await loadKeys(keySources, { ...context, place: keyPlace, effect: "verify" });
  const policy = policyOf(policyFlags, settings);
  return ({ id, receivedAt, request, code }) => {
    // It was not an HTTP request.
    if (request === null) return code;
    const { verdict, content } = judge(request, { keys, policy, now: receivedAt });
    return verdict.verdict === "valid"
      ? { type: "event", id, receivedAt, request, verdict, content }
      : verdict.code;
  };
}
