/** Keys in every form that a user may have them in. */

import { createPublicKey, generateKeyPairSync, X509Certificate, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkStrength } from "../../src/signatures/key-rules.ts";
import { publicJwk, readKeys, readSigningKey } from "../../src/signatures/keys.ts";
import type { HeaderLine } from "../../src/http/message.ts";
import { privatelyIssued } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";
import { keysOf, vectorFile } from "../support/vectors.ts";
import { KEYS } from "../support/keys.ts";

const rsa = KEYS;
const pem = (key: KeyObject, type: "spki" | "pkcs1" | "pkcs8") => String(key.export({ type, format: "pem" }));
const spki = pem(rsa.publicKey, "spki");

/** The certificate of RFC 9421 B.3, which holds a P-256 key. */
function certificate(): Buffer {
  type Signed = { id: string; message: { headers: HeaderLine[] } };
  const { vectors } = vectorFile<{ vectors: Signed[] }>("rfc9421-signatures");
  const headers = vectors.find(({ id }) => id === "B.3")?.message.headers ?? [];
  const [, value = ""] = headers.find(([name]) => name.toLowerCase() === "client-cert") ?? [];
  return Buffer.from(value.slice(1, -1), "base64");
}

const base64 = (der: Buffer): string => `${der.toString("base64")}\n`;

function armoured(der: Buffer, label: string): string {
  return `-----BEGIN ${label}-----\n${der.toString("base64")}\n-----END ${label}-----\n`;
}

it("reads a text of 270,000 PEM headers in one pass", () => {
  const headers = "-----BEGIN PUBLIC KEY-----\n".repeat(270_000);
  expect(readKeys(headers)).toEqual({ ok: false, message: "it has no key" });
  expect(readKeys(`${headers}${spki}`)).toMatchObject({
    ok: true,
    value: { keys: [{ keyid: null }], warnings: [] },
  });
});

describe("readKeys", () => {
  it.each<[string, string | Uint8Array]>([
    ["PEM", spki],
    ["PEM as bytes, with a byte order mark and CRLF", Buffer.from(`\uFEFF${spki.replaceAll("\n", "\r\n")}`)],
    ["PEM after other text", `my key:\n${spki}`],
    ["PKCS#1", pem(rsa.publicKey, "pkcs1")],
    ["DER", rsa.publicKey.export({ type: "spki", format: "der" })],
    ["DER of PKCS#1", rsa.publicKey.export({ type: "pkcs1", format: "der" })],
    ["bare base64 of DER", base64(rsa.publicKey.export({ type: "spki", format: "der" }))],
    ["bare base64 of PKCS#1", base64(rsa.publicKey.export({ type: "pkcs1", format: "der" }))],
    ["PEM with escaped line breaks", spki.replaceAll("\n", "\\n")],
    ["PEM with escaped CRLF, in quotes", `"${spki.replaceAll("\n", "\\r\\n")}"`],
    ["base64 with escaped line breaks", spki.replaceAll(/-----.*-----\n/g, "").replaceAll("\n", "\\n")],
    ["JWK", JSON.stringify(rsa.publicKey.export({ format: "jwk" }))],
    ["JWKS", ` ${JSON.stringify({ keys: [rsa.publicKey.export({ format: "jwk" })] })}\n`],
  ])("reads %s", (_, text) => {
    const read = readKeys(text);
    expect(read).toMatchObject({ ok: true, value: { warnings: [], keys: [{ keyid: null, alg: null }] } });
    expect(read.ok && read.value.keys[0]?.key.equals(rsa.publicKey)).toBe(true);
  });

  it.each<[string, string | Uint8Array]>([
    ["PEM", pem(rsa.privateKey, "pkcs8")],
    ["PKCS#1", pem(rsa.privateKey, "pkcs1")],
    ["DER", rsa.privateKey.export({ type: "pkcs8", format: "der" })],
    ["DER of PKCS#1", rsa.privateKey.export({ type: "pkcs1", format: "der" })],
    ["JWK", JSON.stringify(rsa.privateKey.export({ format: "jwk" }))],
  ])("uses only the public part of a private key: %s", (_, text) => {
    const read = readKeys(text);
    expect(read.ok && read.value.warnings).toEqual([expect.stringContaining("private key")]);
    expect(read.ok && read.value.keys[0]?.key.type).toBe("public");
  });

  it.each<[string, string | Uint8Array]>([
    ["PEM", armoured(certificate(), "CERTIFICATE")],
    ["DER", certificate()],
  ])("reads a certificate and its dates: %s", (_, text) => {
    const [key] = keysOf(text);
    expect(key?.key.asymmetricKeyType).toBe("ec");
    expect(key?.validity?.from).toBeGreaterThan(1_500_000_000);
    expect(key?.validity?.to).toBeGreaterThan(key?.validity?.from ?? Infinity);
  });

  it("reads several PEM blocks, and keeps the good ones", () => {
    const read = readKeys(`${spki}${armoured(Buffer.from("no key"), "PUBLIC KEY")}${spki}`);
    expect(read.ok && read.value.keys).toHaveLength(2);
    expect(read.ok && read.value.warnings).toHaveLength(1);
  });

  it("takes the first certificate of a chain for the service's", () => {
    const files = privatelyIssued(temporaryHome(), ["service.example"], KEYS);
    const [leaf = "", root = ""] = [files.cert, files.ca].map((file) => readFileSync(file, "utf8"));
    const keys = keysOf(`${leaf}${root}`);
    expect(keys).toHaveLength(1);
    expect(keys[0]?.key.equals(new X509Certificate(leaf).publicKey)).toBe(true);
  });

  it("names a page that is no key", () => {
    expect(readKeys("<!doctype html><title>Sign in</title>")).toMatchObject({
      ok: false,
      message: expect.stringContaining("HTML"),
    });
  });

  it("keeps what a key set says of its keys, and the entries that it can read", () => {
    const jwk = rsa.publicKey.export({ format: "jwk" });
    const entries = [
      { kty: "XYZ" },
      { ...jwk, kid: "a", alg: "RS256", use: "sig", key_ops: ["verify"] },
      null,
    ];
    expect(readKeys(JSON.stringify({ keys: entries }))).toMatchObject({
      ok: true,
      value: {
        keys: [{ keyid: "a", alg: "RS256", use: "sig", keyOps: ["verify"] }],
        warnings: [expect.stringContaining("entry 1"), expect.stringContaining("entry 3")],
      },
    });
  });

  it.each([
    "",
    "hello",
    "{",
    "[]",
    "{}",
    '{"keys":1}',
    '{"keys":[]}',
    armoured(Buffer.from("x"), "PUBLIC KEY"),
  ])("says why there is no key in %j", (text) => {
    const read = readKeys(text);
    expect(read).toEqual({ ok: false, message: expect.stringMatching(/./) });
    expect(readKeys(Buffer.from(text)).ok).toBe(false);
  });
});

