/** Signatures of others: three npm libraries and the openssl command sign what is verified here, and the reverse. */
import { execFileSync } from "node:child_process";
import { createPrivateKey, createPublicKey, createSign, createVerify, type KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sign as signByLto, verify as verifyByLto } from "@ltonetwork/http-message-signatures";
import { createSignatureSync, verifySignature } from "http-message-sig";
import { createSigner, createVerifier, httpbis } from "http-message-signatures";
import { describe, expect, it } from "vitest";
import { fieldLines, targetUri, type HeaderLine, type HttpRequest } from "../../src/http/message.ts";
import { signatureBase, signatureParams } from "../../src/signatures/base.ts";
import { verify } from "../../src/signatures/verify.ts";
import { temporaryHome } from "../support/home.ts";
import { componentOf, keysOf, vectorFile } from "../support/vectors.ts";
import { COVERED, NOW, OPTIONS, signed, UNSIGNED } from "./signed.ts";
import { KEYS } from "../support/keys.ts";

const ALG = "rsa-v1_5-sha256";

const withSignature = (input: string, signature: string): HttpRequest => {
  const lines: HeaderLine[] = [
    ["Signature-Input", input],
    ["Signature", signature],
  ];
  return { ...UNSIGNED, headers: [...UNSIGNED.headers, ...lines] };
};

const headersOf = ({ headers }: HttpRequest): Record<string, string> =>
  Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));

const lineOf = (headers: Record<string, unknown>, name: string): string => {
  const [, value] = Object.entries(headers).find(([spelled]) => spelled.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(", ") : String(value);
};

const rsaSign = (key: KeyObject) => (data: Uint8Array | string) =>
  createSign("sha256").update(data).sign(key);
const rsaVerify = (data: Uint8Array | string, signature: Uint8Array): boolean =>
  createVerify("sha256").update(data).verify(KEYS.publicKey, signature);

/** What both sides can say: derived components, a port, several parameters, fields of several lines. */
const COVERS: readonly (readonly string[])[] = [
  COVERED,
  ["content-digest"],
  ["@method", "@authority", "@path", "@query", "content-digest"],
  ["content-digest", "content-length", "accept", "host", "@target-uri"],
];

describe("http-message-signatures", () => {
  it.each(COVERS.map((cover) => [cover.join(" "), cover] as const))("signs %s", async (_, cover) => {
    const { headers } = await httpbis.signMessage(
      {
        key: createSigner(KEYS.privateKey, ALG, "k"),
        name: "sig1",
        fields: [...cover],
        params: ["created", "keyid", "alg"],
        paramValues: { created: new Date(NOW * 1000) },
      },
      { method: "POST", url: targetUri(UNSIGNED), headers: headersOf(UNSIGNED) },
    );
    const request = withSignature(lineOf(headers, "signature-input"), lineOf(headers, "signature"));
    expect(verify(request, OPTIONS).code).toBe("ok");
  });

  it("verifies what is signed here", async () => {
    const request = signed(UNSIGNED, COVERED, { created: NOW, keyid: "k", alg: ALG });
    const verified = await httpbis.verifyMessage(
      {
        keyLookup: async () => ({ id: "k", algs: [ALG], verify: createVerifier(KEYS.publicKey, ALG) }),
        notAfter: new Date((NOW + 60) * 1000),
      },
      { method: "POST", url: targetUri(request), headers: headersOf(request) },
    );
    expect(verified).toBe(true);
  });
});

describe("http-message-sig", () => {
  const fields = (request: HttpRequest) => request.headers.map(([name, value]) => ({ name, value }));
  const descriptor = (request: HttpRequest) =>
    ({ kind: "request", method: "POST", targetUri: targetUri(request), fields: fields(request) }) as const;

  it.each(COVERS.map((cover) => [cover.join(" "), cover] as const))("signs %s", (_, cover) => {
    const { signature, signatureInput } = createSignatureSync(descriptor(UNSIGNED), {
      label: "sig1",
      components: cover,
      parameters: { created: NOW, keyid: "k", alg: ALG },
      signer: { algorithm: ALG, sign: rsaSign(KEYS.privateKey) },
    });
    expect(verify(withSignature(signatureInput, signature), OPTIONS).code).toBe("ok");
  });

  it("verifies what is signed here", async () => {
    const request = signed(UNSIGNED, COVERED, { created: NOW, keyid: "k", alg: ALG });
    const { label } = await verifySignature(descriptor(request), {
      label: "sig1",
      policy: { algorithms: [ALG], requiredComponents: COVERED, requiredParameters: ["created"], now: NOW },
      resolveVerifier: () => ({ algorithm: ALG, verify: rsaVerify }),
    });
    expect(label).toBe("sig1");
  });
});

describe("@ltonetwork/http-message-signatures", () => {
  it.each(COVERS.map((cover) => [cover.join(" "), cover] as const))("signs %s", async (_, cover) => {
    const message = { method: "POST", url: targetUri(UNSIGNED), headers: headersOf(UNSIGNED) };
    const { headers } = await signByLto(message, {
      components: [...cover],
      created: new Date(NOW * 1000),
      signer: { keyid: "k", alg: ALG, sign: rsaSign(KEYS.privateKey) },
    });
    const lines: Record<string, unknown> = { ...headers };
    const request = withSignature(lineOf(lines, "signature-input"), lineOf(lines, "signature"));
    expect(verify(request, OPTIONS).code).toBe("ok");
  });

  it("verifies what is signed here", async () => {
    const request = signed(UNSIGNED, COVERED, { created: NOW, keyid: "k", alg: ALG });
    const message = { method: "POST", url: targetUri(request), headers: headersOf(request) };
    expect(await verifyByLto(message, (data, signature) => rsaVerify(data, signature))).toBe(true);
  });
});

describe("the openssl command", () => {
  const { keys } = vectorFile<{ keys: Record<string, { private_pem: string }> }>("keys");
  const privateKey = createPrivateKey(keys["test-key-rsa"]?.private_pem ?? "");
  const publicPem = keysOf(createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString());

  it("signs a base that verifies here, and verifies what is signed here", () => {
    const folder = temporaryHome();
    const file = (name: string, content: string | Uint8Array): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const key = file("key.pem", privateKey.export({ type: "pkcs8", format: "pem" }));
    const components = COVERED.map(componentOf);
    const params = signatureParams(components, new Map([["created", NOW]]));
    const base = signatureBase(components, params, UNSIGNED);
    const input = file("base.txt", base);
    const signature = execFileSync("openssl", ["dgst", "-sha256", "-sign", key, input]);
    const request = withSignature(`sig1=${params}`, `sig1=:${signature.toString("base64")}:`);
    expect(verify(request, { ...OPTIONS, keys: publicPem }).code).toBe("ok");

    const ours = file("ours.sig", rsaSign(privateKey)(base));
    const answer = execFileSync("openssl", ["dgst", "-sha256", "-prverify", key, "-signature", ours, input]);
    expect(answer.toString()).toContain("Verified OK");
  });
});

describe("what they accept and paylink does not", () => {
  it("a changed body: none of them checks it", async () => {
    const request = {
      ...signed(UNSIGNED, COVERED, { created: NOW, keyid: "k", alg: ALG }),
      body: Buffer.from("{}"),
    };
    const message = { method: "POST", url: targetUri(request), headers: headersOf(request) };
    expect(await verifyByLto(message, (data, signature) => rsaVerify(data, signature))).toBe(true);
    expect(verify(request, OPTIONS).code).toBe("content_digest_mismatch");
    expect(fieldLines(request.headers, "content-digest")).toHaveLength(1);
  });
});
