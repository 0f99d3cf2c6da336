/** Why a webhook is refused: the code, the status to answer with, the verdict, and what to do. */
import {
  publicProblem,
  statusOf,
  type ApplicationReason,
  type MessageReason,
  type PublicProblem,
  type Reason,
  type RecordReason,
} from "../domain/reasons.ts";
import type { Verdict } from "../signatures/verdict.ts";

/** Reason codes, as `paylink help reasons` lists them, and the codes of problems in the application itself. */
export type WebhookErrorCode = Reason | MessageReason | RecordReason | ApplicationReason;

/** One rule of the specification that a record breaks. */
export interface RecordViolation {
  /** `body_schema` for a field; another reason where the body as a whole is not a record. */
  readonly code: string;
  /** The field, empty for the body as a whole. */
  readonly path: string;
  /** What the rule is, such as `must be a number`. */
  readonly message: string;
}

/** The same in both copies of the library that a process may have loaded: by `import` and by `require`. */
const BRAND = Symbol.for("paylink.WebhookError");

/**
 * Thrown for each request that must not be acted on. `instanceof` also recognises the errors of another copy of the library: a
 * process that uses `import` and `require` has two.
 *
 * @example
 * try {
 *   await verify(request);
 * } catch (error) {
 *   response.statusCode = error instanceof WebhookError ? error.status : 500;
 * }
 */
export class WebhookError extends Error {
  /** `WebhookError`. */
  override readonly name: string = "WebhookError";
  /** Why: a reason of `paylink help reasons`. */
  readonly code: WebhookErrorCode;
  /** The HTTP status to answer with: 4xx refuses the webhook; with 500 or 503 the service sends it again. */
  readonly status: number;
  /** The body to answer with, as JSON: `paylink check` and `paylink trigger` read it. The message is for your log alone. */
  readonly problem: PublicProblem;
  /** The checks made; null where the application's own problem, such as a parsed body, prevented them. */
  readonly verdict: Verdict<WebhookErrorCode> | null;
  /** The rules that the record of an authentic webhook breaks. */
  readonly violations: readonly RecordViolation[];
  /** The record of an authentic webhook that breaks the specification, as parsed; otherwise undefined. */
  readonly record: unknown;

  /** The library makes it; a test may make one to throw. The code comes before the message, and decides the status. */
  constructor(
    code: WebhookErrorCode,
    message: string,
    details: Partial<Pick<WebhookError, "status" | "verdict" | "violations" | "record" | "cause">> = {},
  ) {
    super(`${code}: ${message}`, { cause: details.cause });
    this.code = code;
    this.status = details.status ?? statusOf(code);
    this.problem = publicProblem(code, this.status);
    this.verdict = details.verdict ?? null;
    this.violations = details.violations ?? [];
    this.record = details.record;
  }

  /** Whether a value is a WebhookError of any copy of the library. A class that extends this one recognises its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== WebhookError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

Object.defineProperty(WebhookError.prototype, BRAND, { value: true });
