/** `paylink verify`: explains how one captured webhook was verified, and what to change if it was not. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint, paylink } from "../../domain/hint.ts";
import { jsonOf, stringifyJson } from "../../values/json.ts";
import { recordSummary } from "../../domain/transaction.ts";
import { fieldLines, type HeaderLine, type HttpRequest } from "../../http/message.ts";
import { headerLinesOf, isObject } from "../../library/header-fields.ts";
import { isLambdaEvent, lambdaRequest } from "../../library/lambda-event.ts";
import { addressed, publicAddress } from "../../receiver/address.ts";
import { DEFAULT_MAX_BODY } from "../../receiver/admit.ts";
import { explainCapture, type Explanation, type Fault, faultOf } from "../../receiver/captured.ts";
import { renderExplanation } from "../../render/verdict-report.ts";
import * as z from "zod/mini";
import { parseRequest, type RawRequest } from "../../http/capture.ts";
import type { ValuesOf } from "../command.ts";
import { openServiceKeys } from "../judge-again.ts";
import type { verifyFlags } from "./command.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";

type VerifyFlags = ValuesOf<typeof verifyFlags>;

/** The webhook is in a file, on stdin, or in the event store. */
export async function verifyCapture(
  context: Context,
  file: string | undefined,
  flags: VerifyFlags,
): Promise<number> {
  const { out } = context;
  const settings = await context.settings();
  const { keys, policy, warningsAt } = await openServiceKeys(context, flags);
  const capture = await openCapture(file, flags, context);
  const at = flags.at ?? capture.receivedAt ?? context.now();
  for (const warning of warningsAt(at)) out.warn(warning);
  const { request, source } = addressedRequest(capture, flags, settings);
  const { publicUrl, path } = flags;
  // A public URL without a path does not say at which path the listener receives.
  const publicPath = publicUrl === undefined || publicUrl.pathname === "/" ? [] : [publicUrl.pathname];
  const paths = [...publicPath, ...path];
  const explanation = explainCapture(
    request,
    { keys, policy, now: at, maxBody: DEFAULT_MAX_BODY, paths: paths.length === 0 ? undefined : paths },
    capture.fault,
  );
  out.result(
    () => verdictDocument(explanation),
    () => renderExplanation(explanation, request, source, out),
  );
  const { verdict, refused } = explanation;
  if (verdict.verdict === "invalid")
    throw new PaylinkError("signature_rejected", `The webhook does not verify: ${verdict.code}.`);
  if (refused !== null)
    throw new PaylinkError(
      "signature_rejected",
      `The webhook verifies, but listen rejects it with ${refused.status}: ${refused.code}.`,
    );
  return 0;
}

async function openCapture(
  file = "-",
  { event, db }: VerifyFlags,
  { readFile, events }: Context,
): Promise<Capture> {
  if (event === undefined) return readCapture(await readFile(file), file === "-" ? "stdin" : file);
  const store = await events(db);
  const found = await store.findOne(event);
  const { id, request: stored, receivedAt } = found;
  if (stored === null)
    throw new PaylinkError("usage", `${id} was not an HTTP request, so there is nothing to verify.`);
  const { scheme, authority, ...request } = stored;
  const address = authority === "" ? {} : { address: { scheme, authority } };
  const fault = found.type === "rejected" ? faultOf(found) : undefined;
  return { request, receivedAt, fault, ...address };
}

/** The contract of `--json`: these members, in this order. */
function verdictDocument(explanation: Explanation): string {
  const { verdict, record, violations, refused } = explanation;
  const { outcome, reason, ...summary } = recordSummary({ record, violations });
  // A record that is not authentic says nothing about a payment.
  const judged = verdict.verdict === "valid" ? { outcome, reason } : { outcome: null };
  return stringifyJson(
    {
      verdict: verdict.verdict,
      code: verdict.code,
      ...(refused === null ? {} : { refused: { status: refused.status, code: refused.code } }),
      ...judged,
      ...summary,
      label: verdict.label,
      keyid: verdict.keyid,
      alg: verdict.alg,
      created: verdict.created,
      covered: verdict.covered,
      checks: explanation.checks,
      warnings: verdict.warnings,
      hints: explanation.hints,
      signatureBase: explanation.signatureBase,
      record,
    },
    2,
  );
}

/** The address of the flag, else of the capture itself, else of the profile, else the received Host. */
function addressedRequest(
  { request, address }: Capture,
  { publicUrl, path }: Pick<VerifyFlags, "publicUrl" | "path">,
  settings: ResolvedSettings,
): { request: HttpRequest; source: string } {
  const [host = ""] = fieldLines(request.headers, "host");
  const received: HttpRequest = { ...request, scheme: "http", authority: host, ...address };
  const at = (url: URL): HttpRequest => addressed(received, publicAddress(url, path));
  if (publicUrl !== undefined) return { request: at(publicUrl), source: "--public-url" };
  if (address !== undefined) return { request: received, source: "the captured request" };
  const stored = settings.get("publicUrl");
  if (stored !== undefined) return { request: at(new URL(stored)), source: "the profile's publicUrl" };
  return { request: received, source: "Host, and http because there is no --public-url" };
}

