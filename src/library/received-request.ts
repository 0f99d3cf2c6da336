/** Turns each form of request into an HTTP message: its bytes, its header lines, and the address it was sent to. */
import { isAnyArrayBuffer } from "node:util/types";
import { isLoopback, parseWebAddress } from "../domain/addresses.ts";
import { RAW_BODY_FIXES, type Framework } from "../domain/reasons.ts";
import { refusal, type Refusal } from "../http/exchange.ts";
import {
  addressOf,
  headerLines,
  withBody,
  type HeaderLine,
  type HttpRequest,
  type RequestHead,
} from "../http/message.ts";
import { addressed, type ReceiverAddress } from "../receiver/address.ts";
import { refuseMessage } from "../receiver/admit.ts";
import { refusedRequest } from "./refusals.ts";
import { WebhookError } from "./webhook-error.ts";
import type {
  ApiGatewayEvent,
  ByteStream,
  HeaderFields,
  NodeRequest,
  PlainRequest,
  WebhookMessage,
  WebhookRequest,
  WebRequest,
} from "./types.ts";

interface ReadOptions {
  /** Where the service posts to; undefined where that is this server's own address. */
  readonly publicAddress: ReceiverAddress | undefined;
  readonly maxBody: number;
}

/** Reads the body last: a request that its head refuses is not read. Throws a WebhookError. */
export async function receivedRequest(request: WebhookRequest, options: ReadOptions): Promise<HttpRequest> {
  const { publicAddress, maxBody } = options;
  const form = formOf(request);
  const head = publicAddress === undefined ? form.head : addressed(form.head, publicAddress);
  const isMessage = head.method === "" && head.target === "";
  const refused = refuseMessage(isMessage ? { ...head, method: "POST", target: "/" } : head);
  if (refused !== undefined) throw refusedRequest(refused);
  const body = await form.body(maxBody);
  if (body.kind === "refused") throw refusedRequest(body.refusal);
  if (body.kind === "parsed") throw parsedBody(form.frameworks);
  return withBody(head, body.bytes, form.trailers());
}

interface RequestForm {
  readonly head: RequestHead;
  readonly body: (maxBody: number) => BodyRead | Promise<BodyRead>;
  /** Complete once the body was read. */
  readonly trailers: () => readonly HeaderLine[];
  /** Those that the request can be of. */
  readonly frameworks: readonly Framework[];
}

const NO_TRAILERS = (): readonly HeaderLine[] => [];

const EVERY_FRAMEWORK = Object.keys(RAW_BODY_FIXES) as readonly Framework[];

function formOf(request: WebhookRequest): RequestForm {
  if (typeof request !== "object" || request === null) throw notRequest(`it is ${String(request)}`);
  const layers = layersOf(request);
  const inner = layers.at(-1) ?? request;
  if (isNode(inner)) return nodeForm(inner, layers);
  if (isWeb(inner)) return webForm(inner, layers);
  if (isEvent(request)) return eventForm(request);
  requireParts(request);
  return plainForm(request);
}

/**
 * The request of a framework, and what it wraps: Fastify and Hono keep the request of the runtime in `raw`, Koa and the context of
 * Hono in `req`.
 */
function layersOf(request: object): readonly object[] {
  if (isNode(request) || isWeb(request)) return [request];
  const inner = [member(request, "raw"), member(request, "req")].find(
    (value): value is object => typeof value === "object" && value !== null,
  );
  return inner === undefined ? [request] : [request, ...layersOf(inner)];
}

/** Applications in JavaScript may give anything. */
function requireParts(request: object): asserts request is PlainRequest | WebhookMessage {
  const parts = ["method", "url"];
  const missing = parts.filter((name) => textMember(request, name) === undefined);
  const [first] = missing;
  const isMessage = parts.every((name) => member(request, name) === undefined);
  if (first !== undefined && !isMessage) throw notRequest(`its ${first} is no text`);
  const headers = member(request, "headers");
  if (typeof headers !== "object" || headers === null) throw notRequest("it has no headers");
}

const notRequest = (problem: string): TypeError =>
  new TypeError(
    `This is not the request that the webhook arrived in: ${problem}. Pass the request of your framework as it is, or { method, url, headers, body } with the body as bytes.`,
  );

const isNode = (request: object): request is NodeRequest =>
  "rawHeaders" in request && Array.isArray(request.rawHeaders) && "on" in request;

const isWeb = (request: object): request is WebRequest => "bodyUsed" in request && "headers" in request;

const isEvent = (request: object): request is ApiGatewayEvent =>
  "requestContext" in request || "httpMethod" in request;

