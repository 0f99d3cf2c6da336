/** Signs a webhook as the service does ("Request headers sent by the service"). */
import type { HttpRequest } from "../../http/message.ts";
import { signatureBase, signatureParams } from "../../signatures/base.ts";
import { component } from "../../signatures/components.ts";
import { contentDigest } from "../../signatures/digest.ts";
import type { SigningKey } from "../../signatures/keys.ts";
import { DEFAULT_POLICY } from "../../signatures/policy.ts";
import { sign } from "../../signatures/sign.ts";

const DEFAULT_COVER = ["@method", "@target-uri", "content-digest", "content-type"] as const;

export interface SigningOptions {
  readonly url: URL;
  readonly key: SigningKey;
  readonly created: Date;
  /** The covered components; a receiver accepts every cover that satisfies its policy. */
  readonly cover?: readonly string[];
}

export interface SignedWebhook {
  readonly request: HttpRequest;
  /** The text that was signed. */
  readonly base: string;
}

export function signWebhook(
  body: Uint8Array,
  { url, key, created, cover = DEFAULT_COVER }: SigningOptions,
): SignedWebhook {
  const unsigned: HttpRequest = {
    method: "POST",
    scheme: url.protocol === "https:" ? "https" : "http",
    authority: url.host,
    target: `${url.pathname}${url.search}`,
    headers: [
      ["Host", url.host],
      ["Accept", "application/json"],
      ["Content-Type", "application/json; charset=utf-8"],
      ["Content-Digest", contentDigest(body)],
      ["Content-Length", String(body.length)],
    ],
    body,
  };
  const components = cover.map((name) => component(name));
  const parameters = {
    created: Math.floor(created.getTime() / 1000),
    ...(key.keyid === null ? {} : { keyid: key.keyid }),
    alg: DEFAULT_POLICY.algorithm,
  };
  const signature = sign(unsigned, { key, components, parameters });
  const params = signatureParams(components, new Map(Object.entries(parameters)));
  const base = signatureBase(components, params, unsigned);
  return { request: { ...unsigned, headers: [...unsigned.headers, ...signature] }, base };
}
