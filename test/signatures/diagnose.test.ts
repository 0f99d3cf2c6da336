/** Captures broken in one known way, or in two, and the diagnosis that must name just that. */
import { createHash, createPublicKey, generateKeyPairSync, sign as cryptoSign, constants } from "node:crypto";
import { constants as zlib, gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { ALGORITHMS } from "../../src/signatures/algorithms.ts";
import { signatureBase, signatureParams } from "../../src/signatures/base.ts";
import { diagnose } from "../../src/signatures/diagnose/diagnose.ts";
import { contentDigest } from "../../src/signatures/digest.ts";
import { publicJwk, type VerificationKey } from "../../src/signatures/keys.ts";
import { verify, type VerifyOptions } from "../../src/signatures/verify.ts";
import { componentOf, keysOf } from "../support/vectors.ts";
import { COVERED, NOW, OPTIONS, signed, UNSIGNED } from "./signed.ts";
import { KEYS, otherKeys } from "../support/keys.ts";

/** As the service writes it, with everything that a serialiser might write otherwise. */
const BODY = '{"uti":"a/b","amountTrans":10.00,"amountGratuity":0,"merchantName":"Café","status":"Complete"}';

function webhook(body: string | Uint8Array = BODY, more: readonly HeaderLine[] = []): HttpRequest {
  const bytes = Buffer.from(body);
  return {
    ...UNSIGNED,
    headers: [
      ["Host", "merchant.example"],
      ["Content-Type", "application/json; charset=utf-8"],
      ["Content-Digest", contentDigest(bytes)],
      ["Content-Length", String(bytes.length)],
      ...more,
    ],
    body: bytes,
  };
}

const withBody = (request: HttpRequest, body: string | Uint8Array): HttpRequest => ({
  ...request,
  body: Buffer.from(body),
});

function withHeader(request: HttpRequest, name: string, ...values: string[]): HttpRequest {
  const kept = request.headers.filter(([spelled]) => spelled.toLowerCase() !== name);
  return { ...request, headers: [...kept, ...values.map((value): HeaderLine => [name, value])] };
}

/** The code, and the variants that were named. */
function diagnosis(request: HttpRequest, options: VerifyOptions = OPTIONS): string[] {
  const verdict = verify(request, options);
  return [verdict.code, ...diagnose(request, options, verdict).map(({ variant }) => variant)];
}

/** Signed by a signer that spells the base, or signs it, in its own way. */
function signedOtherwise(
  spell: (base: string) => string | Uint8Array,
  covered: readonly string[] = COVERED,
  request: HttpRequest = webhook(),
  signer: (base: Uint8Array) => Buffer = (base) => ALGORITHMS["rsa-v1_5-sha256"].sign(base, KEYS.privateKey),
): HttpRequest {
  const components = covered.map(componentOf);
  const params = signatureParams(components, new Map([["created", NOW]]));
  const base = spell(signatureBase(components, params, request));
  const signature = signer(typeof base === "string" ? Buffer.from(base) : base).toString("base64");
  const lines: HeaderLine[] = [
    ["Signature-Input", `sig1=${params}`],
    ["Signature", `sig1=:${signature}:`],
  ];
  return { ...request, headers: [...request.headers, ...lines] };
}

const parsed: unknown = JSON.parse(BODY);
const ascii = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("a body that changed on its way", () => {
  it.each<[string, string | Uint8Array, string | Uint8Array, string]>([
    ["parsed and serialised by JavaScript", BODY, JSON.stringify(parsed), "body re-serialised"],
    ["pretty-printed", BODY, JSON.stringify(parsed, null, 2), "body re-serialised"],
    ["minified", JSON.stringify(parsed, null, 4), JSON.stringify(parsed), "body re-serialised"],
    [
      "spaced as Python does",
      BODY,
      BODY.replaceAll('":', '": ').replaceAll(',"', ', "'),
      "body re-serialised",
    ],
    ["escaped to ASCII", BODY, ascii(BODY), "body re-serialised"],
    ["unescaped", ascii(BODY).replace("a/b", String.raw`a\/b`), JSON.stringify(parsed), "body re-serialised"],
    ["a newline added", BODY, `${BODY}\n`, "trailing newline added"],
    ["CRLF added", BODY, `${BODY}\r\n`, "trailing newline added"],
    ["a newline lost", `${BODY}\n`, BODY, "trailing newline lost"],
    ["LF for CRLF", '{"a":1,\r\n"b":\r\n2}', '{"a":1,\n"b":\n2}', "CRLF"],
    ["CRLF for LF", '{"a":1,\n"b":\n2}', '{"a":1,\r\n"b":\r\n2}', "CRLF"],
    ["gzip undone", gzipSync(BODY), BODY, "gzip undone"],
    ["gzip added", BODY, gzipSync(BODY), "gzip added"],
    ["decoded as latin1", BODY, Buffer.from(Buffer.from(BODY).toString("latin1"), "utf8"), "body re-encoded"],
    ["encoded as latin1", BODY, Buffer.from(BODY, "latin1"), "body re-encoded"],
    ["a byte order mark added", BODY, `\uFEFF${BODY}`, "byte order mark"],
    ["serialised twice", BODY, JSON.stringify(BODY), "body encoded twice"],
  ])("%s", (_, sent, received, variant) => {
    expect(diagnosis(withBody(signed(webhook(sent)), received))).toEqual([
      "content_digest_mismatch",
      variant,
    ]);
  });

  it.each<[string, string | Uint8Array, string | Uint8Array, string]>([
    ["re-serialised, with a newline", BODY, `${JSON.stringify(parsed)}\n`, "body re-serialised"],
    ["gzip undone and CRLF", gzipSync('{"a":1,\r\n"b":\r\n2}'), '{"a":1,\n"b":\n2}', "CRLF + gzip undone"],
    ["CRLF and a newline", '{"a":1,\r\n"b":\r\n2}', '{"a":1,\n"b":\n2}\n', "trailing newline added + CRLF"],
  ])("in two ways: %s", (_, sent, received, variants) => {
    expect(diagnosis(withBody(signed(webhook(sent)), received))).toEqual([
      "content_digest_mismatch",
      variants,
    ]);
  });

  it("was read already", () => {
    expect(diagnosis(withBody(signed(webhook()), ""))).toEqual([
      "content_digest_mismatch",
      "the body was read already",
    ]);
  });

  it("says how each framework gives the bytes", () => {
    const request = withBody(signed(webhook()), JSON.stringify(parsed));
    const [hint] = diagnose(request, OPTIONS, verify(request, OPTIONS));
    for (const word of ["express.raw", "addContentTypeParser", "Next.js", "arrayBuffer", "Hono"])
      expect(hint?.advice).toContain(word);
  });

  it("is not explained if another record arrived", () => {
    expect(diagnosis(withBody(signed(webhook()), BODY.replace("10.00", "99.00")))).toEqual([
      "content_digest_mismatch",
    ]);
  });

  it("is searched within bounds", () => {
    const large = `{${Array.from({ length: 60_000 }, (_, at) => `"m${at}": ${at}`).join(",")}}`;
    const request = withBody(signed(webhook(large)), large.replace("1", "2"));
    expect(diagnosis(request)).toEqual(["content_digest_mismatch"]);
  });
});

describe("another address", () => {
  const covered = ["@method", "@target-uri", "@authority", "content-digest", "content-type"];
  const good = signed(webhook(), covered);

  it.each<[string, HttpRequest, string]>([
    ["http for https", { ...good, scheme: "http" }, "scheme=https"],
    [
      "the proxy's host, and X-Forwarded-Host",
      { ...withHeader(good, "x-forwarded-host", "merchant.example"), authority: "10.0.0.7:8080" },
      "authority=merchant.example",
    ],
    [
      "the proxy's host, and Forwarded",
      {
        ...withHeader(good, "forwarded", 'for=1.2.3.4;host="merchant.example";proto=https'),
        authority: "app:3000",
      },
      "authority=merchant.example",
    ],
    ["another host than Host says", { ...good, authority: "localhost:4000" }, "authority=merchant.example"],
    [
      "a port that was not signed",
      { ...good, authority: "merchant.example:8443" },
      "authority=merchant.example",
    ],
    [
      "http, and another host",
      { ...good, scheme: "http", authority: "localhost:4000" },
      "scheme=https + authority=merchant.example",
    ],
    [
      "a trailing ?",
      { ...signed({ ...webhook(), target: "/hook" }), target: "/hook?" },
      "without the trailing ?",
    ],
    [
      "a trailing slash",
      { ...signed({ ...webhook(), target: "/hook" }), target: "/hook/" },
      "without the trailing slash",
    ],
    [
      "a prefix cut off",
      {
        ...withHeader(signed({ ...webhook(), target: "/api/hook" }), "x-forwarded-prefix", "/api"),
        target: "/hook",
      },
      "target=/api/hook",
    ],
  ])("%s", (_, request, variant) => {
    expect(diagnosis(request)).toEqual(["signature_invalid", variant]);
  });

  it("a port that was signed and lost", () => {
    const ported = signed({ ...webhook(), authority: "merchant.example:8443" }, covered);
    const lost = { ...withHeader(ported, "x-forwarded-port", "8443"), authority: "merchant.example" };
    expect(diagnosis(lost)).toEqual(["signature_invalid", "authority=merchant.example:8443"]);
  });

  it("gives the address to pass as --public-url", () => {
    const request: HttpRequest = { ...good, scheme: "http", authority: "localhost:4000" };
    const [hint] = diagnose(request, OPTIONS, verify(request, OPTIONS));
    expect(hint?.advice).toContain("--public-url https://merchant.example/webhooks/paylink");
  });

  it("together with a body that changed", () => {
    const request: HttpRequest = { ...withBody(good, `${BODY}\n`), scheme: "http" };
    expect(diagnosis(request)).toEqual(["signature_invalid", "scheme=https", "trailing newline added"]);
  });
});

describe("other headers", () => {
  it.each<[string, string, HttpRequest]>([
    [
      "the charset stripped",
      "content-type=application/json; charset=utf-8",
      withHeader(signed(webhook()), "content-type", "application/json"),
    ],
    [
      "the charset respelled",
      "content-type=application/json; charset=utf-8",
      withHeader(signed(webhook()), "content-type", "application/json;charset=UTF-8"),
    ],
    [
      "lines reordered",
      "x-tag lines reordered",
      withHeader(
        signed(
          webhook(BODY, [
            ["X-Tag", "a"],
            ["X-Tag", "b"],
          ]),
          [...COVERED, "x-tag"],
        ),
        "x-tag",
        "b",
        "a",
      ),
    ],
    [
      "lines joined without a space",
      "x-tag lines joined",
      withHeader(
        signed(
          webhook(BODY, [
            ["X-Tag", "a"],
            ["X-Tag", "b"],
          ]),
          [...COVERED, "x-tag"],
        ),
        "x-tag",
        "a,b",
      ),
    ],
    [
      "a line joined with one",
      "x-tag lines joined",
      withHeader(signed(webhook(BODY, [["X-Tag", "a,b"]]), [...COVERED, "x-tag"]), "x-tag", "a", "b"),
    ],
    [
      "a line added",
      "x-tag: the first line alone",
      withHeader(signed(webhook(BODY, [["X-Tag", "a"]]), [...COVERED, "x-tag"]), "x-tag", "a", "b"),
    ],
    [
      "Content-Length of the body at hand",
      `content-length=${Buffer.byteLength(BODY)}`,
      withHeader(signed(webhook(), [...COVERED, "content-length"]), "content-length", "7"),
    ],
    [
      "Host replaced by the proxy's",
      "host=merchant.example",
      withHeader(signed(webhook(), [...COVERED, "host"]), "host", "app:3000"),
    ],
  ])("%s", (_, variant, request) => {
    expect(diagnosis(request)).toEqual(["signature_invalid", variant]);
  });

  it.each<[string, string, string, HttpRequest]>([
    [
      "Content-Type lost",
      "component_missing",
      "content-type=application/json; charset=utf-8",
      withHeader(signed(webhook()), "content-type"),
    ],
    [
      "Content-Type twice",
      "duplicate_header",
      "content-type: the first line alone",
      withHeader(signed(webhook()), "content-type", "application/json; charset=utf-8", "text/plain"),
    ],
    [
      "Content-Encoding lost",
      "component_missing",
      "content-encoding=gzip",
      withHeader(
        signed(webhook(BODY, [["Content-Encoding", "gzip"]]), [...COVERED, "content-encoding"]),
        "content-encoding",
      ),
    ],
  ])("%s", (_, code, variant, request) => {
    expect(diagnosis(request)).toEqual([code, variant]);
  });

  it("two at once", () => {
    const request = withHeader(signed(webhook()), "content-type", "application/json");
    expect(diagnosis({ ...request, scheme: "http" })).toEqual([
      "signature_invalid",
      "scheme=https + content-type=application/json; charset=utf-8",
    ]);
  });

  it("parameters, or components, in another order", () => {
    const request = signed(webhook(), ["@method", "content-digest"]);
    const input = request.headers.find(([name]) => name === "Signature-Input")?.[1] ?? "";
    const swapped = input.replace(/(;created=\d+)(;keyid="k")/, "$2$1");
    const reversed = input.replace('"@method" "content-digest"', '"content-digest" "@method"');
    expect(diagnosis(withHeader(request, "signature-input", swapped))).toEqual([
      "signature_invalid",
      "signature parameters reordered",
    ]);
    expect(diagnosis(withHeader(request, "signature-input", reversed))).toEqual([
      "signature_invalid",
      "covered components reordered",
    ]);
  });
});

describe("another key or algorithm", () => {
  const other = otherKeys();
  const [first, second] = [KEYS, other].map(({ publicKey }, at): VerificationKey => {
    const [key] = keysOf(JSON.stringify(publicJwk(publicKey, `key-${at}`)));
    if (key === undefined) throw new Error("no key");
    return key;
  });
  if (first === undefined || second === undefined) throw new Error("no keys");
  const both = { ...OPTIONS, keys: [first, second] };

  it("names the configured key that verifies", () => {
    const request = signed(webhook(), COVERED, { created: NOW, keyid: "key-1" });
    expect(diagnosis(request, both)).toEqual(["signature_invalid", "key=key-0"]);
    const unknown = signed(webhook(), COVERED, { created: NOW, keyid: "rotated" });
    expect(diagnosis(unknown, both)).toEqual(["key_not_found", "key=key-0"]);
  });

  it("names a key that was not tried because there are too many", () => {
    const unnamed = signed(webhook(), COVERED, { created: NOW });
    const keys = [...[1, 2, 3, 4].map((at) => ({ ...second, keyid: `other-${at}` })), first];
    expect(diagnosis(unnamed, { ...OPTIONS, keys })).toEqual(["key_ambiguous", "key=key-0"]);
  });

  it("tries every variant with each key that may be meant", () => {
    const unnamed = signed(webhook(), COVERED, { created: NOW });
    const reversed = { ...OPTIONS, keys: [second, first] };
    expect(diagnosis({ ...unnamed, scheme: "http" }, reversed)).toEqual([
      "signature_invalid",
      "scheme=https",
    ]);
  });

  it("does not mention a key that is not configured", () => {
    expect(diagnosis(signed(webhook()), { ...OPTIONS, keys: [{ ...second, keyid: null }] })).toEqual([
      "signature_invalid",
    ]);
  });

  const padded = (digest: string, saltLength: number) => (base: Uint8Array) =>
    cryptoSign(digest, base, { key: KEYS.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
  it.each<[string, string, (base: Uint8Array) => Buffer]>([
    ["PSS for PKCS#1 v1.5", "rsa-pss-sha512", padded("sha512", 64)],
    ["PSS with SHA-256", "RSA-PSS with SHA-256", padded("sha256", 32)],
    ["SHA-512", "rsa-v1_5-sha512", (base) => cryptoSign("sha512", base, KEYS.privateKey)],
    ["SHA-1", "rsa-v1_5-sha1", (base) => cryptoSign("sha1", base, KEYS.privateKey)],
    [
      "the hash signed",
      "the hash of the base signed",
      (base) => cryptoSign("sha256", createHash("sha256").update(base).digest(), KEYS.privateKey),
    ],
  ])("%s", (_, name, signer) => {
    expect(diagnosis(signedOtherwise((base) => base, COVERED, webhook(), signer))).toEqual([
      "signature_invalid",
      `algorithm=${name}`,
    ]);
  });

  it("an alg that is wrong though the signature is right", () => {
    const request = signed(webhook(), COVERED, { created: NOW, alg: "RS256" });
    expect(diagnosis(request)).toEqual(["alg_not_allowed", "alg left out"]);
  });

  it("an elliptic key for an RSA one", () => {
    const pair = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const keys = keysOf(createPublicKey(pair.privateKey).export({ type: "spki", format: "pem" }));
    const request = signedOtherwise(
      (base) => base,
      COVERED,
      webhook(),
      (base) => ALGORITHMS["ecdsa-p256-sha256"].sign(base, pair.privateKey),
    );
    expect(diagnosis(request, { ...OPTIONS, keys })).toEqual([
      "key_type_mismatch",
      "algorithm=ecdsa-p256-sha256",
    ]);
  });
});

describe("a signer that spells the base wrong", () => {
  const onLine = (name: string, value: string) => (base: string) =>
    base.replace(new RegExp(`^"${name}": .*$`, "m"), `"${name}": ${value}`);
  const covers = (...names: string[]): string[] => ["content-digest", ...names];

  it.each<[string, (base: string) => string, readonly string[]]>([
    ["CRLF between the lines", (base) => base.replaceAll("\n", "\r\n"), COVERED],
    ["the label in @signature-params", (base) => base.replace('params": ', 'params": sig1='), COVERED],
    ["a line break at the end", (base) => `${base}\n`, COVERED],
    ["@query without its ?", onLine("@query", "src=pl&x=1"), covers("@query")],
    ["the default port kept", onLine("@authority", "merchant.example:443"), covers("@authority")],
    [
      "the method in @request-target",
      onLine("@request-target", "post /webhooks/paylink?src=pl&x=1"),
      covers("@request-target"),
    ],
    ["names without quotes", (base) => base.replace(/^"([^"]+)"/gm, "$1"), COVERED],
    ["no space after the colon", (base) => base.replace(/^("[^"]+"): /gm, "$1:"), COVERED],
    ["@signature-params left out", (base) => base.replace(/\n"@signature-params".*$/, ""), COVERED],
  ])("%s", (fault, spell, covered) => {
    expect(diagnosis(signedOtherwise(spell, covered))).toEqual(["signature_invalid", `signer: ${fault}`]);
  });

  it("an empty query", () => {
    const request = { ...webhook(), target: "/hook" };
    expect(diagnosis(signedOtherwise(onLine("@query", ""), covers("@query"), request))).toEqual([
      "signature_invalid",
      "signer: an empty text for an absent query",
    ]);
  });

  it("the root without its slash", () => {
    const request = { ...webhook(), target: "/" };
    const spell = onLine("@target-uri", "https://merchant.example");
    expect(diagnosis(signedOtherwise(spell, covers("@target-uri"), request))).toEqual([
      "signature_invalid",
      "signer: @target-uri without its path",
    ]);
  });

  it("the method in lower case", () => {
    expect(diagnosis(signedOtherwise(onLine("@method", "post")))).toEqual([
      "signature_invalid",
      "method=post",
    ]);
  });

  it("Signature-Input as written", () => {
    const request = signedOtherwise((base) => base.replace(/"@signature-params": \(/, "$& "));
    const input = request.headers.find(([name]) => name === "Signature-Input")?.[1] ?? "";
    const written = withHeader(request, "signature-input", input.replace("(", "( "));
    expect(diagnosis(written)).toEqual(["signature_invalid", "signer: Signature-Input as written"]);
  });

  it("two at once: CRLF, and http for https", () => {
    const request = signedOtherwise((base) => base.replaceAll("\n", "\r\n"));
    expect(diagnosis({ ...request, scheme: "http" })).toEqual([
      "signature_invalid",
      "scheme=https + signer: CRLF between the lines",
    ]);
  });
});

describe("what the fields themselves tell", () => {
  it.each<[string, string, HttpRequest]>([
    [
      "unsigned",
      "a signature of the old draft",
      withHeader(webhook(), "authorization", 'Signature keyId="k",headers="date"'),
    ],
    [
      "signature_input_missing",
      "a signature of the old draft",
      withHeader(webhook(), "signature", 'keyId="k",algorithm="rsa-sha256"'),
    ],
    ["created_in_future", "created in milliseconds", signed(webhook(), COVERED, { created: NOW * 1000 })],
    ["created_in_future", "a clock that is wrong", signed(webhook(), COVERED, { created: NOW + 120 })],
    ["signature_too_old", "an old capture", signed(webhook(), COVERED, { created: NOW - 3600 })],
    [
      "signature_expired",
      "an old capture",
      signed(webhook(), COVERED, { created: NOW - 20, expires: NOW - 10 }),
    ],
    [
      "coverage_missing",
      "Digest for Content-Digest",
      withHeader(withHeader(signed(webhook(), ["@method"]), "content-digest"), "digest", "SHA-256=x"),
    ],
    [
      "content_digest_malformed",
      "Content-Digest in another spelling",
      signed(withHeader(webhook(), "content-digest", "SHA-256=abc")),
    ],
  ])("%s: %s", (code, variant, request) => {
    expect(diagnosis(request)).toEqual([code, variant]);
  });

  it("says that gzip was undone where no compressor gives the same bytes", () => {
    const unusual = gzipSync(BODY, { strategy: zlib.Z_HUFFMAN_ONLY });
    const request = signed(webhook(unusual, [["Content-Encoding", "gzip"]]));
    const undone = withBody(request, gunzipSync(unusual));
    expect(diagnosis(undone)).toEqual(["content_digest_mismatch", "gzip undone"]);
  });

  it("has no findings for a webhook that verifies", () => {
    expect(diagnosis(signed(webhook()))).toEqual(["ok"]);
  });
});

/** What an attacker can vary: any header line, the target, the body. */
const lineOf = fc.tuple(
  fc.constantFrom(
    "Host",
    "X-Forwarded-Host",
    "Forwarded",
    "Content-Type",
    "Content-Digest",
    "X-Original-Uri",
    "X",
  ),
  fc.stringMatching(/^[\t -~\x80-\xff]{0,40}$/),
);

describe("for any message", () => {
  it("never throws, never calls valid what is not, and stays within its bounds", () => {
    const request = signed(webhook());
    fc.assert(
      fc.property(
        fc.array(lineOf, { maxLength: 5 }),
        fc.string({ maxLength: 30 }),
        fc.uint8Array({ maxLength: 60 }),
        (lines, target, body) => {
          const tampered = {
            ...request,
            headers: [...request.headers, ...lines],
            target: `/${target}`,
            body,
          };
          const verdict = verify(tampered, OPTIONS);
          expect(diagnose(tampered, OPTIONS, verdict).length).toBeLessThanOrEqual(2);
          expect(verdict.verdict).toBe("invalid");
        },
      ),
      { numRuns: 60 },
    );
  });
});
