/** The vector files as typed values, and the requests and options that their cases describe. */

import { readFileSync } from "node:fs";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { parseComponent, type Component } from "../../src/signatures/components.ts";
import { readKeys, type VerificationKey } from "../../src/signatures/keys.ts";
import { DEFAULT_POLICY, type Policy } from "../../src/signatures/policy.ts";
import type { VerifyOptions } from "../../src/signatures/verify.ts";

export interface WebhookCase {
  readonly id: string;
  readonly title: string;
  readonly level?: "message" | "http" | "payload";
  readonly request: {
    readonly method: string;
    readonly target: string;
    readonly headers: readonly HeaderLine[];
    readonly body_base64?: string;
    readonly body_generate?: { readonly byte: number; readonly length: number };
  };
  readonly context: {
    readonly now: number;
    readonly public_url: string;
    readonly public_key_pem?: string;
    readonly jwks?: object;
    readonly policy?: { readonly required?: readonly string[]; readonly require_created?: boolean };
  };
  readonly signature_base: string;
  readonly signature_base64: string;
  readonly expected: {
    readonly verdict: "valid" | "invalid";
    readonly code: string;
    readonly warnings?: readonly string[];
    readonly http_status: number;
  };
}

/** A webhook as platforms deliver it, and what a receiver makes of it. */
export interface DeliveryCase extends WebhookCase {
  readonly expected: WebhookCase["expected"] & {
    /** Where it is accepted, as `violations`: their codes. */
    readonly outcome?: string;
    readonly violations?: readonly string[];
  };
}

export const deliveryCases = (): readonly DeliveryCase[] =>
  vectorFile<{ vectors: DeliveryCase[] }>("webhook-deliveries").vectors;

/** Each file is read as the type that its reader asks for: the vectors are ours, and fixed. */
export function vectorFile<T>(name: string): T {
  const parsed: T = JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8"));
  return parsed;
}

export function webhookRequest({ request, context }: WebhookCase): HttpRequest {
  const { protocol, host } = new URL(context.public_url);
  const { byte, length } = request.body_generate ?? { byte: 0, length: 0 };
  return {
    method: request.method,
    scheme: protocol === "https:" ? "https" : "http",
    authority: host,
    target: request.target,
    headers: request.headers,
    body:
      request.body_base64 === undefined
        ? Buffer.alloc(length, byte)
        : Buffer.from(request.body_base64, "base64"),
  };
}

/** The request as it goes over the wire. */
export function rawRequest(vector: WebhookCase): Buffer {
  const { method, target, headers, body } = webhookRequest(vector);
  const chunked = headers.some(([name]) => name.toLowerCase() === "transfer-encoding");
  const framed = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers
      .filter(([name]) => !(chunked && /^content-length$/i.test(name)))
      .map(([name, value]) => `${name}: ${value}`),
    ...(framed ? [] : [`Content-Length: ${body.length}`]),
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  const tail = chunked
    ? [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]
    : [body];
  return Buffer.concat([head, ...tail]);
}

export function webhookOptions({ context }: WebhookCase): VerifyOptions {
  const { now, policy, jwks, public_key_pem } = context;
  return {
    now,
    keys: keysOf(jwks === undefined ? (public_key_pem ?? "") : JSON.stringify(jwks)),
    policy: {
      ...DEFAULT_POLICY,
      required: (policy?.required ?? []).map(componentOf),
      requireCreated: policy?.require_created ?? false,
    } satisfies Policy,
  };
}

export function keysOf(text: string | Uint8Array): readonly VerificationKey[] {
  const { keys, remarks } = readKeys(text);
  if (keys.length === 0) throw new Error(remarks.join("; "));
  return keys;
}

export function componentOf(text: string): Component {
  const parsed = parseComponent(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}
