/** Refuses requests by their head alone, the cheapest checks first, before a byte of the body is read. */
import type { MessageReason, Reason, RefusalCode } from "../domain/reasons.ts";
import { refusal, type Refusal } from "../http/refusal.ts";
import { fieldLines, type HeaderLine, type RequestHead, trimSpace } from "../http/message.ts";
import { ALGORITHM, LABEL } from "../signatures/policy.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { MAX_CALLBACK } from "./judge.ts";

/** Bytes of body in a capture or an application; a webhook of the service has a few KiB, and `listen` has a limit of its own. */
export const DEFAULT_MAX_BODY = 1024 * 1024;
export const MAX_HEADER_LINES = 100;
export const MAX_SIGNATURE_FIELD = 8192;
/** The fields that are parsed before anything is verified. */
const PARSED_FIELDS = ["signature-input", "signature", "content-digest"] as const;

/** A refusal by the rules of every webhook. */
type MessageRefusal = Refusal<Reason | MessageReason>;

/** The verdict on a request that was rejected before its signature was checked. */
export const refusedVerdict = <Code extends RefusalCode>({
  code,
  detail,
}: Pick<Refusal<Code>, "code" | "detail">): Verdict<Code> => ({
  verdict: "invalid",
  code,
  label: LABEL,
  keyid: null,
  alg: ALGORITHM,
  created: null,
  covered: [],
  warnings: [],
  key: null,
  failure: { check: "http", detail },
});

/** Whether a request may be a webhook. */
const looksSigned = ({ headers }: RequestHead): boolean =>
  fieldLines(headers, "signature-input").length > 0 && fieldLines(headers, "signature").length > 0;

/** The rules of every webhook, captured or received: form, limits, method and transfer coding. */
export function refuseMessage(head: RequestHead): MessageRefusal | undefined {
  return refuseForm(head) ?? refuseMethod(head) ?? refuseTransferCoding(head.headers);
}

/** The rules of an application, which has a path and a parser of its own: those of every webhook, and content coding (415). */
export function refuseRequest(head: RequestHead): MessageRefusal | undefined {
  return (
    refuseForm(head) ?? refuseMethod(head) ?? refuseContentCoding(head) ?? refuseTransferCoding(head.headers)
  );
}

/**
 * The rules of a listener: those of every webhook, path (404), media type and content coding (415). Without `paths`, any path is
 * accepted.
 */
export function refuseHead(head: RequestHead, paths?: readonly string[]): Refusal | undefined {
  return (
    refuseForm(head) ??
    refuseMethod(head) ??
    (paths === undefined ? undefined : refusePath(head.target, paths)) ??
    (mayBeCallback(head) ? undefined : refuseMediaType(head)) ??
    refuseContentCoding(head) ??
    refuseTransferCoding(head.headers)
  );
}

/** Without signatures, only a program of this machine may send: a web page must not, by a name that resolves to it. */
export const refuseHost = ({ authority }: RequestHead): Refusal =>
  refusal("wrong_host", `the Host is ${authority}; with --no-verify it must name this machine`);

function refuseForm({ target, headers }: RequestHead): MessageRefusal | undefined {
  const lines = headers.length;
  if (lines > MAX_HEADER_LINES) return tooLarge(`${lines} header lines; the limit is ${MAX_HEADER_LINES}`);
  for (const name of PARSED_FIELDS) {
    const size = fieldLines(headers, name).join(", ").length;
    if (size > MAX_SIGNATURE_FIELD)
      return tooLarge(`${name} has ${size} characters; the limit is ${MAX_SIGNATURE_FIELD}`);
  }
  // RFC 9112 3.2: two Host lines name two addresses.
  if (fieldLines(headers, "host").length > 1)
    return refusal("duplicate_header", "the request has more than one Host", MALFORMED);
  if (target.includes("#"))
    return refusal("component_value_invalid", "the request target has a fragment", MALFORMED);
  if (!target.startsWith("/"))
    return refusal("bad_request_target", "the request target is not in origin form (/path?query)");
  return undefined;
}

/** No signature was looked at: the head is malformed (400), or over a limit (431). */
const MALFORMED = 400;
const tooLarge = (detail: string): MessageRefusal => refusal("limit_exceeded", detail, 431);

function refuseMethod({ method }: RequestHead): MessageRefusal | undefined {
  return method === "POST"
    ? undefined
    : refusal("method_not_allowed", `the method is ${method}; webhooks are POST`);
}

function refusePath(target: string, paths: readonly string[]): Refusal | undefined {
  const [received = ""] = target.split("?", 1);
  return paths.includes(received)
    ? undefined
    : refusal("not_found", `the path is ${received}; webhooks are received at ${paths.join(" and ")}`);
}

/** RFC 6839 3.1: a type with the suffix `+json` is JSON as well. */
const JSON_TYPE = /^application\/(?:[^\s/;+]+\+)*json$/i;

export function refuseMediaType({ headers }: RequestHead): Refusal | undefined {
  const [given = ""] = fieldLines(headers, "content-type");
  return JSON_TYPE.test(typeIn(given))
    ? undefined
    : refusal(
        "unsupported_media_type",
        `the media type is ${given || "missing"}; webhooks are application/json or application/*+json`,
      );
}

const typeIn = (contentType: string): string => (contentType.split(";", 1)[0] ?? "").trim();

/** The callback of an e-commerce plugin may be a form. Its body is read to say what it is. */
function mayBeCallback(head: RequestHead): boolean {
  const [type = ""] = fieldLines(head.headers, "content-type");
  const [length] = fieldLines(head.headers, "content-length");
  const isForm = /^application\/x-www-form-urlencoded$/i.test(typeIn(type));
  return isForm && !looksSigned(head) && Number(length) <= MAX_CALLBACK;
}

/** Values that change no byte: none at all, `identity`, and the name of a charset, which some senders write there. */
const NO_CODING = /^(?:identity|(?:us-)?ascii|(?:utf|iso|latin|windows|cp)[-_]?\d[-_\d]*)?$/i;

/**
 * An unsigned content coding could change what an authentic body means: some texts are also valid compressed streams. The
 * verifier itself knows no codings: the digest is over the bytes (RFC 9530 2).
 */
function refuseContentCoding({ headers }: RequestHead): MessageRefusal | undefined {
  const codings = fieldLines(headers, "content-encoding").flatMap((line) => line.split(","));
  const coding = codings.map(trimSpace).find((one) => !NO_CODING.test(one));
  return coding === undefined
    ? undefined
    : refusal(
        "unsupported_content_coding",
        `the content coding is ${coding}; the service compresses nothing`,
      );
}

function refuseTransferCoding(headers: readonly HeaderLine[]): MessageRefusal | undefined {
  const codings = fieldLines(headers, "transfer-encoding").join(", ");
  return codings === "" || codings.trim().toLowerCase() === "chunked"
    ? undefined
    : refusal("unsupported_transfer_coding", `the transfer coding is ${codings}; only chunked is supported`);
}
