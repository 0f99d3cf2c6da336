/** Forwards a webhook while its sender waits: the application's answer goes back to the service, which sends the webhook again if it was refused. */
import { isBroker } from "./brokers/addresses.ts";
import { outcomeOf } from "../domain/transaction.ts";
import { type HttpReply, isSuccess } from "../http/message.ts";
import { makeAttempt, type AttemptResult } from "./attempt.ts";
import { type Claim, type Stored, type WebhookEvent } from "../events/event.ts";
import { CLAIM_MARGIN, type Forwarder, type ForwarderParts, replyFor } from "./forwarder.ts";
import { targetOf } from "./outcome-routes.ts";

/** The sender decides how many attempts are made at the same time. */
export function createDirectForwarder(parts: ForwarderParts): Forwarder {
  const running = new Map<string, Promise<HttpReply>>();
  const attemptNow = async (event: WebhookEvent, url: URL, claim: Claim): Promise<HttpReply> => {
    const { result, forward } = await makeAttempt(event, url, parts);
    // The sender gets the answer, even if a full disk keeps the attempt from being recorded.
    await parts.log.ended(claim, forward, "by the sender").catch(() => undefined);
    parts.observe({ ...event, first: claim.id }, forward);
    return answerFor(result, isBroker(url));
  };
  const forwardTo = (url: URL, event: WebhookEvent, { first, state, attempt: number }: Stored) => {
    // A repeated delivery waits for the first one, so that the application gets the webhook once.
    const same = running.get(first);
    if (same !== undefined) return same;
    if (number === undefined) return Promise.resolve(withoutAttempt(state));
    const answer = attemptNow(event, url, { id: first, attempt: number }).finally(() =>
      running.delete(first),
    );
    running.set(first, answer);
    return answer;
  };
  return {
    plan: ({ content: { record } }) => {
      const url = targetOf(parts.routes, outcomeOf(record));
      return (
        url && {
          lease: parts.timeout + CLAIM_MARGIN,
          forward: (event, stored) => forwardTo(url, event, stored),
        }
      );
    },
    start: () => undefined,
    close: async () => void (await Promise.allSettled(running.values())),
  };
}

/** The answer to a webhook that is not forwarded now. */
function withoutAttempt(state: Stored["state"]): HttpReply {
  // Another receiver is forwarding it: the service asks again.
  if (state === "pending")
    return replyFor(503, 'details="another receiver is forwarding it"', {
      headers: [["Retry-After", "5"]],
      body: new Uint8Array(),
    });
  if (state === "skipped") return replyFor(200, 'details="an operator has skipped it"');
  if (state === "delivered") return replyFor(200, 'details="the application accepted it before"');
  return replyFor(200, 'details="it is stored, and not forwarded"');
}

/**
 * The answer for the service, which delivers again what the application did not accept (RFC 9110 15.6.3, 15.6.5). An error is
 * named by its kind alone: its message may contain addresses of this network.
 */
function answerFor(result: AttemptResult, isOfBroker: boolean): HttpReply {
  // A broker has no HTTP status to pass on: 503 asks the service to send the webhook again.
  if (result.kind !== "answered" && isOfBroker) return replyFor(503, "error=destination_unavailable");
  if (result.kind === "notReached") return replyFor(502, "error=destination_unavailable");
  if (result.kind === "noAnswer")
    return result.failure === "timeout"
      ? replyFor(504, "error=http_response_timeout")
      : replyFor(502, "error=connection_terminated");
  const { status, headers, body } = result;
  const passedBack = headers.filter(([name]) => PASSED_BACK.has(name.toLowerCase()));
  // Every 2xx is accepted, and a service may know only 200.
  return replyFor(isSuccess(status) ? 200 : status, `received-status=${status}`, {
    headers: passedBack,
    body,
  });
}

/** What a proxy would pass on, and when to try again. The body has no coding any more. */
const PASSED_BACK: ReadonlySet<string> = new Set(["content-type", "retry-after"]);
