/** Hints from the message's own fields, for failures that no variant explains: old drafts, units, spellings. */

import { fieldLines, type HttpRequest } from "../../http/message.ts";
import type { Hint, Verdict } from "../verdict.ts";

interface FieldHint extends Hint {
  readonly applies: (request: HttpRequest, verdict: Verdict, now: number) => boolean;
}

const has = ({ headers }: HttpRequest, name: string): boolean => fieldLines(headers, name).length > 0;

const FIELD_HINTS: readonly FieldHint[] = [
  {
    variant: "a signature of the old draft",
    advice:
      "Signature has keyId=…,headers=… : it follows draft-cavage, which RFC 9421 replaced and which cannot be verified. The sender has to sign by RFC 9421.",
    applies: ({ headers }, { code }) =>
      ["unsigned", "signature_input_missing", "signature_malformed"].includes(code) &&
      [...fieldLines(headers, "signature"), ...fieldLines(headers, "authorization")].some((line) =>
        /keyId=/.test(line),
      ),
  },
  {
    variant: "created in milliseconds",
    advice: "created counts milliseconds; RFC 9421 2.3 counts seconds. The signer has to fix this.",
    applies: (_, { code, created }, now) =>
      code === "created_in_future" && created !== null && Math.abs(created / 1000 - now) < 10 * YEAR,
  },
  {
    variant: "an old capture",
    advice:
      "The signature was valid when it was made. To verify the capture as of that time, add --at with the time.",
    applies: (_, { code }) => code === "signature_too_old" || code === "signature_expired",
  },
  {
    variant: "a clock that is wrong",
    advice: "Check this machine's clock (NTP); the service's clock may also be ahead.",
    applies: (_, { code }) => code === "created_in_future",
  },
  {
    variant: "Digest for Content-Digest",
    advice:
      "The message has the older Digest field and no Content-Digest (RFC 9530). The sender has to send and cover Content-Digest.",
    applies: (request, { code }) =>
      (code === "coverage_missing" || code === "component_missing") &&
      has(request, "digest") &&
      !has(request, "content-digest"),
  },
  {
    variant: "Content-Digest in another spelling",
    advice:
      "Content-Digest is written sha-256=:BASE64=: with the name in lower case and the base64 of the bytes between colons (RFC 9530 2).",
    applies: (_, { code }) => code === "content_digest_malformed",
  },
  {
    variant: "the body was read already",
    advice:
      "The body is empty, but Content-Length says otherwise: something read the stream first, as express.json() or request.json() do. Verify the raw bytes before that.",
    applies: ({ headers, body }, { code }) =>
      code === "content_digest_mismatch" &&
      body.length === 0 &&
      Number(fieldLines(headers, "content-length")[0] ?? 0) > 0,
  },
  {
    variant: "gzip undone",
    advice:
      "Content-Encoding says gzip but the body is not compressed: something decompressed it, and the digest is over the compressed bytes (RFC 9530 2). Verify before decompressing: express.raw({ inflate: false }).",
    applies: ({ headers, body }, { code }) =>
      code === "content_digest_mismatch" &&
      fieldLines(headers, "content-encoding").some((line) => /gzip/i.test(line)) &&
      !(body[0] === 0x1f && body[1] === 0x8b),
  },
];

const YEAR = 365 * 86_400;

/** The first hint that applies, if any. */
export function fieldHints(request: HttpRequest, now: number, verdict: Verdict): Hint[] {
  const found = FIELD_HINTS.find(({ applies }) => applies(request, verdict, now));
  return found === undefined ? [] : [{ variant: found.variant, advice: found.advice }];
}
