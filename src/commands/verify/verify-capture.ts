/** `paylink verify`: explains how one captured webhook was verified, and what to change if it was not. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { fieldLines, type HttpRequest } from "../../http/message.ts";
import { addressed, publicAddress } from "../../receiver/address.ts";
import { DEFAULT_MAX_BODY } from "../../receiver/admit.ts";
import { examine, type Examination } from "../../receiver/captured.ts";
import { loadKeys } from "../../receiver/webhook-keys.ts";
import { renderExamination } from "../../render/verdict-report.ts";
import { compareDigests } from "../../signatures/digest.ts";
import { traceBase } from "../../signatures/diagnose/diagnose.ts";
import { findOne } from "../../events/store.ts";
import { captureFromRequest, readCapture, type Capture } from "./capture.ts";
import type { CaptureSource, VerifyOptions } from "./options.ts";

export async function verify(context: Context, options: VerifyOptions): Promise<number> {
  const { out } = context;
  const keys = await loadKeys(options.keySources, {
    ...context,
    now: () => options.at,
    place: options.keyPlace,
    effect: "verify",
    warn: out.warn,
  });
  const capture = await openCapture(options.source, context);
  const { request, source } = addressedRequest(capture, options);
  const { policy, at, recordAt } = options;
  const examination = examine(
    request,
    { keys, policy, now: at, maxBody: DEFAULT_MAX_BODY, recordAt },
    capture.request.fault,
  );
  out.data(
    out.json
      ? documentOf(examination)
      : renderExamination(
          {
            ...examination,
            request,
            digests: compareDigests(request.headers, request.body),
            trace: traceBase(examination.verdict.signatureBase, request, source),
          },
          out,
        ),
  );
  const { verdict, code } = examination.verdict;
  if (verdict === "invalid")
    throw new PaylinkError("signature_rejected", `The webhook does not verify: ${code}.`);
  return 0;
}

async function openCapture(source: CaptureSource, { readFile, events }: Context): Promise<Capture> {
  if ("file" in source)
    return readCapture(await readFile(source.file), source.file === "-" ? "stdin" : source.file);
  const store = await events(source.database);
  try {
    const { id, request } = await findOne(store, source.event);
    if (request !== null) return captureFromRequest(request);
    throw new PaylinkError("usage", `${id} was not an HTTP request, so there is nothing to verify.`);
  } finally {
    await store.close();
  }
}

/** The contract of `--json`: these members, in this order. */
function documentOf({ verdict, record, violations }: Examination): string {
  return stringifyJson(
    {
      verdict: verdict.verdict,
      code: verdict.code,
      label: verdict.label,
      keyid: verdict.keyid,
      alg: verdict.alg,
      created: verdict.created,
      covered: verdict.covered,
      checks: verdict.checks,
      warnings: verdict.warnings,
      hints: verdict.hints,
      signatureBase: verdict.signatureBase,
      record,
      violations,
    },
    2,
  );
}

/** The address of the flag, else of the capture itself, else of the profile, else the received Host. */
function addressedRequest(
  { request, address }: Capture,
  { publicUrl }: VerifyOptions,
): { request: HttpRequest; source: string } {
  const [host = ""] = fieldLines(request.headers, "host");
  const received: HttpRequest = { ...request, scheme: "http", authority: host, ...address };
  if (publicUrl !== undefined && (publicUrl.source === "flag" || address === undefined))
    return {
      request: addressed(received, publicAddress(publicUrl.url)),
      source: publicUrl.source === "flag" ? "--public-url" : "the profile's publicUrl",
    };
  const guess = "Host, and http because there is no --public-url";
  return { request: received, source: address === undefined ? guess : "the capture itself" };
}
