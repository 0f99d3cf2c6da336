/** Keys in every form that a user may have them in. */

import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isKeyText, sourcesIn } from "../../src/signatures/key-text.ts";
import { checkStrength } from "../../src/signatures/key-rules.ts";
import { publicJwk, readKeys, readSigningKey } from "../../src/signatures/keys.ts";
import type { HeaderLine } from "../../src/http/message.ts";
import { keysOf, vectorFile } from "../support/vectors.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";

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

function armoured(der: Buffer, label: string): string {
  return `-----BEGIN ${label}-----\n${der.toString("base64")}\n-----END ${label}-----\n`;
}

const jwkText = JSON.stringify(rsa.publicKey.export({ format: "jwk" }));
const inBase64 = (text: string | Buffer): string => Buffer.from(text).toString("base64");
const pkcs1 = pem(rsa.publicKey, "pkcs1");

/** As secret stores and variables keep a key, besides the sources of `key-sources.json`. */
const KEPT: Readonly<Record<string, string | Uint8Array>> = {
  "base64 of an indented JWK": inBase64(JSON.stringify(JSON.parse(jwkText), undefined, 2)),
  "base64 of a JWKS": inBase64(`{"keys":[${jwkText}]}`),
  "base64 of a list of JWKs": inBase64(`[${jwkText}]`),
  "base64 of a PEM of PKCS#1": inBase64(pkcs1),
  "base64 of base64 of a PEM": inBase64(inBase64(spki)),
  "base64url of a PEM": Buffer.from(spki).toString("base64url"),
  "bytes of base64 of a PEM": Buffer.from(`${inBase64(spki)}\n`),
  "base64 with escaped line breaks": spki.replaceAll(/-----.*-----\n/g, "").replaceAll("\n", "\\n"),
  "bare base64 of PKCS#1": `${rsa.publicKey.export({ type: "pkcs1", format: "der" }).toString("base64")}\n`,
  "a JWK with escaped quotes": `"${jwkText.replaceAll('"', '\\"')}"`,
  "quoted base64 of a PEM": `'${inBase64(spki)}'`,
  "a quoted PEM": `"${spki}"`,
  "a quoted PEM with escaped CRLF": `"${spki.replaceAll("\n", "\\r\\n")}"`,
  "a PEM with CR alone": spki.replaceAll("\n", "\r"),
  "a PEM that was escaped twice": spki.replaceAll("\n", "\\\\n"),
  "a PEM that was escaped three times": spki.replaceAll("\n", "\\\\\\n"),
  "PKCS#1 with the label of SPKI": pkcs1.replaceAll("RSA PUBLIC KEY", "PUBLIC KEY"),
  "a PEM whose line breaks a runner has encoded": spki.replaceAll("\n", "%0A"),
  "a PEM that was encoded as in a URL": encodeURIComponent(spki),
  "a PEM with the dashes of a word processor": spki.replaceAll("-----", "\u2014\u2013-"),
  "a PEM of two labels": spki.replace("END PUBLIC KEY", "END RSA PUBLIC KEY"),
};

const privateJwk = JSON.stringify(rsa.privateKey.export({ format: "jwk" }));
const encrypted = (type: "pkcs8" | "pkcs1"): string =>
  String(rsa.privateKey.export({ type, format: "pem", cipher: "aes-256-cbc", passphrase: "s" }));
const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");

/** What is refused, and the words that name it. */
const NAMED: Readonly<Record<string, readonly [given: string | Uint8Array, words: string]>> = {
  "a private PEM": [pem(rsa.privateKey, "pkcs8"), "a private key"],
  "a private PEM of PKCS#1": [pem(rsa.privateKey, "pkcs1"), "a private key"],
  "a private PEM with a public label": [
    pem(rsa.privateKey, "pkcs8").replaceAll("PRIVATE", "PUBLIC"),
    "a private key",
  ],
  "base64 of a private PEM": [inBase64(pem(rsa.privateKey, "pkcs8")), "a private key"],
  "private DER": [rsa.privateKey.export({ type: "pkcs8", format: "der" }), "a private key"],
  "base64 of private DER": [
    inBase64(rsa.privateKey.export({ type: "pkcs1", format: "der" })),
    "a private key",
  ],
  "a private JWK": [privateJwk, "a private key"],
  "a private JWK in an envelope": [`{"data":${privateJwk}}`, "a private key"],
  "base64 of a private JWK": [inBase64(privateJwk), "a private key"],
  "an encrypted private PEM": [encrypted("pkcs8"), "an encrypted private key"],
  "an encrypted private PEM of PKCS#1": [encrypted("pkcs1"), "an encrypted private key"],
  "a shared secret": [JSON.stringify({ kty: "oct", k: "c2VjcmV0LXNlY3JldC1zZWNyZXQ" }), "a shared secret"],
  "UTF-16 with a byte order mark": [utf16(`\uFEFF${spki}`), "UTF-16"],
  "UTF-16": [utf16(spki), "UTF-16"],
  "UTF-16, the other way": [utf16(`\uFEFF${spki}`).swap16(), "UTF-16"],
  "an OpenSSH key": [`ssh-rsa ${inBase64(Buffer.alloc(200, 7))} me@host`, "OpenSSH"],
  "a private key of OpenSSH": [
    armoured(Buffer.concat([Buffer.from("openssh-key-v1\0"), Buffer.alloc(90)]), "OPENSSH PRIVATE KEY"),
    'PEM block "OPENSSH PRIVATE KEY"',
  ],
  "an XML key": ["<RSAKeyValue><Modulus>AQAB</Modulus></RSAKeyValue>", "RSAKeyValue"],
  "a PEM that was cut": [spki.slice(0, 200), "without its END line"],
  "a JWK that was cut": [jwkText.slice(0, 200), "is not valid JSON"],
  "a private JWK that was cut": [privateJwk.slice(0, 900), "is not valid JSON"],
  "base64 of noise": [inBase64(Buffer.alloc(300, 0xa7)), "not PEM, DER"],
  "a certificate request": [
    armoured(Buffer.from([0x30, 3, 2, 1, 5]), "CERTIFICATE REQUEST"),
    "neither a public key nor a certificate",
  ],
};

