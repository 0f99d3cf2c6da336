/** Forwards webhooks to the merchant's application: where, with which headers, in order of arrival, and what it answered. */
import { OF_CONNECTION } from "../domain/header-field.ts";
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { reasonOf, type Send, SendError, SendTimeout } from "../http/exchange.ts";
import {
  addressOf,
  fieldLines,
  type HeaderLine,
  type HttpRequest,
  type RequestHead,
} from "../http/message.ts";
import { componentValue } from "../signatures/base.ts";
import { parseComponent, type Component } from "../signatures/components.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { DEFAULT_POLICY } from "../signatures/policy.ts";
import { sign } from "../signatures/sign.ts";
import type { Verdict } from "../signatures/verdict.ts";
import {
  type EventLog,
  type Forward,
  type ForwardPlan,
  isAccepted,
  type StoreResult,
  type WebhookEvent,
} from "./events.ts";
import type { Outcome } from "../domain/outcome.ts";
import { outcomeOf, type TransactionRecord } from "../domain/transaction.ts";

/** Milliseconds from a webhook's arrival to the application's answer, including the time in the queue. */
const TIMEOUT = 30_000;
/** Milliseconds in which the result of an attempt is recorded, also on a slow disk. */
const RECORDING_TIME = 5_000;
/** Milliseconds between checks for the result of another listener's attempt. */
const CHECK_EVERY = 100;
/** The answer if the application's answer is not known in time: the service delivers the event again. */
const UNKNOWN = 503;
/** Characters of the application's answer that are kept and shown. */
const DETAIL_LENGTH = 500;

export interface ForwardOptions {
  readonly send: Send;
  readonly now: () => Date;
  readonly headers: readonly HeaderLine[];
  /** Accepts a self-signed certificate of the application. */
  readonly insecure: boolean;
  /** Signs each attempt in place of the service; without it, the service's signature is passed on. */
  readonly signWith?: SigningKey | undefined;
}

interface Attempt extends Forward {
  /** The application took too long to answer. */
  readonly timedOut: boolean;
  /** The application may have received it. */
  readonly sent: boolean;
}

/** Makes one attempt. Never throws: the result says why the application did not answer. */
export async function forward(
  forwarded: Forwarded,
  url: URL,
  { send, now, headers, insecure, signWith }: ForwardOptions,
  timeout = TIMEOUT,
): Promise<Attempt> {
  const at = now();
  const made = () => ({ at, target: url.href, ms: now().getTime() - at.getTime() });
  try {
    const passedOn = forwardRequest(forwarded, url, headers, signWith !== undefined);
    const request = signWith === undefined ? passedOn : signAgain(passedOn, forwarded.verdict, signWith, at);
    const { status, body } = await send(request, { timeout, insecure });
    const age = signWith === undefined ? lateAge(forwarded, at) : undefined;
    return {
      ...made(),
      status,
      detail: isAccepted(status) ? "" : beginning(body),
      timedOut: false,
      sent: true,
      ...(age !== undefined && REFUSES_SIGNATURE.has(status) ? { signatureAge: age } : {}),
    };
  } catch (error) {
    const timedOut = error instanceof SendTimeout;
    const sent = timedOut || (error instanceof SendError && error.sent);
    const what = timedOut ? "timed out" : sent ? "no answer" : "not reached";
    return { ...made(), status: null, detail: `${what}: ${reasonOf(error)}`, timedOut, sent };
  }
}

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

interface ForwarderParts extends ForwardOptions {
  /** Undefined if the event is not forwarded. */
  readonly targetOf: (event: WebhookEvent) => URL | undefined;
  readonly log: EventLog;
  /** `first` is the id of the event's first delivery. */
  readonly observe: (event: WebhookEvent, forwarded: Forward, first: string) => void;
  readonly pause: (milliseconds: number) => Promise<void>;
}

export interface Forwarder {
  /** Undefined if the event is not forwarded. */
  readonly plan: (event: WebhookEvent) => ForwardPlan | undefined;
  /** Forwards a stored event. Resolves with the status to answer the service with. */
  readonly forward: (event: WebhookEvent, stored: StoreResult) => Promise<number>;
}

