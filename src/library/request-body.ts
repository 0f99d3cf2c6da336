/** Reads the bytes of a body, up to a limit: of a Web stream, of a Node stream, or as somebody holds them. */
import { isAnyArrayBuffer } from "node:util/types";
import { refusal, type Refusal } from "../http/refusal.ts";
import { readMember } from "./header-fields.ts";
import type { BlobLike, ByteStream, NodeStream } from "./types.ts";

/** The bytes, why they are refused, or that only a parsed body is left. */
export type BodyRead =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "refused"; readonly refusal: Refusal<"body_too_large" | "body_incomplete"> }
  | { readonly kind: "parsed" };

const PARSED: BodyRead = { kind: "parsed" };

/** Bytes, or text that nothing parsed: if its decoding lost anything, the digest shows it. */
function heldBody(body: unknown, maxBody: number): BodyRead {
  if (body === null || body === undefined) return withinLimit(new Uint8Array(), maxBody);
  if (typeof body === "string") return withinLimit(Buffer.from(body), maxBody);
  const bytes = bytesIn(body);
  return bytes === undefined ? PARSED : withinLimit(bytes, maxBody);
}

/** By what it is and not by its class: a test runner such as Jest has classes of its own. */
export function bytesIn(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isAnyArrayBuffer(value) ? new Uint8Array(value) : undefined;
}

type HeldBytes = string | Uint8Array | ArrayBuffer;

const isHeld = (body: unknown): body is HeldBytes => typeof body === "string" || bytesIn(body) !== undefined;

/**
 * Where parsers leave the bytes: express.raw() in `body`; NestJS, fastify-raw-body and others in `rawBody`. An empty one may be what a
 * middleware begins with.
 */
export function leftIn(request: object): HeldBytes | undefined {
  const held = [readMember(request, "rawBody"), readMember(request, "body")].filter(isHeld);
  return held.find((bytes) => !isEmpty(bytes)) ?? held[0];
}

const isEmpty = (held: HeldBytes): boolean =>
  (typeof held === "string" ? held.length : held.byteLength) === 0;

/** A copy: what was verified must not change while a key is read, and servers use their memory again. */
function withinLimit(bytes: Uint8Array, maxBody: number): BodyRead {
  return bytes.length > maxBody ? tooLargeBody(maxBody) : { kind: "bytes", bytes: Buffer.from(bytes) };
}

const tooLargeBody = (maxBody: number): BodyRead => ({
  kind: "refused",
  refusal: refusal("body_too_large", `the body has more than ${maxBody} bytes`),
});

const INCOMPLETE: BodyRead = {
  kind: "refused",
  refusal: refusal("body_incomplete", "the connection ended before the body was complete"),
};

/** The chunks of a body, each as what it may be, until it is whole or no more is read. */
class Chunks {
  readonly #chunks: Uint8Array[] = [];
  readonly #maxBody: number;
  #length = 0;

  constructor(maxBody: number) {
    this.#maxBody = maxBody;
  }

  /** Returns why no more is read. A copy is kept: who gives chunks may use their memory again. */
  add(chunk: unknown, encoding: BufferEncoding = "utf8"): BodyRead | undefined {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding) : bytesIn(chunk);
    if (bytes === undefined) return PARSED;
    this.#length += bytes.length;
    if (this.#length > this.#maxBody) return tooLargeBody(this.#maxBody);
    this.#chunks.push(Buffer.from(bytes));
    return undefined;
  }

  whole(): BodyRead {
    return { kind: "bytes", bytes: Buffer.concat(this.#chunks) };
  }
}

/** The body of what gives chunks one after the other, such as an async generator. */
async function chunksBody(body: AsyncIterable<unknown>, maxBody: number): Promise<BodyRead> {
  const chunks = new Chunks(maxBody);
  for await (const chunk of body) {
    const end = chunks.add(chunk);
    if (end !== undefined) return end;
  }
  return chunks.whole();
}

/** The body of a Web request. */
export async function webBody(stream: ByteStream | null, used: boolean, maxBody: number): Promise<BodyRead> {
  if (used || stream?.locked === true) return PARSED;
  if (stream === null) return heldBody(null, maxBody);
  return chunksBody(webChunks(stream), maxBody).catch(() => INCOMPLETE);
}

/** Not every runtime can iterate a Web stream. */
async function* webChunks(stream: ByteStream): AsyncGenerator {
  const reader = stream.getReader();
  let read = await reader.read();
  try {
    for (; !read.done; read = await reader.read()) yield read.value;
  } finally {
    if (!read.done) await reader.cancel();
  }
}

/** The body of a request by its parts: bytes, text, or what gives bytes. */
export async function plainBody(body: unknown, maxBody: number): Promise<BodyRead> {
  if (isByteStream(body)) return webBody(body, false, maxBody);
  if (isNodeStream(body)) return nodeBody(body, undefined, maxBody);
  if (isChunks(body)) return chunksBody(body, maxBody);
  if (isBlob(body))
    return body.size > maxBody ? tooLargeBody(maxBody) : heldBody(await body.arrayBuffer(), maxBody);
  return heldBody(body, maxBody);
}

const hasMethods = (value: unknown, ...names: readonly string[]): value is object =>
  typeof value === "object" &&
  value !== null &&
  names.every((name) => typeof readMember(value, name) === "function");

const isByteStream = (body: unknown): body is ByteStream => hasMethods(body, "getReader");
const isNodeStream = (body: unknown): body is NodeStream => hasMethods(body, "on", "off", "pause");
const isChunks = (body: unknown): body is AsyncIterable<unknown> =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body;
const isBlob = (body: unknown): body is BlobLike => hasMethods(body, "arrayBuffer") && "size" in body;

/** The body of a Node request. `left` is what a parser left of it. */
export async function nodeBody(
  request: NodeStream,
  left: HeldBytes | undefined,
  maxBody: number,
): Promise<BodyRead> {
  const isRead = request.readableEnded || request.readableDidRead;
  if (left !== undefined && (isRead || !isEmpty(left))) return heldBody(left, maxBody);
  if (isRead) return PARSED;
  return request.destroyed ? INCOMPLETE : readStream(request, maxBody);
}

/** What `setEncoding` was called with, by an application or a middleware. */
const encodingOf = ({ readableEncoding: encoding }: NodeStream): BufferEncoding =>
  typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";

/** Uses events, not iteration: ending an iteration destroys the socket, and the sender would get no answer. */
function readStream(request: NodeStream, maxBody: number): Promise<BodyRead> {
  return new Promise((resolve) => {
    const chunks = new Chunks(maxBody);
    const finish = (read: BodyRead): void => {
      request.off("data", onData);
      request.off("end", onEnd);
      request.off("close", onClose);
      resolve(read);
    };
    const onData = (chunk: Uint8Array | string): void => {
      const end = chunks.add(chunk, encodingOf(request));
      if (end === undefined) return;
      request.pause();
      finish(end);
    };
    const onEnd = (): void => finish(chunks.whole());
    const onClose = (): void => finish(INCOMPLETE);
    // An aborted request emits an error only if it has a listener.
    request.on("error", onClose);
    request.on("close", onClose);
    request.on("end", onEnd);
    request.on("data", onData);
    // What was paused before stays so.
    request.resume?.();
  });
}