function nodeForm(request: NodeRequest, layers: readonly object[]): RequestForm {
  const head: RequestHead = {
    method: request.method ?? "",
    scheme: "http",
    authority: "",
    // Express shortens `url` where a router is mounted.
    target: textMember(request, "originalUrl") ?? request.url ?? "",
    // HTTP/2 has pseudo-headers, such as `:path`.
    headers: headerLines(request.rawHeaders).filter(([name]) => !name.startsWith(":")),
  };
  const own = ownAddress(request);
  return {
    head: own === undefined ? head : addressed(head, own),
    body: (maxBody) => nodeBody(request, leftBodies(layers), maxBody),
    trailers: () => headerLines(request.rawTrailers ?? []),
    frameworks: nodeFrameworks(request, layers),
  };
}

/** Undefined where the request has no socket, as in a serverless function or a test. */
function ownAddress({ socket }: NodeRequest): ReceiverAddress | undefined {
  const { localAddress, localPort: port } = socket ?? {};
  if (socket === undefined || localAddress === undefined || port === undefined) return undefined;
  const scheme = member(socket, "encrypted") === true ? "https" : "http";
  return { kind: "own", scheme, hosts: [localAddress.replace(/^::ffff:/, "")], port };
}

/** What parsers leave. That of Koa leaves it in the context's own request. */
const leftBodies = (layers: readonly object[]): readonly unknown[] =>
  layers
    .flatMap((layer) => [member(layer, "request"), layer])
    .filter((place) => typeof place === "object" && place !== null)
    .flatMap((place) => [member(place, "rawBody"), member(place, "body")]);

function nodeFrameworks(request: NodeRequest, [outer]: readonly object[]): readonly Framework[] {
  if (outer !== undefined && "raw" in outer) return ["fastify", "nest"];
  if (outer !== request) return ["koa"];
  if ("app" in request) return ["express", "nest"];
  return "query" in request && "cookies" in request ? ["next"] : EVERY_FRAMEWORK;
}

function webForm(request: WebRequest, layers: readonly object[]): RequestForm {
  const headers: HeaderLine[] = [];
  request.headers.forEach((value, name) => headers.push([name, value]));
  const { scheme, authority, target } = addressIn(request.url);
  // A server makes the URL from headers that any sender can set. A loopback name can be nobody else's.
  const isOwn = isLoopback(authority.replace(/:\d+$/, ""));
  return {
    head: { method: request.method, scheme, authority: isOwn ? authority : "", target, headers },
    body: (maxBody) => webBody(request.body, request.bodyUsed, maxBody),
    trailers: NO_TRAILERS,
    frameworks: layers.length > 1 ? ["hono"] : "nextUrl" in request ? ["next"] : ["web", "hono", "next"],
  };
}

/** An event of AWS API Gateway, in version 2 if it has `rawPath`, and of other services that use these versions. */
function eventForm(event: ApiGatewayEvent): RequestForm {
  const { rawPath, rawQueryString = "", path, headers, multiValueHeaders, body } = event;
  const method = rawPath === undefined ? event.httpMethod : methodOf(event.requestContext);
  if (typeof method !== "string") throw notRequest("it is an event without a method");
  const query = rawPath === undefined ? queryOf(event) : rawQueryString;
  const { isBase64Encoded = false } = event;
  if (typeof isBase64Encoded !== "boolean")
    throw notRequest("it is an event whose isBase64Encoded is neither true nor false");
  // In version 1, `headers` hides all values of a field but the last one.
  const fields = Object.keys(multiValueHeaders ?? {}).length > 0 ? multiValueHeaders : headers;
  return {
    head: {
      method,
      scheme: "http",
      authority: "",
      target: `${rawPath ?? path ?? ""}${query === "" ? "" : `?${query}`}`,
      headers: linesOf(fields ?? {}),
    },
    body: (maxBody) =>
      heldBody(
        typeof body === "string" && isBase64Encoded ? Buffer.from(body, "base64") : (body ?? ""),
        maxBody,
      ),
    trailers: NO_TRAILERS,
    frameworks: ["lambda"],
  };
}

function methodOf(context: object): unknown {
  const http = member(context, "http");
  return typeof http === "object" && http !== null ? member(http, "method") : undefined;
}

/** Version 1 has the query decoded: a signature that covers another spelling does not verify. */
const queryOf = ({ multiValueQueryStringParameters: parameters }: ApiGatewayEvent): string =>
  Object.entries(parameters ?? {})
    .flatMap(([name, values = []]) =>
      values.map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
    )
    .join("&");