it("takes each file and URL on a line of a text for a source, and the rest for one", () => {
  expect(sourcesIn("/keys/a.pem\nhttps://pay.example/jwks\r\n")).toEqual([
    "/keys/a.pem",
    "https://pay.example/jwks",
  ]);
  expect(sourcesIn(`a.pem\n${spki}`)).toEqual(["a.pem", spki]);
  for (const text of [spki, `subject=CN = shop.example\n${spki}`, "a.pem", inBase64(spki)])
    expect(sourcesIn(text)).toEqual([text]);
});

it("reads several texts of base64 between commas", () => {
  const both = [rsa, OTHER_KEYS].map(({ publicKey }) => publicKey.export({ type: "spki", format: "der" }));
  expect(readKeys(both.map((der) => der.toString("base64")).join(",")).keys).toHaveLength(2);
});

it("reads a text of 270,000 PEM headers, and one of brackets and quotes, in one pass", () => {
  const headers = "-----BEGIN PUBLIC KEY-----\n".repeat(270_000);
  expect(readKeys(headers)).toEqual({ keys: [], remarks: ["it is PEM text without its END line"] });
  expect(readKeys(`${headers}${spki}`)).toMatchObject({
    keys: [{ keyid: null }],
    remarks: ["270000 PEM blocks without BEGIN or END line: the text was cut"],
  });
  for (const text of ['{"\\"'.repeat(200_000), "[{".repeat(200_000), `${"=\n".repeat(200_000)}{`])
    expect(readKeys(text).keys).toEqual([]);
});

it("reads a set of 6,579 small keys no further than 500 entries", () => {
  const small = generateKeyPairSync("rsa", { modulusLength: 512 }).publicKey.export({ format: "jwk" });
  const set = { keys: Array.from({ length: 6579 }, (_, at) => ({ ...small, kid: `k${at}` })) };
  const { keys, remarks } = readKeys(JSON.stringify(set));
  expect([keys.length, remarks.at(-1)]).toEqual([500, "only the first 500 of its 6579 entries are read"]);
});

describe("readKeys", () => {
  it.each(Object.entries(KEPT))("reads a key that is kept as %s", (_, kept) => {
    const { keys, remarks } = readKeys(kept);
    expect([keys.length > 0, remarks]).toEqual([true, []]);
    expect(keys.every(({ key }) => key.equals(rsa.publicKey))).toBe(true);
    if (typeof kept === "string") expect(isKeyText(kept)).toBe(true);
  });

  it.each(Object.entries(NAMED))("names the form of %s, and quotes nothing of it", (_, [given, words]) => {
    const { keys, remarks } = readKeys(given);
    expect([keys, remarks]).toEqual([[], [expect.stringContaining(words)]]);
    const message = remarks.join();
    const text = Buffer.from(given).toString();
    for (let at = 0; at + 24 < text.length; at += 8) expect(message).not.toContain(text.slice(at, at + 24));
    expect(message).not.toMatch(/error:|DECODER|ASN|unexpected/i);
    if (typeof given === "string") expect(isKeyText(given)).toBe(true);
  });

  it("does not read a path or an address as a key", () => {
    for (const place of [
      "service.pem",
      "/etc/paylink/keys/service-public-key",
      "MyKeys/production/service.pem",
      "./keys/MIIBIjANBgkq.der",
      "C:\\keys\\n.pem",
      "https://pay.example/.well-known/jwks.json?set=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA",
      `/srv/${"deep/".repeat(60)}key`,
    ])
      expect([place, isKeyText(place)]).toEqual([place, false]);
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

  it("keeps what a key set says of its keys, and the entries that it can read", () => {
    const jwk = rsa.publicKey.export({ format: "jwk" });
    const entries = [
      { kty: "XYZ" },
      { ...jwk, kid: "a", alg: "RS256", use: "sig", key_ops: ["verify"] },
      null,
    ];
    expect(readKeys(JSON.stringify({ keys: entries }))).toMatchObject({
      keys: [{ keyid: "a", alg: "RS256", use: "sig", keyOps: ["verify"] }],
      remarks: [expect.stringContaining("entry 1"), expect.stringContaining("entry 3")],
    });
  });

  it.each([
    "",
    "hello",
    "{",
    "{}",
    '{"keys":1}',
    "<!doctype html>",
    armoured(Buffer.from("x"), "PUBLIC KEY"),
  ])("says why there is no key in %j", (text) => {
    for (const source of [text, Buffer.from(text)])
      expect(readKeys(source)).toEqual({ keys: [], remarks: [expect.stringMatching(/./)] });
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
