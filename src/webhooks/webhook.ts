/** Webhooks as the service posts them: a body, the headers of the specification, and a signature over both. */
import type { HeaderLine, HttpRequest } from "../http/message.ts";
import type { Algorithm } from "../signatures/algorithms.ts";
import { component } from "../signatures/components.ts";
import { contentDigest } from "../signatures/digest.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { DEFAULT_POLICY } from "../signatures/policy.ts";
import { sign } from "../signatures/sign.ts";

/** Who signs, where to, and when. */
export interface Sender {
  readonly url: URL;
  readonly key: SigningKey;
  /** Unix seconds. */
  readonly now: number;
}

/** What may be unlike a webhook of the service. */
export interface Departures {
  readonly method?: string;
  readonly covered?: readonly string[];
  readonly label?: string;
  readonly created?: number;
  readonly expires?: number;
  readonly algorithm?: Algorithm;
  /** What the message says of its algorithm, whatever signs it. */
  readonly alg?: string;
  readonly key?: SigningKey;
  /** The headers of the request before it is signed, from those of a genuine one. */
  readonly headers?: (headers: readonly HeaderLine[]) => readonly HeaderLine[];
}

export const COVERED = ["@method", "@target-uri", "content-digest", "content-type"] as const;

/** "Request headers sent by the service", in its order. */
export function signedWebhook(body: Uint8Array, sender: Sender, departures: Departures = {}): HttpRequest {
  const { url, now } = sender;
  const { key = sender.key, algorithm = DEFAULT_POLICY.algorithm, covered = COVERED } = departures;
  const genuine: readonly HeaderLine[] = [
    ["Host", url.host],
    ["Accept", "application/json"],
    ["Content-Type", "application/json; charset=utf-8"],
    ["Content-Digest", contentDigest(body)],
    ["Content-Length", String(body.length)],
  ];
  const request: HttpRequest = {
    method: departures.method ?? "POST",
    scheme: url.protocol === "https:" ? "https" : "http",
    authority: url.host,
    target: `${url.pathname}${url.search}`,
    headers: departures.headers?.(genuine) ?? genuine,
    body,
  };
  const signature = sign(request, {
    key,
    components: covered.map((name) => component(name)),
    parameters: {
      created: departures.created ?? now,
      ...(departures.expires === undefined ? {} : { expires: departures.expires }),
      ...(key.keyid === null ? {} : { keyid: key.keyid }),
      alg: departures.alg ?? algorithm,
    },
    algorithm,
    ...(departures.label === undefined ? {} : { label: departures.label }),
  });
  return { ...request, headers: [...request.headers, ...signature] };
}
