/** The error for an endpoint that was not reached, in every command that posts webhooks. */
import { PaylinkError, type WebhookEffect } from "../domain/errors.ts";
import type { Hint } from "../domain/hint.ts";
import type { SendFailure } from "../http/send-failure.ts";
import { likelyCause } from "../render/likely-cause.ts";

/** `effect` is what was not done, and `next` says how to start an endpoint where nothing listens. */
export function endpointNotReached(
  url: string,
  { failure, reason }: { readonly failure: SendFailure; readonly reason: string },
  { effect, next }: { readonly effect: WebhookEffect; readonly next: Hint },
): PaylinkError {
  const cause = likelyCause(
    { genuine: [{ status: null, failure, reply: null, target: url }] },
    { comesAgain: false },
  );
  const [what, advice] =
    failure === "refused" || cause === undefined
      ? [`Nothing answers at ${url}`, next]
      : [`${url} was not reached`, [cause]];
  return new PaylinkError("not_reached", `${what}: ${reason}.`, { effect, hints: [advice] });
}
