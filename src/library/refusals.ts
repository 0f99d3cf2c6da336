/** Makes the error of each webhook that is refused: its status, and a message that says what to do. */
import { REASONS } from "../domain/reasons.ts";
import { plainJson } from "../values/json.ts";
import { messageOf } from "../values/system-reason.ts";
import { describeViolation } from "../domain/transaction.ts";
import type { Refusal } from "../http/refusal.ts";
import type { HttpRequest } from "../http/message.ts";
import { refusedVerdict } from "../receiver/admit.ts";
import { refusedAs, type Judgement } from "../receiver/judge.ts";
import { WebhookError, type WebhookErrorCode } from "./webhook-error.ts";

/** A request that is refused by its head or by the form of its body. */
export function refusedRequest(refusal: Refusal<WebhookErrorCode>): WebhookError {
  const { code, status, detail } = refusal;
  return new WebhookError(code, untrusted(detail, REASONS[code].advice), {
    status,
    verdict: refusedVerdict(refusal),
  });
}

/** A webhook that does not verify. */
export function unverifiedWebhook(judgement: Judgement, { authority }: HttpRequest): WebhookError {
  const { verdict } = judgement;
  const { code, detail } = refusedAs(judgement);
  const isUnknown = code === "component_value_invalid" && authority === "";
  const advice = isUnknown ? NO_ADDRESS : REASONS[code].advice;
  return new WebhookError(code, untrusted(detail, advice), { verdict });
}

/** With `strict`, an authentic webhook whose record breaks the specification. */
export function brokenRecord({ verdict, content: { violations, record } }: Judgement): WebhookError {
  const code = violations[0]?.code ?? "body_schema";
  const broken = printable(violations.map(describeViolation).join("; "));
  const advice = `error.record has it as parsed. ${REASONS[code].advice ?? ""}`;
  return new WebhookError(code, `${broken}. ${advice}`, { verdict, violations, record: plainJson(record) });
}

/** An error of the crypto library, or a bug: it says nothing about the webhook. */
export const unjudgedWebhook = (cause: unknown): WebhookError =>
  new WebhookError(
    "internal_error",
    `the webhook could not be verified: ${printable(messageOf(cause))}. Answer with status 500: the service then sends the webhook again.`,
    { cause },
  );

const untrusted = (detail: string, advice = ""): string =>
  `${printable(detail)}. Do not act on this request: anyone could have sent it. ${advice}`.trimEnd();

const NO_ADDRESS =
  "The signature covers the address that the service posts to: set publicUrl to it. The headers of a request cannot prove it.";

/** Messages go to logs and terminals, and details quote what anyone could have sent. */
const printable = (detail: string): string => detail.replace(/[^\x20-\x7e]/g, "?").slice(0, 500);
