/** Judges a captured webhook as the listener would have, from its head to the record in its body. */
import type { Violation, TransactionRecord } from "../domain/transaction.ts";
import type { Refusal } from "../http/exchange.ts";
import { fieldLines, type HttpRequest } from "../http/message.ts";
import type { Fault } from "../http/raw-request.ts";
import { diagnose } from "../signatures/diagnose.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { refuseMessage } from "./admit.ts";
import { judge, type JudgeOptions } from "./judge.ts";

export interface Examination {
  readonly verdict: Verdict<string>;
  readonly record: TransactionRecord | null;
  readonly violations: readonly Violation[];
}

/** `fault` is the reason why the HTTP layer would have refused the capture. */
export function examine(request: HttpRequest, options: JudgeOptions, fault?: Fault): Examination {
  const refusal =
    fault ?? refuseMessage(request) ?? refuseSize(request, options.maxBody) ?? refuseIncomplete(request);
  if (refusal !== undefined) return { verdict: refusedVerdict(request, refusal, options), ...NO_RECORD };
  const { verdict, record, violations } = judge(request, options);
  const received = { check: "http", ok: true, detail: describe(request) };
  return {
    verdict: {
      ...verdict,
      checks: [received, ...verdict.checks],
      hints: diagnose(request, verifyOptions(options), verdict),
    },
    record,
    violations,
  };
}

const NO_RECORD = { record: null, violations: [] } as const;

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
function refusedVerdict(
  request: HttpRequest,
  { code, detail }: Pick<Refusal, "code" | "detail">,
  options: JudgeOptions,
): Verdict<string> {
  const { policy } = options;
  const incomplete = code === "body_incomplete";
  const judged = incomplete ? judge(request, options).verdict : undefined;
  return {
    label: policy.label,
    keyid: null,
    alg: policy.algorithm,
    created: null,
    covered: [],
    warnings: [],
    signatureBase: null,
    ...judged,
    hints: judged === undefined ? [] : diagnose(request, verifyOptions(options), judged),
    verdict: "invalid",
    code,
    checks: [{ check: "http", ok: false, detail }],
  };
}
