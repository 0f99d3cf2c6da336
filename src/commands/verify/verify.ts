/** `paylink verify`: explains one captured webhook, and what to change if it does not verify. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { fieldLines, type HttpRequest } from "../../http/message.ts";
import { examine, type Examination } from "../../receiver/captured.ts";
import { loadKeys } from "../../receiver/webhook-keys.ts";
import { renderExamination } from "../../render/verdict.ts";
import { compareDigests } from "../../signatures/digest.ts";
import { traceBase } from "../../signatures/trace.ts";
import { findOne } from "../../store/events/find-event.ts";
import { captureFromRequest, readCapture, type Capture, type CapturedAddress } from "./capture.ts";
import type { CaptureSource, VerifyOptions } from "./options.ts";

/** The largest body that a webhook may have. */
const MAX_BODY = 1024 * 1024;

export async function verify(context: Context, options: VerifyOptions): Promise<number> {
  const { out, readFile, send } = context;
  const keys = await loadKeys(options.keySources, { readFile, send, warn: out.warn });
  const capture = await openCapture(options.source, context);
  const { address, source } = addressOf(capture, options);
  const request: HttpRequest = { ...capture.request, ...address };
  const { policy, at } = options;
  const examination = examine(request, { keys, policy, now: at, maxBody: MAX_BODY }, capture.request.fault);
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
function documentOf({ verdict, record, breaches }: Examination): string {
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
      breaches,
    },
    2,
  );
}

/** The flag wins, then what the capture says itself, then the profile, then the Host that was received. */
function addressOf(
  { request, address }: Capture,
  { publicUrl }: VerifyOptions,
): { address: CapturedAddress; source: string } {
  const configured = publicUrl && {
    address: {
      scheme: publicUrl.url.protocol === "http:" ? "http" : "https",
      authority: publicUrl.url.host,
    } as const,
    source: publicUrl.source === "flag" ? "--public-url" : "the profile's publicUrl",
  };
  if (configured !== undefined && publicUrl?.source === "flag") return configured;
  if (address !== undefined) return { address, source: "the capture itself" };
  if (configured !== undefined) return configured;
  const [host = ""] = fieldLines(request.headers, "host");
  return {
    address: { scheme: "http", authority: host },
    source: "Host, and http because there is no --public-url",
  };
}
