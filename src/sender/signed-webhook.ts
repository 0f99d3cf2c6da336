/** Webhooks as the service posts them: a body, the headers of the specification, and a signature over both. */
import { addressOf, type HeaderLine, type HttpRequest } from "../http/message.ts";
import { component } from "../signatures/components.ts";
import { contentDigest } from "../signatures/digest.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { ALGORITHM } from "../signatures/policy.ts";
import { sign } from "../signatures/sign.ts";
import type { SignatureForm } from "../signatures/cover.ts";

export interface WebhookOptions {
  readonly url: URL;
  readonly key: SigningKey;
  /** Unix seconds; sent only where the form says so. */
  readonly created: number;
  readonly form: SignatureForm;
}

/** How a tampered webhook differs from the service's. */
export interface Differences {
  /** Replaces the cover of the form. */
  readonly cover?: readonly string[] | undefined;
  readonly label?: string;
  readonly expires?: number;
  /** The signature's `alg`, whatever made it. */
  readonly alg?: string;
  /** Makes the signature with another algorithm. */
  readonly signBase?: (base: Uint8Array) => Uint8Array;
  /** Changes the headers before they are signed. */
  readonly headers?: (headers: readonly HeaderLine[]) => readonly HeaderLine[];
}

/** "Request headers sent by the service", in its order. */
export function signedWebhook(body: Uint8Array, options: WebhookOptions & Differences): HttpRequest {
  const { url, key, created, form, expires, label, signBase } = options;
  const { alg = ALGORITHM, cover = form.cover } = options;
  const genuine: readonly HeaderLine[] = [
    ["Host", url.host],
    ["Accept", "application/json"],
    ["Content-Type", "application/json; charset=utf-8"],
    ["Content-Digest", contentDigest(body)],
    ["Content-Length", String(body.length)],
  ];
  const request: HttpRequest = {
    method: "POST",
    ...addressOf(url),
    headers: options.headers?.(genuine) ?? genuine,
    body,
  };
  const components = cover.map((name) => component(name));
  const parameters = {
    ...(form.created ? { created } : {}),
    ...(expires === undefined ? {} : { expires }),
    ...(key.keyid === null ? {} : { keyid: key.keyid }),
    alg,
  };
  const fields = sign(request, { key, components, parameters, label, signBase });
  return { ...request, headers: [...request.headers, ...fields] };
}
