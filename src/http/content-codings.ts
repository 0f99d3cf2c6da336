/** Decodes the body of a reply or a webhook by its content codings (RFC 9110 8.4), within a limit of bytes. */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { codingsOf, type HeaderLine } from "./message.ts";

/** Each coding multiplies the work for a body, so a message with more than any real one is refused. */
const MAX_CODINGS = 3;

interface EncodedMessage {
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
}

/** Throws an error whose message continues "the sender …". */
export function decodeBody({ headers, body }: EncodedMessage, maxLength: number): Uint8Array {
  const codings = codingsOf(headers);
  if (codings.length > MAX_CODINGS) throw new Error(`used ${codings.length} content codings`);
  return codings.reduceRight((decoded, coding) => decode(coding, decoded, maxLength), body);
}

function decode(coding: string, body: Uint8Array, maxOutputLength: number): Uint8Array {
  const decoder = decoderFor(coding, body);
  if (decoder === undefined)
    throw new Error(`used the content coding ${coding}, which paylink cannot decode`);
  try {
    return decoder(body, { maxOutputLength });
  } catch (error) {
    const isTooLong = error instanceof RangeError;
    throw new Error(
      isTooLong ? `sent more than ${maxOutputLength} bytes` : `sent a body that is not valid ${coding}`,
      { cause: error },
    );
  }
}

function decoderFor(
  coding: string,
  body: Uint8Array,
): ((bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array) | undefined {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return gunzipSync;
    case "deflate":
      // Some services leave out the zlib wrapper that RFC 9110 8.4.1.2 asks for; its first byte names the method.
      return ((body[0] ?? 0) & 0x0f) === 8 ? inflateSync : inflateRawSync;
    case "br":
      return brotliDecompressSync;
    default:
      return undefined;
  }
}