describe("strength", () => {
  it.each<[number, number, string | undefined, boolean]>([
    [1024, 65537, "weak_key", false],
    [2040, 65537, "weak_key", false],
    [2048, 65537, undefined, false],
    [2048, 3, undefined, true],
  ])("of %i bits with exponent %i: %s, small exponent: %s", (modulusLength, publicExponent, code, small) => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength, publicExponent });
    const [key] = keysOf(pem(publicKey, "spki"));
    if (key === undefined) throw new Error("no key");
    expect(checkStrength(key)?.reason).toBe(code);
    expect(key.smallExponent).toBe(small);
    expect(key.bits).toBe(modulusLength);
  });
});

describe("signing keys", () => {
  const jwk = JSON.stringify({ ...rsa.privateKey.export({ format: "jwk" }), kid: "mine" });

  it.each<[string, string | Uint8Array, string | null]>([
    ["PEM", pem(rsa.privateKey, "pkcs8"), null],
    ["PKCS#1", pem(rsa.privateKey, "pkcs1"), null],
    ["DER", rsa.privateKey.export({ type: "pkcs8", format: "der" }), null],
    ["JWK", jwk, "mine"],
  ])("reads %s", (_, text, keyid) => {
    const read = readSigningKey(text);
    expect(read).toMatchObject({ ok: true, value: { keyid } });
    expect(read.ok && createPublicKey(read.value.key).equals(rsa.publicKey)).toBe(true);
    expect(readSigningKey(text, "other")).toMatchObject({ value: { keyid: "other" } });
  });

  it.each(["", "{}", "[]", "{", spki, JSON.stringify(rsa.publicKey.export({ format: "jwk" }))])(
    "says why there is no private key in %j",
    (text) => expect(readSigningKey(text)).toEqual({ ok: false, message: expect.stringMatching(/./) }),
  );

  it("publishes the public part alone", () => {
    const published = publicJwk(rsa.privateKey, "k1");
    expect(published).toEqual({
      ...rsa.publicKey.export({ format: "jwk" }),
      kid: "k1",
      use: "sig",
      alg: "RS256",
    });
    expect(publicJwk(rsa.publicKey, "k1")).toEqual(published);
  });
});
