/** Finds what changed a body in transit: the variant of it that its Content-Digest matches. */
import { indentedJson, stringifyJson } from "../../values/json.ts";
import { parseJson } from "../../values/parse-json.ts";
import { RAW_BODY_FIXES } from "../../domain/reasons.ts";
import type { HttpRequest } from "../../http/message.ts";
import { checkDigest } from "../digest.ts";
import type { Diagnosis } from "./transit.ts";

const RAW_BYTES = `Verify the bytes as they arrived, before anything parses them:
${RAW_BODY_FIXES}
  In JavaScript, paylink-webhooks verifies the request of each of them: paylink help webhooks`;

interface BodyChange extends Diagnosis {
  /** Every body that may have been signed, made from the received one. */
  readonly apply: (body: Buffer) => Iterable<Buffer>;
}

const NEWLINES = ["\n", "\r\n"];

/** Exact changes first: a spelling of JSON could match several of them. */
const CHANGES: readonly BodyChange[] = [
  {
    variant: "trailing newline added",
    advice: `The digest matches the body without its final newline: an editor, a shell or a log added the newline. ${RAW_BYTES}`,
    apply: (body) =>
      NEWLINES.filter((newline) => body.toString("latin1").endsWith(newline)).map((newline) =>
        body.subarray(0, -newline.length),
      ),
  },
  {
    variant: "trailing newline lost",
    advice: `The digest matches the body with a final newline: something trimmed the newline. ${RAW_BYTES}`,
    apply: (body) => NEWLINES.map((newline) => Buffer.concat([body, Buffer.from(newline)])),
  },
  {
    variant: "CRLF",
    advice: `The digest matches the body with the other kind of line break (CRLF for LF, or LF for CRLF): a text mode, an editor or version control changed the line breaks. ${RAW_BYTES}`,
    apply: (body) => {
      const unix = body.toString("latin1").replaceAll("\r\n", "\n");
      return [unix, unix.replaceAll("\n", "\r\n")].map((text) => Buffer.from(text, "latin1"));
    },
  },
  {
    variant: "body re-encoded",
    advice: `The digest matches the body in another character encoding (UTF-8 for ISO 8859-1, or the reverse): the body was decoded to text and encoded again. ${RAW_BYTES}`,
    apply: (body) => [
      Buffer.from(body.toString("utf8"), "latin1"),
      Buffer.from(body.toString("latin1"), "utf8"),
    ],
  },
  {
    variant: "body encoded twice",
    advice: `The digest matches the text inside the JSON string that arrived: the body was serialised twice. ${RAW_BYTES}`,
    apply: (body) => {
      const read = parseJson(body.toString("utf8"));
      return read.ok && typeof read.value.value === "string" ? [Buffer.from(read.value.value)] : [];
    },
  },
  {
    variant: "body re-serialised",
    advice: `The digest matches the same JSON in another spelling: the body was parsed and serialised again. ${RAW_BYTES}`,
    apply: (body) => bodySpellings(body.toString("utf8")).map((text) => Buffer.from(text)),
  },
];

/** Compact and indented, as common serialisers write it, and with amounts of two decimals; empty if it is not JSON. */
function bodySpellings(text: string): string[] {
  const read = parseJson(text);
  if (!read.ok) return [];
  const { value } = read.value;
  const compact = stringifyJson(value);
  const written = [compact, ascii(compact)];
  const exact = ["amountTrans", String.raw`amount\w*`].flatMap((name) =>
    written.map((json) => withDecimals(json, name)),
  );
  return [...written, ...exact, indentedJson(value), indentedJson(value, 4)];
}

/** Programs that read 10.00 write 10 or 10.0. */
const withDecimals = (json: string, name: string): string =>
  json.replace(
    new RegExp(String.raw`("${name}":-?\d+)(\.\d)?(?=[,}])`, "g"),
    (_, whole: string, tenths = ".0") => `${whole}${tenths}0`,
  );

const ascii = (json: string): string =>
  json.replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What changed the body, and its length before, where that can be told; undefined if its digest matches. */
export function changeOf({
  headers,
  body,
}: HttpRequest): (Diagnosis & { readonly length?: number }) | undefined {
  const digest = checkDigest(headers, body);
  if (digest.ok || digest.reason !== "content_digest_mismatch") return undefined;
  for (const { variant, advice, apply } of CHANGES)
    for (const changed of apply(Buffer.from(body)))
      if (checkDigest(headers, changed).ok) return { variant, advice, length: changed.length };
  return {
    variant: "another body",
    advice: `The digest is for a different body: the body that arrived is not the one that was signed. ${RAW_BYTES}`,
  };
}
