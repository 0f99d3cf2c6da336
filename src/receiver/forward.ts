/** One attempt to forward a webhook to the merchant's application: where, with which headers, and what it answered. */
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { isBroker } from "../domain/brokers.ts";
import { reasonOf, type SendOptions, SendError, SendTimeout } from "../http/exchange.ts";
import {
  addressOf,
  fieldLines,
  type HeaderLine,
  type HttpReply,
  type HttpRequest,
  type RequestHead,
  retryAfter,
} from "../http/message.ts";
import { componentValue } from "../signatures/base.ts";
import { parseComponent, type Component } from "../signatures/components.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { ALGORITHM, DEFAULT_POLICY } from "../signatures/policy.ts";
import { sign } from "../signatures/sign.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { type Forward, isAccepted, type WebhookEvent } from "./event.ts";
import type { Outcome } from "../domain/outcome.ts";

/** The most bytes of the application's answer in memory, which the service gets if it waits for it. */
const LONGEST_ANSWER = 64 * 1024;
/** Characters of the application's answer that are stored and shown. */
const DETAIL_LENGTH = 500;

/** Sends a webhook to a target, which may be a broker; a `Send` reaches every application. */
export type Deliver = (request: HttpRequest, options?: SendOptions, target?: URL) => Promise<HttpReply>;

export interface ForwardOptions {
  readonly send: Deliver;
  readonly now: () => Date;
  readonly headers: readonly HeaderLine[];
  /** Accepts a self-signed certificate of the application. */
  readonly insecure: boolean;
  /** Milliseconds that the application may take. */
  readonly timeout: number;
  /** Signs each attempt in place of the service; without it, the service's signature is passed on. */
  readonly signWith?: SigningKey | undefined;
}

export interface Attempt extends Forward {
  /** The application took too long to answer. */
  readonly timedOut: boolean;
  /** The application may have received it. */
  readonly sent: boolean;
  /** Milliseconds that the application asks to be left alone for. */
  readonly retryAfter?: number | undefined;
  readonly reply?: HttpReply;
}

/** Makes one attempt. Never throws: the result says why the application did not answer. */
export async function forward(
  forwarded: Forwarded,
  url: URL,
  { send, now, headers, insecure, timeout, signWith }: ForwardOptions,
): Promise<Attempt> {
  const at = now();
  const made = () => ({ at, target: url.href, ms: now().getTime() - at.getTime() });
  try {
    const passedOn = forwardRequest(forwarded, url, headers, signWith !== undefined);
    const request =
      signWith === undefined
        ? passedOn
        : signAgain(passedOn, forwarded.verdict, signWith, at, !isBroker(url));
    const reply = await send(request, { timeout, insecure, keep: LONGEST_ANSWER }, url);
    const { status, body } = reply;
    const age = signWith === undefined ? lateAge(forwarded, at) : undefined;
    return {
      ...made(),
      status,
      detail: isAccepted(status) ? "" : beginning(body),
      timedOut: false,
      sent: !isNotReached(reply),
      reply,
      retryAfter: ASKS_TO_WAIT.has(status) ? retryAfter(reply, now()) : undefined,
      ...(age !== undefined && REFUSES_SIGNATURE.has(status) ? { signatureAge: age } : {}),
    };
  } catch (error) {
    const timedOut = error instanceof SendTimeout;
    const sent = timedOut || (error instanceof SendError && error.sent);
    const what = timedOut ? "timed out" : sent ? "no answer" : "not reached";
    return { ...made(), status: null, detail: `${what}: ${reasonOf(error)}`, timedOut, sent };
  }
}

/** What applications answer that have no time now. */
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

/** What applications answer to a signature that they do not accept. */
const REFUSES_SIGNATURE: ReadonlySet<number> = new Set([400, 401, 403]);

/** The age of the service's signature in milliseconds, once it is older than verifiers accept. */
function lateAge({ verdict, receivedAt }: Forwarded, at: Date): number | undefined {
  const signedAt = verdict.created === null ? receivedAt.getTime() : verdict.created * 1000;
  const age = at.getTime() - signedAt;
  return age > DEFAULT_POLICY.maxAge * 1000 ? age : undefined;
}

/** Card numbers are masked: an application may answer with what it was sent. */
function beginning(body: Uint8Array): string {
  // Four bytes are the longest character of UTF-8.
  const text = new TextDecoder().decode(body.subarray(0, 4 * DETAIL_LENGTH));
  return [...maskCardNumbers(text)].slice(0, DETAIL_LENGTH).join("");
}

/** An answer that says what was behind it, in the words of RFC 9209. */
export const replyFor = (
  status: number,
  behind: string,
  answer: Pick<HttpReply, "headers" | "body"> = NOTHING,
): HttpReply => ({
  status,
  headers: [...answer.headers, ["Proxy-Status", `paylink; ${behind}`]],
  body: answer.body,
});

const NOTHING = { headers: [], body: new Uint8Array() };

const UNAVAILABLE = "error=destination_unavailable";

/** The answer in place of a target that accepts no connection. */
export const notReached = (status: number, answer?: Pick<HttpReply, "headers" | "body">): HttpReply =>
  replyFor(status, UNAVAILABLE, answer);

const isNotReached = ({ headers }: HttpReply): boolean =>
  fieldLines(headers, "proxy-status").includes(`paylink; ${UNAVAILABLE}`);

/** The answer to a repeated webhook that is not forwarded again. */
export const ACCEPTED_BEFORE = replyFor(200, 'details="the application accepted it before"');

