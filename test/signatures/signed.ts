/** A webhook of our own, signed with the key of the tests, for tests that change one thing about it. */

import type { HttpRequest } from "../../src/http/message.ts";
import { contentDigest } from "../../src/signatures/digest.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { sign } from "../../src/signatures/sign.ts";
import type { VerifyOptions } from "../../src/signatures/verify.ts";
import { componentOf, keysOf } from "../support/vectors.ts";
import { KEYS } from "../support/keys.ts";

export const NOW = 1_700_000_000;

export const OPTIONS: VerifyOptions = {
  keys: keysOf(KEYS.publicPem),
  policy: DEFAULT_POLICY,
  now: NOW,
};

export const COVERED = ["@method", "@target-uri", "content-digest", "content-type"];

const body = Buffer.from('{"status":"Complete"}');

export const UNSIGNED: HttpRequest = {
  method: "POST",
  scheme: "https",
  authority: "merchant.example",
  target: "/webhooks/paylink?src=pl&x=1",
  headers: [
    ["Host", "merchant.example"],
    ["Accept", "application/json"],
    ["Content-Type", "application/json; charset=utf-8"],
    ["Content-Digest", contentDigest(body)],
    ["Content-Length", String(body.length)],
  ],
  body,
};

export function signed(
  request: HttpRequest = UNSIGNED,
  covered: readonly string[] = COVERED,
  parameters: Readonly<Record<string, string | number>> = { created: NOW, keyid: "k" },
): HttpRequest {
  const key = { keyid: "k", key: KEYS.privateKey };
  const fields = sign(request, { key, components: covered.map(componentOf), parameters });
  return { ...request, headers: [...request.headers, ...fields] };
}

/** With its Signature-Input, and Signature where given, replaced by raw text. */
export function withFields(input: string | null, signature: string | null = "sig1=:AAAA:"): HttpRequest {
  return {
    ...UNSIGNED,
    headers: [
      ...UNSIGNED.headers,
      ...(input === null ? [] : [["Signature-Input", input] as const]),
      ...(signature === null ? [] : [["Signature", signature] as const]),
    ],
  };
}
