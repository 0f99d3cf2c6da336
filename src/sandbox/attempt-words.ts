/** What became of an attempt: the sentence that the page of a delivery opens with, its reason, and what to do about it. */
import { LISTENER_URL } from "../domain/known-services.ts";
import { html } from "hono/html";
import { capitalized } from "../values/sentence.ts";
import { answerWords } from "../http/answer-words.ts";
import { fieldLines, isSuccess } from "../http/message.ts";
import type { Description } from "../pages/exchange.ts";
import type { DeliveryAttempt, Delivery } from "./store/ledger-rows.ts";

export function describeAttempt(
  delivery: Pick<Delivery, "url">,
  attempt: DeliveryAttempt | undefined,
): Description {
  if (attempt === undefined) return { kind: "waiting", words: "The webhook has not been sent yet." };
  const { status, duration, detail } = attempt;
  const time = duration === null ? "" : ` in ${duration} ms`;
  if (status === null)
    return duration === null
      ? { kind: "bad", words: "The webhook was not sent.", reason: capitalized(detail) }
      : {
          kind: "bad",
          words: "Your server did not answer.",
          reason: `${capitalized(detail)}, after ${duration} ms.`,
          advice: delivery.url.startsWith(LISTENER_URL)
            ? html`Start <code>paylink listen</code> to receive it.`
            : undefined,
        };
  const listened = byListen(attempt);
  const receiver = listened === undefined ? "Your server" : "Your application, behind paylink listen,";
  if (isSuccess(status))
    return listened?.answered === false
      ? {
          kind: "good",
          words: `paylink listen accepted it: ${status}${time}.`,
          reason: capitalized(listened.details ?? "it answered on its own, without your application"),
        }
      : { kind: "good", words: `${receiver} accepted it: ${status}${time}.` };
  if (status < 400)
    return {
      kind: "bad",
      words: `${receiver} redirected it: ${status}${time}.`,
      reason: "Webhooks do not follow redirects. Use the final address as the callback URL.",
    };
  const did = listened?.isSilent ? "did not answer" : status < 500 ? "refused it" : "failed";
  return {
    kind: "bad",
    words: `${receiver} ${did}: ${status}${time}.`,
    reason: answerWords(attempt.answerHeaders, attempt.answer) || undefined,
  };
}

/** What `paylink listen` says in Proxy-Status (RFC 9209) about the application behind it; undefined for another receiver. */
function byListen({ answerHeaders }: DeliveryAttempt) {
  const [status = ""] = fieldLines(answerHeaders, "proxy-status");
  if (!/^paylink\s*;/.test(status)) return undefined;
  const [, details] = /details="([^"\\]{1,200})"/.exec(status) ?? [];
  const answered = /received-status=\d{3}/.test(status);
  return { answered, isSilent: /error=/.test(status), details };
}
