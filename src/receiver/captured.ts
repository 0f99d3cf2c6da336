/** Judges a captured webhook as the listener would have, from its head to the record in its body. */
import type { RefusalCode } from "../domain/reasons.ts";
import type { ReadRecord } from "../domain/transaction.ts";
import { refusal, type Refusal } from "../http/exchange.ts";
import { fieldLines, type HttpRequest } from "../http/message.ts";
import { diagnose } from "../signatures/diagnose/diagnose.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { refusedVerdict, refuseMessage } from "./admit.ts";
import { judge, type JudgeOptions, UNREAD, verifyOptions } from "./judge.ts";

export interface Examination extends ReadRecord {
  readonly verdict: Verdict<RefusalCode>;
}

interface ExaminationOptions extends JudgeOptions {
  /** Bytes of body. */
  readonly maxBody: number;
}

/** `fault` is the reason why the HTTP layer would have refused the capture. */
export function examine(request: HttpRequest, options: ExaminationOptions, fault?: Refusal): Examination {
  const refused = fault ?? refuseMessage(request) ?? refuseBody(request, options.maxBody);
  const refusedAs = refused && refusedVerdict(refused, options.policy);
  if (refusedAs !== undefined && refusedAs.code !== "body_incomplete")
    return { verdict: refusedAs, ...UNREAD };
  const { verdict, ...content } = judge(request, options);
  const hints = diagnose(request, verifyOptions(options), verdict);
  // An incomplete body gets the hints of one that does not match its digest. Other refusals need none.
  if (refusedAs !== undefined) {
    const { code, checks } = refusedAs;
    return { verdict: { ...verdict, verdict: "invalid", code, checks, hints }, ...UNREAD };
  }
  const received = { check: "http", ok: true, detail: describe(request) };
  return { verdict: { ...verdict, checks: [received, ...verdict.checks], hints }, ...content };
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
