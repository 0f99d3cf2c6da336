/** Captures broken in one known way between the service and the user, and the cause that must be named. */
import { constants, sign as cryptoSign } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { contentDigest } from "../../src/signatures/digest.ts";
import { failureCauses } from "../../src/signatures/explain/causes.ts";
import { publicJwk, type VerificationKey } from "../../src/signatures/keys.ts";
import { sign } from "../../src/signatures/sign.ts";
import { verify, type VerifyOptions } from "../../src/signatures/verify.ts";
import { componentOf, keysOf } from "../support/vectors.ts";
import { COVERED, NOW, OPTIONS, signed, UNSIGNED } from "./signed.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";

const BODY = '{"uti":"a/b","amountTrans":10.00,"merchantName":"Café","status":"Complete"}';
const SERVICE = ["content-digest", "content-length", "content-type"];

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
  return [verdict.code, ...failureCauses(request, options, verdict).map(({ variant }) => variant)];
}

describe("a body that changed on its way", () => {
  const compact = BODY.replace("10.00", "10");

  it.each<[string, string | Uint8Array, string | Uint8Array, string]>([
    ["parsed and serialised by JavaScript", BODY, compact, "body re-serialised"],
    ["pretty-printed", compact, JSON.stringify(JSON.parse(BODY), null, 2), "body re-serialised"],
    ["minified", JSON.stringify(JSON.parse(BODY), null, 4), compact, "body re-serialised"],
    ["unescaped", compact.replace("é", String.raw`\u00e9`), compact, "body re-serialised"],
    ["a newline added", BODY, `${BODY}\n`, "trailing newline added"],
    ["CRLF added", BODY, `${BODY}\r\n`, "trailing newline added"],
    ["a newline lost", `${BODY}\n`, BODY, "trailing newline lost"],
    ["LF for CRLF", '{"a":1,\r\n"b":\r\n2}', '{"a":1,\n"b":\n2}', "CRLF"],
    ["CRLF for LF", '{"a":1,\n"b":\n2}', '{"a":1,\r\n"b":\r\n2}', "CRLF"],
    ["decoded as latin1", BODY, Buffer.from(Buffer.from(BODY).toString("latin1"), "utf8"), "body re-encoded"],
    ["encoded as latin1", BODY, Buffer.from(BODY, "latin1"), "body re-encoded"],
    ["serialised twice", BODY, JSON.stringify(BODY), "body encoded twice"],
  ])("%s", (_, sent, received, variant) => {
    expect(diagnosis(withBody(signed(webhook(sent)), received))).toEqual([
      "content_digest_mismatch",
      variant,
    ]);
  });

  it("says how each framework gives the bytes", () => {
    const request = withBody(signed(webhook()), `${BODY}\n`);
    const [hint] = failureCauses(request, OPTIONS, verify(request, OPTIONS));
    for (const word of ["express.raw", "addContentTypeParser", "Next.js", "c.req.raw", "Lambda"])
      expect(hint?.advice).toContain(word);
  });

  it("together with its length, as the service covers it", () => {
    const longer = withBody(signed(webhook(), SERVICE), `${BODY}\n`);
    expect(diagnosis(withHeader(longer, "content-length", String(longer.body.length)))).toEqual([
      "signature_invalid",
      `content-length=${Buffer.byteLength(BODY)}`,
      "trailing newline added",
    ]);
  });

  it("pretty-printed by a program that writes 10.0 for 10.00 and keeps 0, as the service covers it", () => {
    const sent = '{"amountTrans":10.00,"amountGratuity":0,"amountCashback":0}';
    const received = '{\n  "amountTrans": 10.0,\n  "amountGratuity": 0,\n  "amountCashback": 0\n}';
    const pretty = withBody(signed(webhook(sent), SERVICE), received);
    expect(diagnosis(withHeader(pretty, "content-length", String(received.length)))).toEqual([
      "signature_invalid",
      `content-length=${sent.length}`,
      "body re-serialised",
    ]);
  });

  it("is another body if another record arrived", () => {
    const other = BODY.replace("10.00", "1000.00");
    expect(diagnosis(withBody(signed(webhook()), other))).toEqual([
      "content_digest_mismatch",
      "another body",
    ]);
    const longer = withHeader(signed(webhook(), SERVICE), "content-length", String(Buffer.byteLength(other)));
    expect(diagnosis(withBody(longer, other))).toEqual(["signature_invalid", "another body"]);
  });
});

