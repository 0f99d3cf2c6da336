/** Judges a captured webhook as the listener would have, from its head to the record in its body, and explains the verdict. */
import { isRefusalCode, type RefusalCode } from "../domain/reasons.ts";
import type { ReadRecord } from "../domain/transaction.ts";
import { refusal, type Refusal } from "../http/refusal.ts";
import { fieldLines, type HttpRequest } from "../http/message.ts";
import { failureCauses } from "../signatures/explain/causes.ts";
import { baseOf, checksOf, type CheckResult } from "../signatures/explain/verdict-words.ts";
import type { Diagnosis } from "../signatures/explain/transit.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { refusedVerdict, refuseHead, refuseMessage } from "./admit.ts";
import { bodyIsKept, type Rejection } from "../events/event.ts";
import { judge, type JudgeOptions, UNREAD, verifyOptions } from "./judge.ts";

export interface Explanation extends ReadRecord {
  readonly verdict: Verdict<RefusalCode>;
  /** In order, up to the first that failed. */
  readonly checks: readonly CheckResult[];
  /** What explains a failure. */
  readonly hints: readonly Diagnosis[];
  readonly signatureBase: string | null;
  /** What a listener answers before it verifies; null if it would verify the request. */
  readonly refused: Refusal | null;
}

interface ExplanationOptions extends JudgeOptions {
  /** Bytes of body. */
  readonly maxBody: number;
  /** Those that the listener receives at; undefined where that is not known. */
  readonly paths?: readonly string[] | undefined;
}

/** Why a request was rejected or would have been, and what to do if the reason alone does not say it. */
export interface Fault {
  readonly refused: Refusal;
  readonly hint?: Diagnosis;
}

/** `fault` is the reason why the listener refused the request by its head, or the HTTP layer would have. */
export function explainCapture(
  request: HttpRequest,
  options: ExplanationOptions,
  fault?: Fault,
): Explanation {
  const unread = fault?.refused ?? refuseMessage(request) ?? refuseBody(request, options.maxBody);
  if (unread !== undefined) {
    const checks = [{ check: "http", ok: false, detail: unread.detail }];
    const hints = fault?.hint === undefined ? [] : [fault.hint];
    const verdict = refusedVerdict(unread);
    return { verdict, checks, hints, signatureBase: null, refused: unread, ...UNREAD };
  }
  const { verdict, content } = judge(request, options);
  const { now } = verifyOptions(options);
  const received = { check: "http", ok: true, detail: describe(request) };
  return {
    verdict,
    checks: [received, ...checksOf({ verdict, request, now })],
    hints: failureCauses(request, verifyOptions(options), verdict),
    signatureBase: baseOf({ verdict, request }),
    refused: refuseHead(request, options.paths) ?? null,
    record: content.record,
    violations: content.violations,
    isWhole: content.isWhole,
  };
}

/** That of a stored rejection; undefined where all of the request is there to judge. */
export const faultOf = (rejection: Rejection): Fault | undefined =>
  bodyIsKept(rejection) || !isRefusalCode(rejection.code)
    ? undefined
    : {
        refused: refusal(rejection.code, rejection.detail, rejection.status),
        hint: { variant: "its body was not kept", advice: BODY_NOT_KEPT },
      };

const BODY_NOT_KEPT =
  "The request was rejected before its body was read, so it can no longer be verified. Fix the cause, such as the path (--path) or the media type, and have the service send the webhook again.";

const describe = ({ method, headers, body }: HttpRequest): string =>
  `${method}, ${headers.length} header lines, ${body.length} bytes of body`;

function refuseBody({ headers, body }: HttpRequest, maxBody: number): Refusal | undefined {
  if (body.length > maxBody)
    return refusal("body_too_large", `the body has ${body.length} bytes; the limit is ${maxBody}`);
  const [length = ""] = fieldLines(headers, "content-length");
  if (!/^\d+$/.test(length) || Number(length) <= body.length) return undefined;
  return refusal("body_incomplete", `Content-Length says ${length} bytes, the body has ${body.length}`);
}
