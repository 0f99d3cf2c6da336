/** Judges a captured webhook as the listener would have, from its head to the record in its body, and explains the verdict. */
import type { RefusalCode } from "../domain/reasons.ts";
import type { ReadRecord } from "../domain/transaction.ts";
import { refusal, type Refusal } from "../http/refusal.ts";
import { fieldLines, type HttpRequest } from "../http/message.ts";
import { causesOf } from "../signatures/explain/causes.ts";
import { baseOf, checksOf, type Check } from "../signatures/explain/checks.ts";
import type { Hint } from "../signatures/explain/transit.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { refusedVerdict, refuseMessage } from "./admit.ts";
import { judge, type JudgeOptions, UNREAD, verifyOptions } from "./judge.ts";

export interface Explanation extends ReadRecord {
  readonly verdict: Verdict<RefusalCode>;
  /** In order, up to the first that failed. */
  readonly checks: readonly Check[];
  /** What explains a failure. */
  readonly hints: readonly Hint[];
  readonly signatureBase: string | null;
}

interface ExplanationOptions extends JudgeOptions {
  /** Bytes of body. */
  readonly maxBody: number;
}

/** `fault` is the reason why the HTTP layer would have refused the capture. */
export function explainCapture(
  request: HttpRequest,
  options: ExplanationOptions,
  fault?: Refusal,
): Explanation {
  const refused = fault ?? refuseMessage(request) ?? refuseBody(request, options.maxBody);
  if (refused !== undefined) {
    const checks = [{ check: "http", ok: false, detail: refused.detail }];
    return { verdict: refusedVerdict(refused), checks, hints: [], signatureBase: null, ...UNREAD };
  }
  const { verdict, content } = judge(request, options);
  const { now } = verifyOptions(options);
  const received = { check: "http", ok: true, detail: describe(request) };
  return {
    verdict,
    checks: [received, ...checksOf({ verdict, request, now })],
    hints: causesOf(request, verifyOptions(options), verdict),
    signatureBase: baseOf({ verdict, request }),
    record: content.record,
    violations: content.violations,
    isWhole: content.isWhole,
  };
}

const describe = ({ method, headers, body }: HttpRequest): string =>
  `${method}, ${headers.length} header lines, ${body.length} bytes of body`;

function refuseBody({ headers, body }: HttpRequest, maxBody: number): Refusal | undefined {
  if (body.length > maxBody)
    return refusal("body_too_large", `the body has ${body.length} bytes; the limit is ${maxBody}`);
  const [length = ""] = fieldLines(headers, "content-length");
  if (!/^\d+$/.test(length) || Number(length) <= body.length) return undefined;
  return refusal("body_incomplete", `Content-Length says ${length} bytes, the body has ${body.length}`);
}