/** What is forwarded: the request, and the verdict that says which of its headers are authentic. */
export type Forwarded = Pick<WebhookEvent, "request" | "verdict" | "receivedAt">;

/** Many servers hand `_` and `-` to the application as the same character, so they count as one here. */
const nameOf = (spelled: string): string => spelled.toLowerCase().replaceAll("_", "-");

/** Fields of a single connection (RFC 9110 7.6.1), and fields that each connection sets itself. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const isOfConnection = (name: string): boolean => OF_CONNECTION.has(name) || name.startsWith("proxy-");

const SIGNATURE: ReadonlySet<string> = new Set(["signature", "signature-input"]);

/** Fields that the application needs unchanged to verify the signature. */
const SIGNED: ReadonlySet<string> = new Set(["content-digest", "content-type", ...SIGNATURE]);

/**
 * The fields of a webhook. Any sender can add others, and frameworks trust many of them: for the client's address, the method, the
 * path or the user. Those are forwarded only if the signature covers them.
 */
const OF_WEBHOOK: ReadonlySet<string> = new Set([
  ...SIGNED,
  "accept",
  "content-encoding",
  "content-language",
  "user-agent",
  // Tracing: W3C Trace Context and Baggage, B3, and the ids that proxies write into their logs.
  "traceparent",
  "tracestate",
  "baggage",
  "b3",
  "x-b3-traceid",
  "x-b3-spanid",
  "x-b3-parentspanid",
  "x-b3-sampled",
  "x-b3-flags",
  "x-request-id",
  "x-correlation-id",
]);

/** Whether the user may add a header of this name. */
export function mayAdd(spelled: string): boolean {
  const name = nameOf(spelled);
  return name === "host" || (!isOfConnection(name) && !SIGNED.has(name));
}

/**
 * A header that is added replaces those of the same name. A request that is signed again has neither the service's signature
 * nor the address that it was made for.
 */
function forwardRequest(
  { request, verdict }: Forwarded,
  url: URL,
  added: readonly HeaderLine[],
  isSignedAgain: boolean,
): HttpRequest {
  const { method, scheme, authority, body } = request;
  const covered = new Set(verdict.verdict === "valid" ? verdict.covered : []);
  const received = request.headers.filter(([spelled]) => {
    const exact = spelled.toLowerCase();
    const name = nameOf(spelled);
    if (isSignedAgain && SIGNATURE.has(name)) return false;
    // A second spelling of a webhook's field would reach the application as a second value.
    if (OF_WEBHOOK.has(name)) return exact === name;
    return covered.has(exact) && !isOfConnection(name);
  });
  const own: readonly HeaderLine[] = [
    ["Host", url.host],
    ...(isSignedAgain ? [] : addressHeaders(scheme, authority)),
  ];
  // An address that the sender signed is authentic.
  const others = [...without(own, received), ...received];
  return {
    method,
    ...addressOf(url),
    headers: [...without(others, added), ["Content-Length", String(body.length)], ...added],
    body,
  };
}

/** To verify the signature, the application has to know which address was signed. */
const addressHeaders = (scheme: string, authority: string): HeaderLine[] =>
  authority === ""
    ? []
    : [
        ["X-Forwarded-Host", authority],
        ["X-Forwarded-Proto", scheme],
      ];

/** The lines whose names are not among those of `others`. */
function without(lines: readonly HeaderLine[], others: readonly HeaderLine[]): HeaderLine[] {
  const names = new Set(others.map(([name]) => nameOf(name)));
  return lines.filter(([name]) => !names.has(nameOf(name)));
}

/**
 * Signs with the merchant's own key, so that a retry or a replay is as fresh as the first attempt. Covers what the service's signature covers, as far as the forwarded request has it: a header of one connection, or a
 * parameter of the query, may not reach the application, and a message of a broker has no address (`hasAddress`). Throws for a
 * webhook that is not authentic.
 */
function signAgain(
  request: HttpRequest,
  { verdict, covered }: Verdict,
  key: SigningKey,
  at: Date,
  hasAddress: boolean,
): HttpRequest {
  if (verdict !== "valid") throw new Error("the webhook is not authentic, so it is not signed");
  // The application takes its own address from Host.
  const [authority = request.authority] = fieldLines(request.headers, "host");
  const message = { ...request, authority };
  const components = covered.flatMap((text) => {
    const parsed = parseComponent(text);
    if (!parsed.ok || (!hasAddress && isDerived(parsed.value))) return [];
    return hasValue(parsed.value, message) ? [parsed.value] : [];
  });
  const parameters = {
    created: Math.floor(at.getTime() / 1000),
    ...(key.keyid === null ? {} : { keyid: key.keyid }),
    alg: ALGORITHM,
  };
  const fields = sign(message, { key, components, parameters });
  return { ...request, headers: [...request.headers, ...fields] };
}

const isDerived = ({ name }: Component): boolean => name.startsWith("@");

function hasValue(component: Component, request: RequestHead): boolean {
  try {
    componentValue(component, request);
    return true;
  } catch {
    return false;
  }
}

/** The target of one outcome; without an outcome, that of all others. */
export interface Route {
  readonly outcome: Outcome | undefined;
  readonly url: URL;
}

/** The target of the webhooks with an outcome. */
export function targetOf(routes: readonly Route[], outcome: Outcome): URL | undefined {
  const own = routes.find((route) => route.outcome === outcome);
  return (own ?? routes.find((route) => route.outcome === undefined))?.url;
}
