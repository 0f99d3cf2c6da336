/** Turns a Node request, a Web request or the parts of one into an HTTP message: its bytes, header lines and address. */
import { isLoopback, parseWebAddress } from "../domain/addresses.ts";
import { RAW_BODY_FIXES } from "../domain/reasons.ts";
import {
  addressOf,
  headerLines,
  withBody,
  type HeaderLine,
  type HttpRequest,
  type RequestHead,
} from "../http/message.ts";
import { addressed, type ReceiverAddress } from "../receiver/address.ts";
import { DEFAULT_MAX_BODY, refuseMessage } from "../receiver/admit.ts";
import { refusedRequest } from "./refusals.ts";
import { heldBody, nodeBody, webBody, type BodyRead } from "./request-body.ts";
import type { NodeRequest, PlainRequest, WebhookRequest, WebRequest } from "./types.ts";
import { WebhookError } from "./webhook-error.ts";

/**
 * Reads the body last: a request that its head refuses is not read. Throws a WebhookError. `publicAddress` is where the service posts
 * to; undefined where that is this server's own address.
 */
export async function receivedRequest(
  request: WebhookRequest,
  publicAddress: ReceiverAddress | undefined,
): Promise<HttpRequest> {
  const form = formOf(request);
  const head = publicAddress === undefined ? form.head : addressed(form.head, publicAddress);
  const refused = refuseMessage(head);
  if (refused !== undefined) throw refusedRequest(refused);
  const body = await form.body();
  if (body.kind === "refused") throw refusedRequest(body.refusal);
  if (body.kind === "parsed") throw parsedBody();
  return withBody(head, body.bytes);
}

interface RequestForm {
  readonly head: RequestHead;
  readonly body: () => BodyRead | Promise<BodyRead>;
}

function formOf(request: WebhookRequest): RequestForm {
  if (typeof request === "object" && request !== null) {
    if (isNode(request)) return nodeForm(request);
    if (isWeb(request)) return webForm(request);
    if (isPlain(request)) return plainForm(request);
  }
  throw new TypeError(
    "This is not the request that the webhook arrived in. Pass the request of Node or the Web, which is request in Express, NestJS and Next.js, request.raw in Fastify, ctx.req in Koa and c.req.raw in Hono; or { method, url, headers, body } with the body as bytes.",
  );
}

const isNode = (request: object): request is NodeRequest =>
  "rawHeaders" in request && Array.isArray(request.rawHeaders) && "on" in request;

const isWeb = (request: object): request is WebRequest => "bodyUsed" in request && "headers" in request;

/** The request or context of a framework, which has its own request in `raw` or `req`, has lost what the signature is about. */
function isPlain(request: object): request is PlainRequest {
  const headers = member(request, "headers");
  const hasParts = ["method", "url"].every((name) => textMember(request, name) !== undefined);
  return (
    hasParts && typeof headers === "object" && headers !== null && !("raw" in request || "req" in request)
  );
}

function nodeForm(request: NodeRequest): RequestForm {
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
  // express.raw() leaves the bytes in `body`, NestJS in `rawBody`.
  const left = [member(request, "rawBody"), member(request, "body")];
  return {
    head: own === undefined ? head : addressed(head, own),
    body: () => nodeBody(request, left, DEFAULT_MAX_BODY),
  };
}

/** Undefined where the request has no socket, as in a serverless function or a test. */
function ownAddress({ socket }: NodeRequest): ReceiverAddress | undefined {
  const { localAddress, localPort: port } = socket ?? {};
  if (socket === undefined || localAddress === undefined || port === undefined) return undefined;
  const scheme = member(socket, "encrypted") === true ? "https" : "http";
  return { kind: "own", scheme, hosts: [localAddress.replace(/^::ffff:/, "")], port };
}

function webForm(request: WebRequest): RequestForm {
  const headers: HeaderLine[] = [];
  request.headers.forEach((value, name) => headers.push([name, value]));
  const { scheme, authority, target } = addressIn(request.url);
  // A server makes the URL from headers that any sender can set. A loopback name can be nobody else's.
  const isOwn = isLoopback(authority.replace(/:\d+$/, ""));
  return {
    head: { method: request.method, scheme, authority: isOwn ? authority : "", target, headers },
    body: () => webBody(request.body, request.bodyUsed, DEFAULT_MAX_BODY),
  };
}

const plainForm = ({ method, url, headers, body }: PlainRequest): RequestForm => ({
  head: { method, ...addressIn(url), headers: linesOf(headers) },
  body: () => heldBody(body, DEFAULT_MAX_BODY),
});

/** The target as it is written: `URL` would normalise it. */
function addressIn(text: string): Pick<RequestHead, "scheme" | "authority" | "target"> {
  const url = text.startsWith("/") ? undefined : parseWebAddress(text);
  if (url === undefined) return { scheme: "http", authority: "", target: text };
  const [, target = ""] = /^[^:]+:\/\/[^/?#]*(.*)$/.exec(text) ?? [];
  return { ...addressOf(url), target: target.startsWith("/") ? target : `/${target}` };
}

function linesOf(headers: PlainRequest["headers"]): HeaderLine[] {
  const fields = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return fields.flatMap(([name, value = []]) => [value].flat().map((line): HeaderLine => [name, line]));
}

function member(holder: object, name: string): unknown {
  return Reflect.get(holder, name);
}

function textMember(holder: object, name: string): string | undefined {
  const value = member(holder, name);
  return typeof value === "string" ? value : undefined;
}

/** 500, so that the service sends the webhook again once the application is fixed. */
const parsedBody = (): WebhookError =>
  new WebhookError(
    "body_parsed",
    `the body was read or parsed before it was verified, and its bytes are gone. Verify first:\n${RAW_BODY_FIXES}`,
  );
