/** One webhook as the service posts it ("Request headers sent by the service"), signed at this moment. */
import { addressOf, type HttpRequest } from "../http/message.ts";
import { signatureBase, signatureParams } from "../signatures/base.ts";
import { component } from "../signatures/components.ts";
import { contentDigest } from "../signatures/digest.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { DEFAULT_POLICY } from "../signatures/policy.ts";
import { sign } from "../signatures/sign.ts";

/** What the sandbox covers with its signature; a receiver takes whatever cover satisfies its own policy. */
const COVERED = ["@method", "@target-uri", "content-digest", "content-type"].map((name) => component(name));

export interface SignedWebhook {
  readonly request: HttpRequest;
  /** The text that was signed. */
  readonly base: string;
}

export function signedWebhook(url: URL, body: Uint8Array, key: SigningKey, now: Date): SignedWebhook {
  const unsigned: HttpRequest = {
    method: "POST",
    ...addressOf(url),
    headers: [
      ["Host", url.host],
      ["Accept", "application/json"],
      ["Content-Type", "application/json; charset=utf-8"],
      ["Content-Digest", contentDigest(body)],
      ["Content-Length", String(body.length)],
    ],
    body,
  };
  const parameters = {
    created: Math.floor(now.getTime() / 1000),
    ...(key.keyid === null ? {} : { keyid: key.keyid }),
    alg: DEFAULT_POLICY.algorithm,
  };
  const signature = sign(unsigned, { key, components: COVERED, parameters });
  const base = signatureBase(
    COVERED,
    signatureParams(COVERED, new Map(Object.entries(parameters))),
    unsigned,
  );
  return { request: { ...unsigned, headers: [...unsigned.headers, ...signature] }, base };
}
