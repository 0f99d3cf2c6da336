/** The request that a target gets of a webhook: which headers are passed on, and a signature of the merchant's own. */
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
import { ALGORITHM } from "../signatures/policy.ts";
import { sign } from "../signatures/sign.ts";
import type { Verdict } from "../signatures/verdict.ts";
import type { RunKeys, WebhookEvent } from "../events/event.ts";

/** What is forwarded: the request, and the verdict that says which of its headers are authentic. */
export type Forwarded = Pick<WebhookEvent, "request" | "verdict" | "receivedAt">;

/** Many servers hand `_` and `-` to the application as the same character, so they count as one here. */
const fieldName = (spelled: string): string => spelled.toLowerCase().replaceAll("_", "-");

/** Fields of a single connection (RFC 9110 7.6.1), and fields that each connection sets itself. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
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

const isOfConnection = (name: string): boolean => HOP_BY_HOP.has(name) || name.startsWith("proxy-");

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

const WARNING = "paylink-warning";

/** Whether the user may add a header of this name. */
export function mayAdd(spelled: string): boolean {
  const name = fieldName(spelled);
  return name === "host" || (!isOfConnection(name) && !SIGNED.has(name) && name !== WARNING);
}

/**
 * A header that is added replaces those of the same name. A request that is signed again has neither the service's signature
 * nor the address that it was made for.
 */
export function forwardedRequest(
  { request, verdict }: Forwarded,
  url: URL,
  added: readonly HeaderLine[],
  isSignedAgain: boolean,
): HttpRequest {
  const { method, scheme, authority, body } = request;
  const covered = new Set(verdict.verdict === "valid" ? verdict.covered : []);
  const received = request.headers.filter(([spelled]) => {
    const exact = spelled.toLowerCase();
    const name = fieldName(spelled);
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
    headers: [
      ...without(others, [...added, [WARNING, ""]]),
      ["Content-Length", String(body.length)],
      ...warningHeader(verdict),
      ...added,
    ],
    body,
  };
}

/** What the application should know before it books the payment. Only paylink says it: whatever a sender has written there is left out. */
const warningHeader = ({ warnings }: Verdict): HeaderLine[] =>
  warnings.includes("order_paid_before") ? [[WARNING, "order_paid_before"]] : [];

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
  const names = new Set(others.map(([name]) => fieldName(name)));
  return lines.filter(([name]) => !names.has(fieldName(name)));
}

/**
 * Signs with the merchant's own key, so that a retry or a replay is as fresh as the first attempt. Covers what the service's signature covers, as far as the forwarded request has it: a header of one connection, or a
 * parameter of the query, may not reach the application, and a message of a broker has no address (`hasAddress`). Throws for a
 * webhook that is not authentic.
 */
export function signAgain(
  request: HttpRequest,
  { verdict, covered, key: verifiedBy }: Verdict,
  { key, keys }: { readonly key: SigningKey; readonly keys: RunKeys },
  at: Date,
  hasAddress: boolean,
): HttpRequest {
  if (verdict !== "valid") throw new Error("the webhook is not authentic, so it is not signed");
  // The caller should have chosen only events of these keys. This is the last place that can check it.
  if (verifiedBy === null || !keys.includes(verifiedBy.thumbprint))
    throw new Error("a key that this run does not have has verified the webhook, so it is not signed");
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
