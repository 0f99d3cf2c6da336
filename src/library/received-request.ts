/** Turns a Node request, a Web request, an event or the parts of a request into an HTTP message: its bytes, header lines and address. */
import { isLoopback, parseWebAddress } from "../values/addresses.ts";
import { RAW_BODY_FIXES } from "../domain/reasons.ts";
import {
  addressOf,
  fieldLines,
  headerLines,
  withBody,
  type HeaderLine,
  type HttpRequest,
  type RequestHead,
} from "../http/message.ts";
import { addressed, type ReceiverAddress } from "../receiver/address.ts";
import { DEFAULT_MAX_BODY, refuseRequest } from "../receiver/admit.ts";
import { refusedRequest } from "./refusals.ts";
import { headerLinesOf, isObject, lineText, readMember, textMember } from "./header-fields.ts";
import { isLambdaEvent, lambdaRequest } from "./lambda-event.ts";
import { leftIn, nodeBody, plainBody, webBody, type BodyRead } from "./request-body.ts";
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
  const form = requestForm(request);
  const head = publicAddress === undefined ? form.head : addressed(form.head, publicAddress);
  const refused = refuseRequest(head);
  if (refused !== undefined) throw refusedRequest(refused);
  const body = await form.body();
  if (body.kind === "refused") throw refusedRequest(body.refusal);
  if (body.kind === "parsed" || isGone(body.bytes, head)) throw parsedBody();
  return withBody(head, body.bytes);
}

/** An application passes on nothing, as where it asks for a `rawBody` that nobody has kept. */
const isGone = (bytes: Uint8Array, { headers }: RequestHead): boolean =>
  bytes.length === 0 && fieldLines(headers, "content-length").some((length) => Number(length) > 0);

interface RequestForm {
  readonly head: RequestHead;
  readonly body: () => BodyRead | Promise<BodyRead>;
}

function requestForm(request: WebhookRequest): RequestForm {
  if (typeof request === "object" && request !== null) {
    if (isNodeRequest(request)) return nodeForm(request);
    if (isWebRequest(request)) return webForm(request);
    if (isLambdaEvent(request)) return plainForm(lambdaRequest(request));
    const raw = readMember(request, "raw");
    if (isNodeRequest(raw)) return nodeForm(raw, request);
    if (isPlainRequest(request)) return plainForm(request);
  }
  throw new TypeError(
    `This is not the request that the webhook arrived in${missingIn(request)}. Pass the request of Node or the Web, which is request in Express, NestJS, Fastify and Next.js, ctx.req in Koa, c.req.raw in Hono, event.req in h3 (Nitro, Nuxt) and request in Elysia; the event of AWS Lambda; or { method, url, headers, body } with the body as bytes.`,
  );
}

/** Adapters make requests of Node that have no list of lines. */
const isNodeRequest = (request: unknown): request is NodeRequest =>
  isObject(request) &&
  typeof readMember(request, "on") === "function" &&
  (Array.isArray(readMember(request, "rawHeaders")) || isObject(readMember(request, "headers")));

const isWebRequest = (request: object): request is WebRequest =>
  "bodyUsed" in request && "headers" in request;

/** The request or context of a framework, which has its own request in `raw` or `req`, has lost what the signature is about. */
const isPlainRequest = (request: object): request is PlainRequest =>
  TEXT_PARTS.every((name) => textMember(request, name) !== undefined) &&
  isObject(readMember(request, "headers")) &&
  !("raw" in request || "req" in request);

const TEXT_PARTS = ["method", "url"];

/** What an object with headers lacks of a request, as an insertion; empty for what has none. */
function missingIn(request: unknown): string {
  if (!isObject(request) || !isObject(readMember(request, "headers"))) return "";
  const missing = TEXT_PARTS.filter((name) => textMember(request, name) === undefined);
  return missing.length === 0
    ? ""
    : `: its ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not text`;
}

/** `holder` has the bytes where a parser leaves them with the request of a framework, such as Fastify's. */
function nodeForm(request: NodeRequest, holder: object = request): RequestForm {
  const head: RequestHead = {
    method: request.method ?? "",
    scheme: "http",
    authority: "",
    // Express shortens `url` where a router is mounted.
    target: textMember(request, "originalUrl") ?? request.url ?? "",
    // HTTP/2 has pseudo-headers, such as `:path`.
    headers: nodeLines(request).filter(([name]) => !name.startsWith(":")),
  };
  const own = ownAddress(request);
  return {
    head: own === undefined ? head : addressed(head, own),
    body: () => nodeBody(request, leftIn(holder) ?? leftIn(request), DEFAULT_MAX_BODY),
  };
}

/** Node's list has every line. Adapters of serverless platforms leave it empty, and have each field in `headers` alone. */
const nodeLines = ({ rawHeaders = [], headers = {} }: NodeRequest): HeaderLine[] =>
  rawHeaders.length > 0
    ? headerLines(rawHeaders.map((text, at) => lineText(text, `rawHeaders[${at}]`)))
    : headerLinesOf(headers);

/** Undefined where the request has no socket, as in a serverless function or a test. */
function ownAddress({ socket }: NodeRequest): ReceiverAddress | undefined {
  const { localAddress, localPort: port } = socket ?? {};
  if (!isObject(socket) || localAddress === undefined || port === undefined) return undefined;
  const scheme = readMember(socket, "encrypted") === true ? "https" : "http";
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

const plainForm = (request: PlainRequest): RequestForm => ({
  head: { method: request.method, ...addressIn(request.url), headers: headerLinesOf(request.headers) },
  body: () => plainBody(leftIn(request) ?? request.body, DEFAULT_MAX_BODY),
});

/** The target as it is written: `URL` would normalise it. */
function addressIn(text: string): Pick<RequestHead, "scheme" | "authority" | "target"> {
  const url = text.startsWith("/") ? undefined : parseWebAddress(text);
  if (url === undefined) return { scheme: "http", authority: "", target: text };
  const [, target = ""] = /^[^:]+:\/\/[^/?#]*(.*)$/.exec(text) ?? [];
  return { ...addressOf(url), target: target.startsWith("/") ? target : `/${target}` };
}

/** 500, so that the service sends the webhook again once the application is fixed. */
const parsedBody = (): WebhookError =>
  new WebhookError(
    "body_parsed",
    `the body was read or parsed before it was verified, and its bytes are gone. Verify first:\n${RAW_BODY_FIXES}`,
  );
