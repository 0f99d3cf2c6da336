/** Undoes the codings of a reply's body (RFC 9110 8.4): every exchange gets the bytes that the application wrote. */
import type { Transform } from "node:stream";
import { messageOf } from "../values/system-reason.ts";
import { fieldLines, type HttpReply } from "./message.ts";

/** What `decoded` can undo; another coding would be a guess of the server. */
export const ACCEPTED_CODINGS = "gzip, deflate, br";

/** The body has more bytes than its reader takes. */
interface Beginning {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/**
 * The reply without its codings, and the fields that describe them. At most `most` bytes are decoded: `isWhole` says whether that
 * was all. A label that the bytes contradict is ignored: proxies forget it, repeat it, and leave it on a body that they decoded.
 * What cannot be decoded stays as it is, with the reason in `undecoded`.
 */
export async function decoded(
  reply: HttpReply,
  most: number,
): Promise<{ readonly reply: HttpReply; readonly isWhole: boolean }> {
  const codings = codingsOf(reply);
  if (codings.length === 0 && !isGzip(reply.body)) return { reply, isWhole: true };
  const headers = reply.headers.filter(([name]) => !DESCRIBING.has(name.toLowerCase()));
  let { body } = reply;
  let isWhole = true;
  const undo = async (coding: string): Promise<void> => {
    const read = await decodeOne(coding, body, most);
    body = read.bytes;
    isWhole &&= read.isWhole;
  };
  try {
    if (codings.length > MOST_CODINGS) throw new Error(`${codings.length} codings are too many to undo`);
    // They are listed in the order in which they were applied.
    for (const coding of codings.toReversed()) await undo(coding);
    for (let layers = 0; layers < MOST_LAYERS && isGzip(body); layers++) await undo("gzip");
  } catch (error) {
    const named = codings.slice(0, MOST_CODINGS).join(", ");
    return { reply: { ...reply, undecoded: `${named}: ${messageOf(error)}` }, isWhole: true };
  }
  return { reply: { ...reply, headers, body }, isWhole };
}

const DESCRIBING: ReadonlySet<string> = new Set(["content-encoding", "content-length"]);

/**
 * Each coding takes time of this thread, which receives webhooks. A proxy adds one to that of the server, and a careless one repeats
 * it; a field of 64 KiB names thousands.
 */
const MOST_CODINGS = 8;

/** A proxy that compresses once more does not always say so. */
const MOST_LAYERS = 3;

/** Names that change no bytes: a charset in the wrong field, and the framing of the message. */
const NAMELESS = /^(?:|identity|none|binary|7bit|8bit|chunked|aws-chunked|utf-?8|us-ascii|iso-8859-\d+)$/;

function codingsOf({ headers }: HttpReply): string[] {
  const lines = [...fieldLines(headers, "content-encoding"), ...fieldLines(headers, "transfer-encoding")];
  return lines
    .flatMap((line) => line.split(","))
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => !NAMELESS.test(coding));
}

/** RFC 1952 2.3.1: no text begins so. */
const isGzip = (body: Uint8Array): boolean => body[0] === 0x1f && body[1] === 0x8b && body[2] === 8;

/** RFC 1950 2.2. */
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;

async function decodeOne(coding: string, body: Uint8Array, most: number): Promise<Beginning> {
  if (body.length === 0 || isText(body)) return { bytes: body, isWhole: true };
  const zlib = await import("node:zlib");
  // What a connection cut short is read as far as it goes, as browsers do: its reader sees whether it is complete.
  const flat = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
  if (isGzip(body) || (isDeflate(coding) && isZlib(body)))
    return beginningOf(zlib.createUnzip(flat), body, most);
  // The name stands for the zlib format; some servers send the bare stream.
  if (isDeflate(coding)) return beginningOf(zlib.createInflateRaw(flat), body, most);
  if (coding === "br") {
    const flush = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
    return beginningOf(zlib.createBrotliDecompress(flush), body, most);
  }
  throw new Error("paylink cannot read this coding");
}

const isDeflate = (coding: string): boolean =>
  ["gzip", "x-gzip", "application/gzip", "deflate"].includes(coding);

/** Compressed data is not UTF-8, or has control characters, except for nothing at all in brotli: one byte. */
function isText(body: Uint8Array): boolean {
  if (body.length === 1) return false;
  try {
    return !/[^\P{Cc}\t\n\r]/u.test(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return false;
  }
}

async function beginningOf(decoder: Transform, body: Uint8Array, most: number): Promise<Beginning> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  decoder.end(body);
  for await (const chunk of decoder as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop ends the decoder.
    if (length > most) break;
  }
  return { bytes: Buffer.concat(chunks, Math.min(length, most)), isWhole: length <= most };
}
