/** Reads the record in a webhook's body, after its encoded bytes were verified. */
import { readRecord, type ReadRecord } from "../domain/transaction.ts";
import { decodeBody } from "../http/content-codings.ts";
import type { HttpRequest } from "../http/message.ts";

export interface ReadContent extends ReadRecord {
  /** False if the body's encoding is not supported. */
  readonly decoded: boolean;
}

/** `maxLength` limits the bytes of a decompressed body; `recordAt` is the JSON Pointer to the record in it. */
export function readContent(request: HttpRequest, maxLength: number, recordAt?: string): ReadContent {
  const content = decoded(request, maxLength);
  const { record, violations } = readRecord(content ?? request.body, recordAt);
  return { record, violations, decoded: content !== undefined };
}

/** The digest is over the encoded bytes (RFC 9530 2), so decoding waits until they have verified. */
function decoded(request: HttpRequest, maxLength: number): Uint8Array | undefined {
  try {
    return decodeBody(request, maxLength);
  } catch {
    return undefined;
  }
}
