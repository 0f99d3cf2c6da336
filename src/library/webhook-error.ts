/** Why a webhook is refused: the code, the status to answer with, the verdict, and what to do. */
import type { Reason, Verdict } from "../signatures/verdict.ts";

/** Reason codes, as `paylink help reasons` lists them, and the codes of problems in the application itself. */
export type WebhookErrorCode =
  | Reason
  /** The head or the body of the request. */
  | "method_not_allowed"
  | "bad_request_target"
  | "unsupported_transfer_coding"
  | "body_too_large"
  | "body_incomplete"
  /** The webhook is authentic, but its record breaks the specification. */
  | "body_invalid_utf8"
  | "body_not_json"
  | "body_duplicate_member"
  | "body_schema"
  /** The application: the body was read or parsed before it was verified, or there is no key. */
  | "body_parsed"
  | "key_required"
  | "key_invalid"
  | "file_unreadable"
  | "not_reached";

/** One rule of the specification that a record breaks. */
export interface RecordViolation {
  readonly code: string;
  /** The field, empty for the body as a whole. */
  readonly path: string;
  readonly message: string;
}

interface WebhookErrorDetails {
  readonly status: number;
  readonly verdict: Verdict<WebhookErrorCode> | null;
  readonly violations?: readonly RecordViolation[];
  readonly record?: unknown;
  readonly cause?: unknown;
}

/** Thrown for each request that must not be acted on. */
export class WebhookError extends Error {
  override readonly name: string = "WebhookError";
  readonly code: WebhookErrorCode;
  /** The HTTP status to answer with: 4xx refuses the webhook; with 500 or 503 the service sends it again. */
  readonly status: number;
  /** The checks made; null where the application's own problem, such as a parsed body, prevented them. */
  readonly verdict: Verdict<WebhookErrorCode> | null;
  /** The rules that the record of an authentic webhook breaks. */
  readonly violations: readonly RecordViolation[];
  /** The record of an authentic webhook that breaks the specification, as parsed; otherwise undefined. */
  readonly record: unknown;

  constructor(code: WebhookErrorCode, message: string, details: WebhookErrorDetails) {
    super(`${code}: ${message}`, { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.verdict = details.verdict;
    this.violations = details.violations ?? [];
    this.record = details.record;
  }
}