/** Keeps one queue for each target. */
export function createForwarder(parts: ForwarderParts): Forwarder {
  const queues = new Map<string, Promise<unknown>>();
  const pending = new Map<string, Promise<number>>();
  return {
    plan: (event) =>
      parts.targetOf(event) === undefined ? undefined : new Date(deadlineOf(event) + RECORDING_TIME),
    forward: (event, stored) => {
      const { first, claimedElsewhere } = stored;
      // A repeated delivery waits for the first one, so that the application gets the webhook once.
      const running = pending.get(first);
      if (running !== undefined) return running;
      if (claimedElsewhere) return answerElsewhere(event, stored, parts);
      const url = parts.targetOf(event);
      if (url === undefined) return Promise.resolve(200);
      const result = (queues.get(url.href) ?? Promise.resolve())
        .then(() => attempt(event, first, url, parts))
        .finally(() => pending.delete(first));
      queues.set(
        url.href,
        result.catch(() => undefined),
      );
      pending.set(first, result);
      return result;
    },
  };
}

const deadlineOf = ({ receivedAt }: WebhookEvent): number => receivedAt.getTime() + TIMEOUT;

/** Another listener on the same store is forwarding the event: its result is the answer, if it comes in time. */
async function answerElsewhere(
  event: WebhookEvent,
  stored: StoreResult,
  { log, now, pause }: ForwarderParts,
): Promise<number> {
  let state = stored;
  try {
    while (state.claimedElsewhere && now().getTime() < deadlineOf(event)) {
      await pause(CHECK_EVERY);
      state = await log.lookUp(stored.first, now());
    }
  } catch {
    return UNKNOWN;
  }
  if (state.accepted) return 200;
  return state.claimedElsewhere ? UNKNOWN : (state.answered ?? UNKNOWN);
}

/** Webhooks ahead of it in the queue have earlier deadlines, so no webhook waits past its own. */
async function attempt(event: WebhookEvent, first: string, url: URL, parts: ForwarderParts): Promise<number> {
  const at = parts.now();
  const remaining = deadlineOf(event) - at.getTime();
  const forwarded: Attempt =
    remaining > 0
      ? await forward(event, url, parts, remaining)
      : {
          at,
          target: url.href,
          status: null,
          ms: 0,
          detail: "timed out in the queue: earlier webhooks took all the time",
          timedOut: true,
          sent: false,
        };
  // The event is stored, so the application's answer counts even if a full disk does not record it.
  await parts.log.forwarded(first, forwarded).catch(() => undefined);
  parts.observe(event, forwarded, first);
  return statusFor(forwarded);
}

/** The status for the service, which delivers again what the application did not accept (RFC 9110 15.6.3, 15.6.5). */
function statusFor({ status, timedOut }: Attempt): number {
  if (status === null) return timedOut ? 504 : 502;
  return isAccepted(status) ? 200 : status;
}

/** What is forwarded: the request, and the verdict that says which of its headers are authentic. */
export type Forwarded = Pick<WebhookEvent, "request" | "verdict" | "receivedAt">;

/** Many servers hand `_` and `-` to the application as the same character, so they count as one here. */
const nameOf = (spelled: string): string => spelled.toLowerCase().replaceAll("_", "-");

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
 * parameter of the query, may not reach the application. Throws for a webhook that is not authentic.
 */
function signAgain(
  request: HttpRequest,
  { verdict, covered }: Verdict,
  key: SigningKey,
  at: Date,
): HttpRequest {
  if (verdict !== "valid") throw new Error("the webhook is not authentic, so it is not signed");
  // The application takes its own address from Host.
  const [authority = request.authority] = fieldLines(request.headers, "host");
  const message = { ...request, authority };
  const components = covered.flatMap((text) => {
    const parsed = parseComponent(text);
    return parsed.ok && hasValue(parsed.component, message) ? [parsed.component] : [];
  });
  const parameters = {
    created: Math.floor(at.getTime() / 1000),
    ...(key.keyid === null ? {} : { keyid: key.keyid }),
    alg: DEFAULT_POLICY.algorithm,
  };
  const { fields } = sign(message, { key, components, parameters });
  return { ...request, headers: [...request.headers, ...fields] };
}

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

/** The target of a webhook, by its record. */
export function targetOf(
  routes: readonly Route[],
  { record }: { readonly record: TransactionRecord | null },
): URL | undefined {
  const outcome = outcomeOf(record);
  const own = routes.find((route) => route.outcome === outcome);
  return (own ?? routes.find((route) => route.outcome === undefined))?.url;
}
