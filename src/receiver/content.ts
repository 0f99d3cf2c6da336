/** Reads the record in a webhook's body, after its encoded bytes were verified. */
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { readRecord, type ReadRecord } from "../domain/transaction.ts";
import { fieldLines, type HttpRequest } from "../http/message.ts";

export interface ReadContent extends ReadRecord {
  /** False if the body's encoding is not supported. */
  readonly decoded: boolean;
}

/** `maxLength` limits the bytes of a decompressed body; `recordAt` is the JSON Pointer to the record in it. */
export function readContent(request: HttpRequest, maxLength: number, recordAt?: string): ReadContent {
  const content = decode(request, maxLength);
  const { record, breaches } = readRecord(content ?? request.body, recordAt);
  return { record, breaches, decoded: content !== undefined };
}

/** Whether the body is compressed, so that it does not hold the record's text. */
export function isEncoded({ headers }: Pick<HttpRequest, "headers">): boolean {
  return encodingOf(headers) !== "";
}

function encodingOf(headers: HttpRequest["headers"]): string {
  const encoding = fieldLines(headers, "content-encoding").join(", ").trim().toLowerCase();
  return encoding === "identity" ? "" : encoding;
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
function decode({ headers, body }: HttpRequest, maxLength: number): Uint8Array | undefined {
  const encoding = encodingOf(headers);
  if (encoding === "") return body;
  try {
    return DECODERS[encoding]?.(body, { maxOutputLength: maxLength });
  } catch {
    return undefined;
  }
}
