/** Webhooks signed by an independent implementation of RFC 9421, so that signer and verifier share no code. */
import { createHash, randomUUID } from "node:crypto";
import { createSigner, httpbis } from "http-message-signatures";
import { KEYS } from "./keys.ts";
import { vectorFile, type WebhookCase } from "./vectors.ts";

const { vectors } = vectorFile<{ vectors: WebhookCase[] }>("webhook-positive");

/** A record that keeps every rule of the specification, for an approved payment of EUR 10. */
export function approvedRecord(): Record<string, unknown> {
  const body = Buffer.from(vectors[0]?.request.body_base64 ?? "", "base64").toString();
  const record: Record<string, unknown> = JSON.parse(body);
  return { ...record, uti: randomUUID(), amountTrans: 10, transCurrencyCode: "EUR" };
}

interface SignedWebhook {
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

interface SignOptions {
  readonly url: string;
  readonly record?: Record<string, unknown>;
  readonly fields?: readonly string[];
}

/** What the real service signs, and what others sign. */
export const COVERS: readonly (readonly string[])[] = [
  ["content-digest", "content-length", "content-type"],
  ["@method", "@target-uri", "content-digest", "content-type"],
];

export async function signedWebhook({
  url,
  record = approvedRecord(),
  fields = COVERS[0] ?? [],
}: SignOptions): Promise<SignedWebhook> {
  const body = Buffer.from(JSON.stringify(record));
  const request = {
    method: "POST",
    url,
    headers: {
      Host: new URL(url).host,
      Accept: "application/json",
      "Content-Type": "application/json; charset=utf-8",
      "Content-Digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
      "Content-Length": String(body.length),
    },
  };
  const signed = await httpbis.signMessage(
    {
      key: createSigner(KEYS.privateKey, "rsa-v1_5-sha256", "service-key"),
      name: "sig1",
      fields: [...fields],
      params: ["created", "keyid", "alg"],
      paramValues: { created: new Date() },
    },
    request,
  );
  return { headers: signed.headers, body };
}
