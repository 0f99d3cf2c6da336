/** A webhook of our own, signed with a fresh key, for tests that change one thing about it. */

import { generateKeyPairSync } from "node:crypto";
import type { HttpRequest } from "../../src/http/message.ts";
import { contentDigest } from "../../src/signatures/digest.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { sign } from "../../src/signatures/sign.ts";
import type { VerifyOptions } from "../../src/signatures/verify.ts";
import { componentOf, keysOf } from "../support/vectors.ts";

export const NOW = 1_700_000_000;

export const PAIR = generateKeyPairSync("rsa", { modulusLength: 2048 });

export const OPTIONS: VerifyOptions = {
  keys: keysOf(PAIR.publicKey.export({ type: "spki", format: "pem" })),
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
  const key = { keyid: "k", key: PAIR.privateKey };
  const { fields } = sign(request, { key, components: covered.map(componentOf), parameters });
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