interface Capture {
  readonly request: Omit<RawRequest, "fault">;
  /** Why it was rejected, or would have been, before anything could be verified. */
  readonly fault?: Fault | undefined;
  /** The address that `listen` verified it against. */
  readonly address?: Pick<HttpRequest, "scheme" | "authority">;
  /** When `listen` received it: it is judged as of then. */
  readonly receivedAt?: Date;
}

const captured = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  bodyBase64: z.base64(),
  receivedAt: z.optional(z.iso.datetime()),
});

/** A request by its parts, and what an event of a platform is turned into. */
const parts = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.union([
    z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())])),
    z.array(z.tuple([z.string(), z.union([z.string(), z.array(z.string())])])),
  ]),
  body: z.union([z.string(), z.instanceof(Uint8Array)]),
});

/** Throws `usage` if the bytes are not a webhook. `name` is the file's. */
async function readCapture(file: Uint8Array, name: string): Promise<Capture> {
  const bytes = inUtf8(file);
  const content = new TextDecoder().decode(bytes).trim();
  if (content === "") throw noCapture(name, "is empty");
  if (content.startsWith("{")) return fromJson(content, name);
  const request = await parseRequest(bytes);
  if (request !== undefined) {
    const hint = request.isFolded === true ? { hint: FOLDED } : {};
    return { request, fault: request.fault && { refused: request.fault, ...hint } };
  }
  throw noCapture(name, "is neither a raw HTTP/1.1 request nor JSON");
}

/** Windows PowerShell writes what it redirects to a file in UTF-16, with a byte order mark. */
function inUtf8(file: Uint8Array): Uint8Array {
  const mark = Buffer.from(file.subarray(0, 2)).toString("hex");
  const encoding = mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : undefined;
  return encoding === undefined ? file : Buffer.from(new TextDecoder(encoding).decode(file));
}

const FOLDED = {
  variant: "a folded header line",
  advice:
    "A header line continues on the next line, which begins with white space. If the tool that captured the request wrapped it, join the two lines; servers refuse such a request (RFC 9112 5.2).",
};

const noCapture = (name: string, what: string): PaylinkError =>
  new PaylinkError("usage", `${name} ${what}.`, {
    hints: [
      hint`A capture begins with a request line, such as "POST /webhooks HTTP/1.1", is an event of API Gateway or a load balancer, is JSON with method, url, headers and body, or is a line of: ${paylink`listen --json`}`,
    ],
  });

/** Of the lines of `listen --json`, one has a webhook; an event of a platform, or the parts of a request, are one. */
function fromJson(content: string, name: string): Capture {
  const values = captureJson(content);
  const webhooks = values.flatMap((value) => captureIn(value) ?? []);
  if (webhooks.length > 1)
    throw noCapture(name, `has ${webhooks.length} webhooks, and one is verified at a time`);
  const [webhook] = webhooks;
  if (webhook === undefined)
    throw noCapture(name, values.length === 1 ? whatLacks(values[0]) : "is not one line of JSON");
  return webhook;
}

function captureIn(value: unknown): Capture | undefined {
  const line = captured.safeParse(value).data;
  if (line !== undefined) {
    const { method, url, headers, bodyBase64, receivedAt } = line;
    const capture = captureOf(method, url, headers, Buffer.from(bodyBase64, "base64"));
    return receivedAt === undefined ? capture : { ...capture, receivedAt: new Date(receivedAt) };
  }
  const isEvent = isObject(value) && isLambdaEvent(value);
  const request = parts.safeParse(isEvent ? lambdaRequest(value) : value).data;
  if (request === undefined) return undefined;
  const { method, url, headers, body } = request;
  return captureOf(method, url, headerLinesOf(headers), Buffer.from(body));
}

function captureOf(method: string, url: string, headers: readonly HeaderLine[], body: Uint8Array): Capture {
  // Cut, not parsed: `URL` would normalise what was signed.
  const [, scheme, authority = "", target = url] = /^(https?):\/\/([^/?#]+)(\/.*)$/s.exec(url) ?? [];
  return {
    request: { method, target, headers, body },
    ...(scheme === undefined ? {} : { address: { scheme: scheme === "http" ? "http" : "https", authority } }),
  };
}

/** Why a value is no capture: by the members that it lacks. */
function whatLacks(value: unknown): string {
  const lacking = CAPTURE_MEMBERS.filter((one) => !isObject(value) || !one.some((name) => name in value));
  return lacking.length === 0
    ? "is not a whole webhook: method, url and body are text, and headers are an object or a list of pairs"
    : `is not a whole webhook: it lacks ${lacking.map((one) => one[0]).join(", ")}. The line of a refused one, or of listen --compact, has no body`;
}

/** Of a request by its parts, each by the names that it may have. */
const CAPTURE_MEMBERS = [["method"], ["url"], ["headers"], ["body", "bodyBase64"]] as const;

/** One value on one line or several, or the values of lines of which each has one. */
function captureJson(content: string): readonly unknown[] {
  const whole = jsonOf(content);
  return whole === undefined ? content.split("\n").flatMap((line) => jsonOf(line) ?? []) : [whole];
}
