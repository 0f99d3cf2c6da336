/** `paylink verify`: explains one captured webhook, and says what to change where it does not verify. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { fieldLines, type HttpRequest } from "../../http/message.ts";
import { examine, type Examination } from "../../receiver/captured.ts";
import { loadKeys } from "../../receiver/webhook-keys.ts";
import { renderExamination } from "../../render/verdict-report.ts";
import { compareDigests } from "../../signatures/digest.ts";
import { traceBase } from "../../signatures/trace.ts";
import { eventsPath, openEventStore } from "../../store/events.ts";
import { findOne } from "../../store/find-event.ts";
import { settingsInForce } from "../../store/in-force.ts";
import { captureOf, readCapture, type Capture, type CapturedAddress } from "./capture.ts";
import type { VerifyFlags } from "./command.ts";
import { verifyOptions, type VerifyOptions } from "./options.ts";

/** The largest body that a webhook may have. */
const MAX_BODY = 1024 * 1024;

export async function verify(context: Context, file: string | undefined, flags: VerifyFlags): Promise<void> {
  const { out, now, readFile, send } = context;
  const options = verifyOptions(flags, file, await settingsInForce(context), now());
  const warn = (warning: string): void => out.note(`${out.notePaint.yellow("!")} ${warning}`);
  const keys = await loadKeys(options.keySources, { readFile, send, warn });
  const capture =
    flags.event === undefined
      ? await fromFile(file, context)
      : await fromStore(flags.event, flags.db, context);
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
}

async function fromFile(file = "-", { readFile }: Context): Promise<Capture> {
  return readCapture(await readFile(file), file === "-" ? "stdin" : file);
}

/** What was taken or turned away, as it was received. */
async function fromStore(uti: string, db: string | undefined, { dataFolder }: Context): Promise<Capture> {
  const store = openEventStore(db ?? eventsPath(dataFolder));
  try {
    const { id, request } = findOne(store, uti);
    if (request !== null) return captureOf(request);
    throw new PaylinkError("usage", `${id} was no HTTP request, so nothing of it was kept to verify.`);
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
  return { address: { scheme: "http", authority: host }, source: "Host, and http for want of --public-url" };
}
