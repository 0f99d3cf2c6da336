/** The content codings (RFC 9110 8.4) that replies may use, and their decoding within a limit of bytes. */
import { fieldLines, type HeaderLine, type HttpReply } from "./message.ts";

export const ACCEPTED_CODINGS = "gzip, deflate, br";

/** Each coding multiplies the work for a body, so a reply with more than any real one is refused. */
const MAX_CODINGS = 3;

/**
 * The reply with its body decoded and without the header lines that describe the encoded body. Throws an error whose
 * message continues "the service …".
 */
export async function decodeReply(reply: HttpReply, maxLength: number): Promise<HttpReply> {
  const codings = codingsOf(reply.headers);
  if (codings.length === 0 || reply.body.length === 0) return reply;
  if (codings.length > MAX_CODINGS) throw new Error(`used ${codings.length} content codings`);
  let body = reply.body;
  for (const coding of codings.toReversed()) body = await decode(coding, body, maxLength);
  return { status: reply.status, headers: reply.headers.filter(([name]) => !ENCODED.test(name)), body };
}

const ENCODED = /^content-(?:encoding|length)$/i;

const codingsOf = (headers: readonly HeaderLine[]): string[] =>
  fieldLines(headers, "content-encoding")
    .flatMap((line) => line.split(","))
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity");

async function decode(coding: string, body: Uint8Array, maxOutputLength: number): Promise<Uint8Array> {
  // Most replies are not encoded and do not need this module.
  const { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } = await import("node:zlib");
  const decoders = new Map([
    ["gzip", gunzipSync],
    ["x-gzip", gunzipSync],
    // Some services leave out the zlib wrapper that RFC 9110 8.4.1.2 asks for; its first byte names the method.
    ["deflate", ((body[0] ?? 0) & 0x0f) === 8 ? inflateSync : inflateRawSync],
    ["br", brotliDecompressSync],
  ]);
  const decoder = decoders.get(coding);
  if (decoder === undefined)
    throw new Error(`used the content coding ${coding}, which paylink cannot decode`);
  try {
    return decoder(body, { maxOutputLength });
  } catch (error) {
    const isTooLong = error instanceof RangeError;
    throw new Error(
      isTooLong
        ? `sent more than ${maxOutputLength} bytes of reply`
        : `sent a body that is not valid ${coding}`,
      { cause: error },
    );
  }
}
