/** Why a webhook is refused: the code, the status to answer with, the verdict, and what to do. */
import {
  statusOf,
  type ApplicationReason,
  type MessageReason,
  type Reason,
  type RecordReason,
} from "../domain/reasons.ts";
import type { Verdict } from "../signatures/verdict.ts";

/** Reason codes, as `paylink help reasons` lists them, and the codes of problems in the application itself. */
export type WebhookErrorCode = Reason | MessageReason | RecordReason | ApplicationReason;

/** One rule of the specification that a record breaks. */
export interface RecordViolation {
  readonly code: string;
  /** The field, empty for the body as a whole. */
  readonly path: string;
  readonly message: string;
}

interface WebhookErrorDetails {
  /** If it is not the usual one of the code. */
  readonly status?: number;
  readonly verdict?: Verdict<WebhookErrorCode>;
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

  constructor(code: WebhookErrorCode, message: string, details: WebhookErrorDetails = {}) {
    super(`${code}: ${message}`, { cause: details.cause });
    this.code = code;
    this.status = details.status ?? statusOf(code);
    this.verdict = details.verdict ?? null;
    this.violations = details.violations ?? [];
    this.record = details.record;
  }
}
