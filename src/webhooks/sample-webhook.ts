/** Webhooks as the service posts them: a body, the headers of the specification, and a signature over both. */
import { addressOf, type HeaderLine, type HttpRequest } from "../http/message.ts";
import type { Algorithm } from "../signatures/algorithms.ts";
import { component } from "../signatures/components.ts";
import { contentDigest } from "../signatures/digest.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { DEFAULT_POLICY } from "../signatures/policy.ts";
import { sign } from "../signatures/sign.ts";

export interface WebhookOptions {
  readonly url: URL;
  readonly key: SigningKey;
  /** Unix seconds. */
  readonly created: number;
}

/** Ways in which a tampered webhook differs from the service's. */
interface Differences {
  readonly method?: string;
  readonly cover?: readonly string[];
  readonly label?: string;
  readonly expires?: number;
  readonly algorithm?: Algorithm;
  /** The signature's `alg`, whatever the algorithm. */
  readonly alg?: string;
  /** Changes the headers before they are signed. */
  readonly headers?: (headers: readonly HeaderLine[]) => readonly HeaderLine[];
}

export const COVERED = ["@method", "@target-uri", "content-digest", "content-type"] as const;

/** "Request headers sent by the service", in its order. */
export function signedWebhook(body: Uint8Array, options: WebhookOptions & Differences): HttpRequest {
  const { url, key, created, expires, label } = options;
  const { algorithm = DEFAULT_POLICY.algorithm, cover = COVERED } = options;
  const genuine: readonly HeaderLine[] = [
    ["Host", url.host],
    ["Accept", "application/json"],
    ["Content-Type", "application/json; charset=utf-8"],
    ["Content-Digest", contentDigest(body)],
    ["Content-Length", String(body.length)],
  ];
  const request: HttpRequest = {
    method: options.method ?? "POST",
    ...addressOf(url),
    headers: options.headers?.(genuine) ?? genuine,
    body,
  };
  const signature = sign(request, {
    key,
    components: cover.map((name) => component(name)),
    parameters: {
      created,
      ...(expires === undefined ? {} : { expires }),
      ...(key.keyid === null ? {} : { keyid: key.keyid }),
      alg: options.alg ?? algorithm,
    },
    algorithm,
    ...(label === undefined ? {} : { label }),
  });
  return { ...request, headers: [...request.headers, ...signature] };
}