function plainForm({ method = "", url = "", headers, body }: PlainRequest | WebhookMessage): RequestForm {
  return {
    head: { method, ...addressIn(url), headers: linesOf(headers) },
    body: (maxBody) => heldBody(body, maxBody),
    trailers: NO_TRAILERS,
    frameworks: EVERY_FRAMEWORK,
  };
}

/** The target as it is written: `URL` would normalise it. */
function addressIn(text: string): Pick<RequestHead, "scheme" | "authority" | "target"> {
  const url = text.startsWith("/") ? undefined : parseWebAddress(text);
  if (url === undefined) return { scheme: "http", authority: "", target: text };
  const [, target = ""] = /^[^:]+:\/\/[^/?#]*(.*)$/.exec(text) ?? [];
  return { ...addressOf(url), target: target.startsWith("/") ? target : `/${target}` };
}

function linesOf(headers: HeaderFields): HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (const [name, value] of Symbol.iterator in headers ? headers : Object.entries(headers)) {
    if (typeof value === "string") lines.push([name, value]);
    else if (value === undefined) continue;
    else if (Array.isArray(value)) for (const line of value) lines.push([name, String(line)]);
    else throw notRequest(`its header ${name} is neither text nor a list`);
  }
  return lines;
}

function member(holder: object, name: string): unknown {
  return Reflect.get(holder, name);
}

function textMember(holder: object, name: string): string | undefined {
  const value = member(holder, name);
  return typeof value === "string" ? value : undefined;
}

/** 500, so that the service sends the webhook again once the application is fixed. */
const parsedBody = (frameworks: readonly Framework[]): WebhookError =>
  new WebhookError(
    "body_parsed",
    `the body was read or parsed before it was verified, and its bytes are gone. Verify first:\n${frameworks.map((name) => `  ${RAW_BODY_FIXES[name]}`).join("\n")}`,
  );

/** The bytes, why they are refused, or that only a parsed body is left. */
export type BodyRead =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "refused"; readonly refusal: Refusal<"body_too_large" | "body_incomplete"> }
  | { readonly kind: "parsed" };

const PARSED: BodyRead = { kind: "parsed" };

/** Bytes, or text that nothing parsed: if its decoding lost anything, the digest shows it. */
export function heldBody(body: unknown, maxBody: number): BodyRead {
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

const isRaw = (body: unknown): boolean => typeof body === "string" || bytesIn(body) !== undefined;

function withinLimit(bytes: Uint8Array, maxBody: number): BodyRead {
  return bytes.length > maxBody ? tooLarge(maxBody) : { kind: "bytes", bytes };
}

const tooLarge = (maxBody: number): BodyRead => ({
  kind: "refused",
  refusal: refusal("body_too_large", `the body has more than ${maxBody} bytes`),
});

const INCOMPLETE: BodyRead = {
  kind: "refused",
  refusal: refusal("body_incomplete", "the connection ended before the body was complete"),
};

/** The body of a Web request. */
export async function webBody(stream: ByteStream | null, used: boolean, maxBody: number): Promise<BodyRead> {
  if (used || stream?.locked === true) return PARSED;
  if (stream === null) return heldBody(null, maxBody);
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return { kind: "bytes", bytes: Buffer.concat(chunks) };
      length += value.length;
      if (length > maxBody) {
        await reader.cancel();
        return tooLarge(maxBody);
      }
      chunks.push(value);
    }
  } catch {
    return INCOMPLETE;
  }
}

/** `left` are the places where parsers leave a body. */
export async function nodeBody(
  request: NodeRequest,
  left: readonly unknown[],
  maxBody: number,
): Promise<BodyRead> {
  const raw = left.find(isRaw);
  if (raw !== undefined) return heldBody(raw, maxBody);
  if (request.readableEnded || request.readableDidRead) return PARSED;
  return request.destroyed ? INCOMPLETE : readStream(request, maxBody);
}

/** Uses events, not iteration: ending an iteration destroys the socket, and the sender would get no answer. */
function readStream(request: NodeRequest, maxBody: number): Promise<BodyRead> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const finish = (read: BodyRead): void => {
      request.off("data", onData);
      request.off("end", onEnd);
      request.off("close", onClose);
      resolve(read);
    };
    const onData = (chunk: Uint8Array | string): void => {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      length += bytes.length;
      if (length <= maxBody) return void chunks.push(bytes);
      request.pause();
      finish(tooLarge(maxBody));
    };
    const onEnd = (): void => finish({ kind: "bytes", bytes: Buffer.concat(chunks) });
    const onClose = (): void => finish(INCOMPLETE);
    // An aborted request emits an error only if it has a listener.
    request.on("error", onClose);
    request.on("close", onClose);
    request.on("end", onEnd);
    request.on("data", onData);
  });
}
