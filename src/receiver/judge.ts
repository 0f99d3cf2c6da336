/** Judges a received webhook: transport rules, signature and digest, and only then the record in its body. */
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { readRecord, type Breach, type TransactionRecord } from "../domain/transaction.ts";
import { fieldLines, type HttpRequest } from "../http/message.ts";
import type { VerificationKey } from "../signatures/keys.ts";
import type { Policy } from "../signatures/policy.ts";
import type { Verdict, Warning } from "../signatures/verdict.ts";
import { verify } from "../signatures/verify.ts";

export interface Judgement {
  readonly verdict: Verdict;
  /** Null where nothing authentic was found to read. */
  readonly record: TransactionRecord | null;
  readonly breaches: readonly Breach[];
}

export interface JudgeOptions {
  readonly keys: readonly VerificationKey[];
  readonly policy: Policy;
  readonly now: Date;
  /** Decoded bytes that a compressed body may grow to. */
  readonly maxBody: number;
  /** Reads the record of what does not verify too, for those who asked to see it. */
  readonly unverified?: boolean;
}

export function judge(request: HttpRequest, options: JudgeOptions): Judgement {
  const { keys, policy, now, maxBody, unverified = false } = options;
  const verdict = verify(request, { keys, policy, now: Math.floor(now.getTime() / 1000) });
  if (verdict.verdict === "invalid" && !unverified) return { verdict, record: null, breaches: [] };
  const content = decode(request, maxBody);
  if (content === undefined)
    return { verdict: warned(verdict, "content_encoding_not_decoded"), ...readRecord(request.body) };
  return { verdict, ...readRecord(content) };
}

const DECODERS: Readonly<
  Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array>
> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** The digest is over the encoded bytes (RFC 9530 2), so decoding waits until they have verified. */
function decode({ headers, body }: HttpRequest, maxBody: number): Uint8Array | undefined {
  const encoding = fieldLines(headers, "content-encoding").join(", ").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return body;
  try {
    return DECODERS[encoding]?.(body, { maxOutputLength: maxBody });
  } catch {
    return undefined;
  }
}

const warned = (verdict: Verdict, warning: Warning): Verdict => ({
  ...verdict,
  warnings: [...verdict.warnings, warning],
});