describe("another address", () => {
  const covered = ["@method", "@target-uri", "@authority", "content-digest", "content-type"];
  const good = signed(webhook(), covered);
  const atPort = signed({ ...webhook(), authority: "merchant.example:8443" }, covered);

  it.each<[string, HttpRequest, string]>([
    ["http for https", { ...good, scheme: "http" }, "scheme=https"],
    [
      "the proxy's host, and X-Forwarded-Host",
      { ...withHeader(good, "x-forwarded-host", "merchant.example"), authority: "10.0.0.7:8080" },
      "authority=merchant.example",
    ],
    [
      "the proxy's host, and X-Original-Host",
      { ...withHeader(good, "x-original-host", "merchant.example"), authority: "10.0.0.7:8080" },
      "authority=merchant.example",
    ],
    [
      "a port of its own, and X-Forwarded-Port",
      {
        ...withHeader(atPort, "x-forwarded-port", "8443"),
        authority: "merchant.example",
      },
      "authority=merchant.example:8443",
    ],
    [
      "the proxy's host, and the host and port apart",
      {
        ...withHeader(withHeader(atPort, "x-forwarded-host", "merchant.example"), "x-forwarded-port", "8443"),
        authority: "app:3000",
      },
      "authority=merchant.example:8443",
    ],
    [
      "the proxy's host, and Forwarded",
      {
        ...withHeader(good, "forwarded", 'for=1.2.3.4;host="merchant.example";proto=https'),
        authority: "app:3000",
      },
      "authority=merchant.example",
    ],
    [
      "http, and another host than Host says",
      { ...good, scheme: "http", authority: "localhost:4000" },
      "scheme=https + authority=merchant.example",
    ],
    ["a trailing slash", { ...signed({ ...webhook(), target: "/hook" }), target: "/hook/" }, "target=/hook"],
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

  it("names the address to pass as --public-url", () => {
    const request: HttpRequest = { ...good, scheme: "http", authority: "localhost:4000" };
    const [hint] = failureCauses(request, OPTIONS, verify(request, OPTIONS));
    expect(hint?.advice).toContain("--public-url https://merchant.example/webhooks/paylink");
  });

  it("together with a body or a header that changed", () => {
    const request: HttpRequest = { ...good, scheme: "http" };
    expect(diagnosis(withBody(request, `${BODY}\n`))).toEqual([
      "signature_invalid",
      "scheme=https",
      "trailing newline added",
    ]);
    expect(diagnosis(withHeader(request, "content-type", "application/json"))).toEqual([
      "signature_invalid",
      "scheme=https + content-type=application/json; charset=utf-8",
    ]);
  });
});

describe("another Content-Type or Content-Length", () => {
  it.each<[string, string, string, HttpRequest]>([
    [
      "the charset stripped",
      "signature_invalid",
      "content-type=application/json; charset=utf-8",
      withHeader(signed(webhook()), "content-type", "application/json"),
    ],
    [
      "the charset respelled",
      "signature_invalid",
      "content-type=application/json; charset=utf-8",
      withHeader(signed(webhook()), "content-type", "application/json;charset=UTF-8"),
    ],
    [
      "Content-Type lost",
      "component_missing",
      "content-type=application/json; charset=utf-8",
      withHeader(signed(webhook()), "content-type"),
    ],
  ])("%s", (_, code, variant, request) => {
    expect(diagnosis(request)).toEqual([code, variant]);
  });
});

it("a Content-Digest that a proxy added to the signed one", () => {
  const good = signed(webhook(), SERVICE);
  const own = contentDigest(Buffer.from(BODY));
  const other = contentDigest(Buffer.from(BODY), "sha-512");
  expect(diagnosis(withHeader(good, "content-digest", own, own))).toEqual([
    "signature_invalid",
    "content-digest once",
  ]);
  expect(diagnosis(withHeader(good, "content-digest", other, own))).toEqual([
    "signature_invalid",
    "content-digest once",
  ]);
  expect(diagnosis(withHeader(good, "content-digest", `${own}, ${own}`))).toEqual([
    "signature_invalid",
    "content-digest once",
  ]);
});

it.each<[string, (value: string) => string]>([
  ["text", (value) => value.replace('"', "\u201c").replace('"', "\u201d")],
  ["the bytes of UTF-8", (value) => Buffer.from(value.replaceAll('"', "\u201d")).toString("latin1")],
  ["a dash", (value) => value.replace("content-digest", "content\u2013digest")],
])("typographic quotes that a word processor made, as %s", (_, typed) => {
  const good = signed(webhook());
  const [, input = ""] = good.headers.find(([name]) => name.toLowerCase() === "signature-input") ?? [];
  expect(diagnosis(withHeader(good, "signature-input", typed(input)))[1]).toBe("typographic quotes");
});

describe("another key or algorithm", () => {
  const other = OTHER_KEYS;
  const [first, second] = [KEYS, other].map(({ publicKey }, at): VerificationKey => {
    const [key] = keysOf(JSON.stringify(publicJwk(publicKey, `key-${at}`)));
    if (key === undefined) throw new Error("no key");
    return key;
  });
  if (first === undefined || second === undefined) throw new Error("no keys");
  const both = { ...OPTIONS, keys: [first, second] };

  it("names the configured key that verifies", () => {
    const request = signed(webhook(), COVERED, { created: NOW, keyid: "key-1" });
    expect(diagnosis(request, both)).toEqual(["signature_invalid", "key key-0"]);
    const unknown = signed(webhook(), COVERED, { created: NOW, keyid: "rotated" });
    expect(diagnosis(unknown, both)).toEqual(["key_not_found", "key key-0"]);
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
    expect(
      diagnosis(signed(webhook()), { ...OPTIONS, keys: [{ ...second, keyid: null, isAnonymous: true }] }),
    ).toEqual(["signature_invalid"]);
  });

  it.each([
    ["sha512", 64],
    ["sha256", 32],
  ])("PSS with %s", (digest, saltLength) => {
    const pss = { key: KEYS.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
    const request = webhook();
    const fields = sign(request, {
      key: { keyid: null, key: KEYS.privateKey },
      components: COVERED.map(componentOf),
      parameters: { created: NOW },
      signBase: (base) => cryptoSign(digest, base, pss),
    });
    expect(diagnosis({ ...request, headers: [...request.headers, ...fields] })).toEqual([
      "signature_invalid",
      "rsa-pss",
    ]);
  });
});

describe("another time", () => {
  it.each<[string, string[], Record<string, number>]>([
    ["created_in_future", ["created in milliseconds"], { created: NOW * 1000 }],
    ["created_in_future", [], { created: NOW + 120 }],
    ["signature_too_old", ["an old capture"], { created: NOW - 3600 }],
    ["signature_expired", ["an old capture"], { created: NOW - 20, expires: NOW - 10 }],
  ])("%s: %j", (code, variants, parameters) => {
    expect(diagnosis(signed(webhook(), COVERED, parameters))).toEqual([code, ...variants]);
  });
});

it("has no findings for a webhook that verifies", () => {
  expect(diagnosis(signed(webhook()))).toEqual(["ok"]);
});

/** What an attacker can vary: any header line, the target, the body. */
const lineOf = fc.tuple(
  fc.constantFrom("Host", "X-Forwarded-Host", "Forwarded", "Content-Type", "Content-Digest", "X"),
  fc.stringMatching(/^[\t -~\x80-\xff]{0,40}$/),
);

it("never throws for any message, and names at most two causes", () => {
  const request = signed(webhook());
  fc.assert(
    fc.property(
      fc.array(lineOf, { maxLength: 5 }),
      fc.string({ maxLength: 30 }),
      fc.uint8Array({ maxLength: 60 }),
      (lines, target, body) => {
        const headers = [...request.headers, ...lines];
        const tampered = { ...request, headers, target: `/${target}`, body };
        const verdict = verify(tampered, OPTIONS);
        expect(failureCauses(tampered, OPTIONS, verdict).length).toBeLessThanOrEqual(2);
        expect(verdict.verdict).toBe("invalid");
      },
    ),
    { numRuns: 60 },
  );
});
