/** Makes the error of each webhook that is refused: its status, and a message that says what to do. */
import type { Violation } from "../domain/transaction.ts";
import type { Refusal } from "../http/exchange.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Judgement } from "../receiver/judge.ts";
import type { Policy } from "../signatures/policy.ts";
import type { Reason, Verdict } from "../signatures/verdict.ts";
import { WebhookError, type WebhookErrorCode } from "./webhook-error.ts";

/** A request that is refused by its head or by the form of its body. */
export function refusedRequest(
  { code, status, detail }: Refusal & { readonly code: WebhookErrorCode },
  { label, algorithm }: Policy,
): WebhookError {
  const verdict: Verdict<WebhookErrorCode> = {
    verdict: "invalid",
    code,
    label,
    keyid: null,
    alg: algorithm,
    created: null,
    covered: [],
    checks: [{ check: "http", ok: false, detail }],
    warnings: [],
    hints: [],
    signatureBase: null,
  };
  return new WebhookError(code, `${printable(detail)}. ${FORGED}`, { status, verdict });
}

/** A webhook that does not verify. Every failure answers 401, whatever the step; too many signatures is a limit. */
export function unverifiedWebhook(verdict: Verdict, { authority }: HttpRequest): WebhookError {
  const { code } = verdict;
  const reason: Reason = code === "ok" ? "signature_invalid" : code;
  const detail = verdict.checks.find(({ ok }) => !ok)?.detail ?? reason;
  const remedy =
    reason === "component_value_invalid" && authority === "" ? NO_ADDRESS : (REMEDIES[reason] ?? FORGED);
  return new WebhookError(reason, `${printable(detail)}. ${remedy}`, {
    status: reason === "limit_exceeded" ? 400 : 401,
    verdict,
  });
}

/** An authentic webhook whose record breaks the specification. */
export function brokenRecord({ verdict, violations }: Judgement, record: unknown): WebhookError {
  const [first] = violations;
  const code = first?.code ?? "body_schema";
  return new WebhookError(
    code,
    `${printable(violations.map(describeViolation).join("; "))}. The webhook is authentic, but error.record breaks the specification: look the payment up before you act on it.`,
    { status: 422, verdict, violations, record },
  );
}

/** Messages go to logs and terminals, and details quote what anyone could have sent. */
const printable = (detail: string): string => detail.replace(/[^\x20-\x7e]/g, "?").slice(0, 500);

const describeViolation = ({ path, message }: Violation): string =>
  path === "" ? `the body ${message}` : `${path} ${message}`;

const FORGED = "Do not act on this request: anyone could have sent it.";
const NO_ADDRESS =
  "The signature covers the address that the service posts to: set publicUrl to it. The headers of a request cannot prove it.";
const CHANGED = `${FORGED} If genuine webhooks fail too, paylink verify finds the cause in a captured request.`;
const OTHER_KEY = "Set key to the key that the service signs with now, or to the URL of its key set.";

/** What to do about a reason besides refusing the request. */
const REMEDIES: Readonly<Partial<Record<Reason, string>>> = {
  signature_invalid: CHANGED,
  content_digest_mismatch: CHANGED,
  component_missing: CHANGED,
  component_value_invalid: CHANGED,
  signature_too_old: `${FORGED} To allow older signatures, set tolerance.`,
  created_in_future: `${FORGED} Or a clock is wrong, here or at the service.`,
  key_not_found: OTHER_KEY,
  key_ambiguous: OTHER_KEY,
  key_unusable: OTHER_KEY,
  key_type_mismatch: OTHER_KEY,
  alg_key_mismatch: OTHER_KEY,
  weak_key: OTHER_KEY,
};
