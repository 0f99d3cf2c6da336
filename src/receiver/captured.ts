/** Judges a captured webhook as the listener would have, from its head to the record in its body. */
import type { RefusalCode } from "../domain/reasons.ts";
import type { ReadRecord } from "../domain/transaction.ts";
import type { Refusal } from "../http/exchange.ts";
import { fieldLines, type HttpRequest } from "../http/message.ts";
import type { Fault } from "../http/raw-request.ts";
import { diagnose } from "../signatures/diagnose/diagnose.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { refusedVerdict, refuseMessage } from "./admit.ts";
import { judge, type JudgeOptions, UNREAD } from "./judge.ts";

export interface Examination extends ReadRecord {
  readonly verdict: Verdict<RefusalCode>;
}

/** `fault` is the reason why the HTTP layer would have refused the capture. */
export function examine(request: HttpRequest, options: JudgeOptions, fault?: Fault): Examination {
  const refused =
    fault ?? refuseMessage(request) ?? refuseSize(request, options.maxBody) ?? refuseIncomplete(request);
  if (refused !== undefined) return { verdict: refusedCapture(request, refused, options), ...UNREAD };
  const { verdict, ...content } = judge(request, options);
  const received = { check: "http", ok: true, detail: describe(request) };
  return {
    verdict: {
      ...verdict,
      checks: [received, ...verdict.checks],
      hints: diagnose(request, verifyOptions(options), verdict),
    },
    ...content,
  };
}

const verifyOptions = ({ keys, policy, now }: JudgeOptions) => ({
  keys,
  policy,
  now: Math.floor(now.getTime() / 1000),
});

const describe = ({ method, headers, body }: HttpRequest): string =>
  `${method}, ${headers.length} header lines, ${body.length} bytes of body`;

function refuseSize({ body }: HttpRequest, maxBody: number): Pick<Refusal, "code" | "detail"> | undefined {
  if (body.length <= maxBody) return undefined;
  return { code: "body_too_large", detail: `the body has ${body.length} bytes; the limit is ${maxBody}` };
}

function refuseIncomplete({ headers, body }: HttpRequest): Fault | undefined {
  const [length = ""] = fieldLines(headers, "content-length");
  if (!/^\d+$/.test(length) || Number(length) <= body.length) return undefined;
  return {
    code: "body_incomplete",
    detail: `Content-Length says ${length} bytes, the body has ${body.length}`,
  };
}

/** An incomplete body gets the hints of one that does not match its digest. Other refusals need none. */
function refusedCapture(
  request: HttpRequest,
  refused: Pick<Refusal, "code" | "detail">,
  options: JudgeOptions,
): Verdict<RefusalCode> {
  const verdict = refusedVerdict(refused, options.policy);
  if (refused.code !== "body_incomplete") return verdict;
  const judged = judge(request, options).verdict;
  const { code, checks } = verdict;
  const hints = diagnose(request, verifyOptions(options), judged);
  return { ...judged, verdict: "invalid", code, checks, hints };
}
