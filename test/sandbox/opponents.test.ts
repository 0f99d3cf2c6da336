/** The sandbox's webhooks, verified by two other implementations of RFC 9421 and by the openssl command. */
import { execFileSync } from "node:child_process";
import { createPublicKey, createVerify } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { verify as verifyByLto } from "@ltonetwork/http-message-signatures";
import { createVerifier, httpbis } from "http-message-signatures";
import { describe, expect, it } from "vitest";
import { fieldLines, targetUri, type HttpRequest } from "../../src/http/message.ts";
import {
  COMPONENT_NAMES,
  DERIVED_COVER,
  SERVICE_COVER,
  type SignatureForm,
} from "../../src/signatures/cover.ts";
import { temporaryHome } from "../support/home.ts";
import { NOW, openTestSandbox, paidRecord } from "../support/sandbox.ts";

const ALG = "rsa-v1_5-sha256";

interface Delivered {
  readonly webhook: HttpRequest;
  /** The text that was signed, as the dashboard shows it. */
  readonly base: string;
  readonly publicPem: string;
}

/** The webhook of one payment. */
async function delivered(form?: SignatureForm): Promise<Delivered> {
  const service = openTestSandbox(form === undefined ? {} : { form });
  await paidRecord(service);
  const [webhook] = service.posted;
  if (webhook === undefined) throw new Error("no webhook was delivered");
  const publicPem = createPublicKey(service.identity.privateKey).export({ type: "spki", format: "pem" });
  const [delivery] = service.ledger.deliveries({ limit: 1, now: NOW }).rows;
  const page = (await service.browse("GET", `/deliveries/${delivery?.id}`)).text;
  const [, base = ""] = /<pre id="base"[^>]*>([^<]*)</.exec(page) ?? [];
  return { webhook, base: base.replaceAll("&quot;", '"'), publicPem: publicPem.toString() };
}

const messageOf = (webhook: HttpRequest) => ({
  method: webhook.method,
  url: targetUri(webhook),
  headers: Object.fromEntries(webhook.headers.map(([name, value]) => [name.toLowerCase(), value])),
});

const FORMS: readonly (readonly [string, SignatureForm])[] = [
  ["header fields", { cover: SERVICE_COVER, created: true }],
  ["header fields without created", { cover: SERVICE_COVER, created: false }],
  ["derived components", { cover: DERIVED_COVER, created: true }],
  ["everything without created", { cover: COMPONENT_NAMES, created: false }],
];

it("covers header fields only by default", async () => {
  const { webhook } = await delivered();
  const [input = ""] = fieldLines(webhook.headers, "signature-input");
  expect(input).toMatch(
    /^sig1=\("content-digest" "content-length" "content-type"\);created=\d+;keyid="sandbox-\w+";alg="rsa-v1_5-sha256"$/,
  );
  expect(webhook.headers.map(([name]) => name)).toEqual([
    "Host",
    "Accept",
    "Content-Type",
    "Content-Digest",
    "Content-Length",
    "Signature-Input",
    "Signature",
  ]);
});

describe.each(FORMS)("a signature over %s", (_, form) => {
  it("verifies with http-message-signatures", async () => {
    const { webhook, publicPem } = await delivered(form);
    const key = { algs: [ALG], verify: createVerifier(publicPem, ALG) };
    const verified = await httpbis.verifyMessage(
      {
        requiredFields: [...form.cover],
        keyLookup: async () => key,
        notAfter: new Date(NOW.getTime() + 60_000),
      },
      messageOf(webhook),
    );
    expect(verified).toBe(true);
    const other = { ...messageOf(webhook), headers: { ...messageOf(webhook).headers } };
    other.headers["content-digest"] = "sha-256=:AAAA:";
    expect(await httpbis.verifyMessage({ keyLookup: async () => key }, other)).toBe(false);
  });

  it("verifies with openssl, over the base that the dashboard shows", async () => {
    const { webhook, base, publicPem } = await delivered(form);
    const folder = temporaryHome();
    const file = (name: string, content: string | Uint8Array): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const [signature = ""] = fieldLines(webhook.headers, "signature");
    const bytes = Buffer.from(signature.slice("sig1=:".length, -1), "base64");
    const args = ["-verify", file("key.pem", publicPem), "-signature", file("sig", bytes)];
    const answer = execFileSync("openssl", ["dgst", "-sha256", ...args, file("base", base)]);
    expect(answer.toString()).toContain("Verified OK");
    expect(base.split("\n").slice(0, -1)).toEqual(
      form.cover.map((name) => expect.stringMatching(new RegExp(`^"${name}": `))),
    );
  });
});

/** Without @request-target, which this library takes from a draft of the standard. */
const LTO_FORMS = FORMS.filter(([, { cover }]) => !cover.includes("@request-target"));

it.each(LTO_FORMS)("verifies with @ltonetwork/http-message-signatures: %s", async (_, form) => {
  const { webhook, publicPem } = await delivered(form);
  const verifies = (data: Uint8Array | string, signature: Uint8Array): boolean =>
    createVerify("sha256").update(data).verify(publicPem, signature);
  expect(await verifyByLto(messageOf(webhook), verifies)).toBe(true);
});
