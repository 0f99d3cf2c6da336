/** What became of an attempt: the sentence that the page of a delivery opens with, its reason, and what to do about it. */
import { LISTENER_URL } from "../domain/addresses.ts";
import { html } from "hono/html";
import type { Json } from "../domain/json.ts";
import { parseJsonObject } from "../domain/parse-json.ts";
import { capitalized } from "../domain/payment-link-fields.ts";
import { fieldLines } from "../http/message.ts";
import type { Description } from "../pages/exchange.ts";
import { isAccepted } from "./deliveries.ts";
import type { Attempt, Delivery } from "./store/rows.ts";

/** Shown where nothing answers at the address that `listen` has by default. */
export const START_LISTEN = html`Start <code>paylink listen</code> to receive it.`;

/** Whether nothing answered where `listen` would. */
export const isListenerMissing = ({ url }: Pick<Delivery, "url">, attempt: Attempt | undefined): boolean =>
  url.startsWith(LISTENER_URL) && attempt?.status === null && attempt.duration !== null;

export function describeAttempt(delivery: Pick<Delivery, "url">, attempt: Attempt | undefined): Description {
  if (attempt === undefined) return { kind: "waiting", words: "The webhook has not been sent yet." };
  const { status, duration, detail } = attempt;
  const time = duration === null ? "" : ` in ${duration} ms`;
  if (status === null)
    return duration === null
      ? { kind: "bad", words: "The webhook was not sent.", reason: capitalized(detail) }
      : {
          kind: "bad",
          words: "Your server did not answer.",
          reason: `${detail}, after ${duration} ms`,
          advice: isListenerMissing(delivery, attempt) ? START_LISTEN : undefined,
        };
  const listened = byListen(attempt);
  const receiver = listened === undefined ? "Your server" : "Your application, behind paylink listen,";
  if (isAccepted(attempt))
    return listened?.answered === false
      ? {
          kind: "good",
          words: `paylink listen accepted it: ${status}${time}.`,
          reason: capitalized(listened.details ?? "it answered by itself, without your application"),
        }
      : { kind: "good", words: `${receiver} accepted it: ${status}${time}.` };
  if (status < 400)
    return {
      kind: "bad",
      words: `${receiver} redirected it: ${status}${time}.`,
      reason: "A webhook follows no redirect. Use the final address as the callback URL.",
    };
  const did = listened?.isSilent ? "did not answer" : status < 500 ? "refused it" : "failed";
  return { kind: "bad", words: `${receiver} ${did}: ${status}${time}.`, reason: reasonIn(attempt) };
}

/** Members that say why, in the shapes that are common: problem details (RFC 9457) first. */
const REASONS = ["detail", "message", "title", "error", "reason"];

/** Why the receiver refused, as far as its answer says so. */
function reasonIn({ answer, answerHeaders }: Attempt): string | undefined {
  const body = parseJsonObject(answer);
  if (body !== undefined) {
    const nested = body["error"];
    const inner =
      typeof nested === "object" && nested !== null && !Array.isArray(nested) ? { ...nested } : {};
    const text = (value: Json | undefined) => (typeof value === "string" && value !== "" ? value : undefined);
    const found = [body, inner].flatMap((object: Record<string, Json>) =>
      REASONS.map((name) => text(object[name])),
    );
    const words = found.find((value) => value !== undefined);
    const code = text(body["code"]);
    if (words !== undefined) return `${capitalized(words)}${code === undefined ? "" : ` (${code})`}`;
    return code;
  }
  const [type = ""] = fieldLines(answerHeaders, "content-type");
  if (/html/i.test(type)) return undefined;
  return answer.trim().split("\n", 1)[0] || undefined;
}

/** What `paylink listen` says in Proxy-Status (RFC 9209) about the application behind it; undefined for another receiver. */
function byListen({ answerHeaders }: Attempt) {
  const [status = ""] = fieldLines(answerHeaders, "proxy-status");
  if (!/^paylink\s*;/.test(status)) return undefined;
  const [, details] = /details="([^"\\]{1,200})"/.exec(status) ?? [];
  const answered = /received-status=\d{3}/.test(status);
  return { answered, isSilent: /error=/.test(status), details };
}
