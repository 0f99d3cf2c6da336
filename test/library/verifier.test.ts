/** Verification in an application: every form of request, the vectors, bodies that were read before, and the keys. */
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, it, onTestFinished } from "vitest";
import { TRANSACTION_FIELDS } from "../../src/domain/transaction-fields.ts";
import type { VerifierOptions, WebhookRequest } from "../../src/library/types.ts";
import { createVerifierWith } from "../../src/library/verifier.ts";
import { createVerifier, sampleTransaction, signWebhook, WebhookError } from "../../src/library/webhooks.ts";
import { publicJwk } from "../../src/signatures/keys.ts";
import { deliveryCases, vectorFile, webhookRequest, type WebhookCase } from "../support/vectors.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile, KEYS, OTHER_KEYS } from "../support/keys.ts";
import { listenOnFreePort } from "../support/ports.ts";

const URL_SENT = "https://shop.example/webhooks?from=service";
const { publicKey, privateKey, publicPem: pem } = KEYS;
const DERIVED = ["@method", "@target-uri", "content-digest"];

const signed = (url = URL_SENT, cover?: readonly string[]) =>
  signWebhook(sampleTransaction("APPROVED"), { key: privateKey, url, cover });

/** As an application does it once, for one webhook. */
const verifyWith = async (request: WebhookRequest, options: VerifierOptions) =>
  createVerifier(options)(request);

async function refusal(
  request: WebhookRequest,
  options: VerifierOptions = { key: pem },
): Promise<WebhookError> {
  const error: unknown = await verifyWith(request, options).catch((thrown: unknown) => thrown);
  if (error instanceof WebhookError) return error;
  throw new Error(`not refused by a WebhookError: ${String(error)}`);
}

/** Starts a server that passes its requests to `receive`, and gives its address. */
async function listen(receive: (request: IncomingMessage) => Promise<unknown>): Promise<string> {
  const server = createServer((request, response) => {
    receive(request).then(
      () => response.end(),
      () => response.writeHead(500).end(),
    );
  });
  return `http://127.0.0.1:${await listenOnFreePort(server)}/webhooks`;
}

describe("vectors", () => {
  const positive = vectorFile<{ vectors: WebhookCase[] }>("webhook-positive").vectors;
  const negative = vectorFile<{ cases: (WebhookCase & { expected: { violation?: string } })[] }>(
    "webhook-negative",
  ).cases.filter(({ request }) => request !== undefined);

  const plain = (vector: WebhookCase): WebhookRequest => {
    const { method, target, headers, body } = webhookRequest(vector);
    return { method, url: target, headers, body };
  };
  const optionsOf = ({ context }: WebhookCase): VerifierOptions => ({
    key: context.jwks ?? context.public_key_pem,
    publicUrl: context.public_url,
    now: context.now,
    require: context.policy?.required,
    requireCreated: context.policy?.require_created,
    strict: true,
  });

  const unusable = ["key_unusable", "alg_key_mismatch", "key_type_mismatch", "weak_key"];
  const isUnusable = ({ expected }: WebhookCase): boolean => unusable.includes(expected.code);

  const isEncoded = ({ request }: WebhookCase): boolean =>
    request.headers.some(([name]) => name === "Content-Encoding");

  it.each(positive.filter(isEncoded))("$id verifies, and is refused: $title", async (vector) => {
    expect(await refusal(plain(vector), optionsOf(vector))).toMatchObject({
      code: "unsupported_content_coding",
      status: 415,
    });
  });

  it.each(positive.filter((one) => !isEncoded(one)))("$id verifies: $title", async (vector) => {
    const { verdict, raw } = await verifyWith(plain(vector), { ...optionsOf(vector), strict: false });
    expect(verdict.code).toBe("ok");
    expect(Buffer.from(raw).toString("base64")).toBe(vector.request.body_base64);
  });

  it.each(negative.filter(isUnusable))("$id has a key that can never verify: $title", (vector) => {
    expect(() => createVerifier(optionsOf(vector))).toThrow(TypeError);
  });

  it.each(negative.filter((one) => !isUnusable(one)))("$id is refused: $title", async (vector) => {
    const { code, verdict, message } = await refusal(plain(vector), optionsOf(vector));
    if (isEncoded(vector)) return expect(code).toBe("unsupported_content_coding");
    const { code: expected, violation = expected } = vector.expected;
    expect(code).toBe(violation);
    expect(verdict).toMatchObject({ verdict: vector.expected.verdict, code: expected ?? "ok" });
    expect(message).toMatch(new RegExp(`^${violation}: [\\x20-\\x7e]+\\.$`));
  });
});

describe("deliveries", () => {
  it.each(deliveryCases())("$id: $title", async (vector) => {
    const { method, target, headers, body } = webhookRequest(vector);
    const request = { method, url: target, headers, body };
    const { code, http_status: status, warnings, outcome, violations = [] } = vector.expected;
    const options = { key: vector.context.public_key_pem, now: vector.context.now };
    // A parser of the application has read the media type.
    if (code === "unsupported_media_type")
      return expect(await refusal(request, options)).toMatchObject({ code: "component_missing" });
    if (outcome === undefined) return expect(await refusal(request, options)).toMatchObject({ code, status });
    const verified = await verifyWith(request, options);
    expect(verified).toMatchObject({ outcome, verdict: { code, warnings } });
    expect(verified.violations.map((one) => one.code)).toEqual(violations);
    if (violations.length > 0)
      expect(await refusal(request, { ...options, strict: true })).toMatchObject({ status: 422 });
    await verifyWith(request, { ...options, require: ["content-length"] });
  });
});

describe("a verified webhook", () => {
  it("has the record, its outcome, exact amounts, the verdict and the bytes", async () => {
    const body = JSON.stringify(sampleTransaction("APPROVED")).replace(
      '"amountTrans":10,',
      '"amountTrans":10.50,',
    );
    const webhook = signWebhook(body, { key: privateKey, url: URL_SENT, keyid: "k" });
    const { outcome, transaction, amounts, verdict, raw } = await verifyWith(webhook, { key: pem });
    expect({ outcome, amount: transaction.amountTrans, amounts, keyid: verdict.keyid }).toEqual({
      outcome: "APPROVED",
      amount: 10.5,
      amounts: {
        amountTrans: { text: "10.50", currency: "EUR", minorUnits: 1050n },
        amountGratuity: { text: "0", currency: "EUR", minorUnits: 0n },
        amountCashback: { text: "0", currency: "EUR", minorUnits: 0n },
      },
      keyid: "k",
    });
    expect(Buffer.from(raw).toString()).toBe(body);
    expect(transaction).toEqual(JSON.parse(body));
  });

  it("refuses violations if it is strict, and returns them with the record", async () => {
    const record = { ...sampleTransaction("DECLINED"), status: "Pending", extra: [1, { deep: null }] };
    const webhook = signWebhook(JSON.stringify(record), { key: privateKey, url: URL_SENT });
    expect(await refusal(webhook, { key: pem, strict: true })).toMatchObject({
      code: "body_schema",
      status: 422,
      violations: [{ path: "status" }],
      record,
      verdict: { verdict: "valid" },
      message: expect.stringContaining("authentic") as unknown,
    });
  });

  it("never has Infinity: such an amount is a violation, and any other such number stays text", async () => {
    const body = (amount: string): string =>
      JSON.stringify({ ...sampleTransaction("APPROVED"), extra: [0] })
        .replace('"amountTrans":10,', `"amountTrans":${amount},`)
        .replace("[0]", "[1e400,-1e400,1e300]");
    const sign = (text: string) => signWebhook(text, { key: privateKey, url: URL_SENT });
    const { transaction, amounts, ...rest } = await verifyWith(sign(body("1e400")), { key: pem });
    expect({ ...rest, amount: transaction.amountTrans, exact: amounts.amountTrans }).toMatchObject({
      outcome: "APPROVED",
      violations: [{ path: "amountTrans", message: "must not exceed 1.8e308" }],
      record: { amountTrans: "1e400", extra: ["1e400", "-1e400", 1e300] },
      amount: undefined,
      exact: { text: "1e400", minorUnits: undefined },
    });
    expect((await verifyWith(sign(body("1e308")), { key: pem })).transaction.amountTrans).toBe(1e308);
  });

  it("reads a record that the service wraps", async () => {
    const record = sampleTransaction("CANCELLED");
    const webhook = signWebhook(JSON.stringify({ data: record }), { key: privateKey, url: URL_SENT });
    expect(await verifyWith(webhook, { key: pem })).toMatchObject({
      outcome: "CANCELLED",
      transaction: record,
    });
  });
});

const whole = JSON.parse(JSON.stringify(sampleTransaction("APPROVED"))) as Record<string, unknown>;
const without = (...names: string[]) => Object.fromEntries(names.map((name) => [name, undefined]));
const EMV = without("emvAid", "emvTsi", "emvTvr", "emvCryptogram", "emvCryptogramType");

/** What a record has instead, its outcome, the fields that break the specification, and the minor units of its amount. */
const DEVIATIONS: readonly [
  title: string,
  changes: object,
  outcome: string,
  broken: string[],
  units?: bigint | null,
][] = [
  ["nothing", {}, "APPROVED", []],
  ["a scheme that is null", { cardScheme: null }, "APPROVED", ["cardScheme"]],
  ["no trace number", without("stan"), "APPROVED", ["stan"]],
  ["no EMV fields", EMV, "APPROVED", Object.keys(EMV)],
  ["a status in capitals", { status: "COMPLETE" }, "APPROVED", ["status"]],
  ["no status", without("status"), "APPROVED", ["status"]],
  ["another status", { status: "Pending" }, "UNCLEAR", ["status"]],
  ["a store number as text", { merchantStoreId: "1" }, "APPROVED", ["merchantStoreId"]],
  ["a negative amount", { amountTrans: -10.5 }, "APPROVED", [], -1050n],
  ["a currency as a number", { transCurrencyCode: "826" }, "APPROVED", ["transCurrencyCode"], null],
  ["a currency that nobody knows", { transCurrencyCode: "QQQ" }, "APPROVED", [], null],
  ["a currency without decimals", { transCurrencyCode: "JPY", amountTrans: 10 }, "APPROVED", [], 10n],
  ["a currency in lower case", { transCurrencyCode: "eur" }, "APPROVED", []],
  ["a part of a cent", { amountTrans: 10.005 }, "APPROVED", [], null],
  ["an amount as text", { amountTrans: "10.00" }, "APPROVED", ["amountTrans"]],
  ["an amount that is not a number", { amountTrans: "ten" }, "APPROVED", ["amountTrans"], null],
  ["an amount that is null", { amountTrans: null }, "APPROVED", ["amountTrans"], null],
  ["no amount", without("amountTrans"), "APPROVED", ["amountTrans"], null],
  ["no uti", without("uti"), "APPROVED", ["uti"]],
  ["a member that looks like a card number", { orderKey: "4111111111111111" }, "APPROVED", []],
  ["members of its own", { extra: [1, { deep: null }], constructor: "x" }, "APPROVED", []],
  ["a part of the amount", { transPartiallyApproved: true }, "PARTIALLY_APPROVED", []],
  ["no flag for a part", without("transPartiallyApproved"), "APPROVED", ["transPartiallyApproved"]],
  [
    "a flag for a part that is null",
    { transPartiallyApproved: null },
    "APPROVED",
    ["transPartiallyApproved"],
  ],
  ["a flag for a part as text", { transPartiallyApproved: "true" }, "UNCLEAR", ["transPartiallyApproved"]],
  ["a flag for a part as a number", { transPartiallyApproved: 1 }, "UNCLEAR", ["transPartiallyApproved"]],
  [
    "a decline, and a flag for a part as text",
    { ...without("authorisationCode"), transApproved: false, transPartiallyApproved: "false" },
    "UNCLEAR",
    ["transPartiallyApproved"],
  ],
  ["both flags", { transCancelled: true }, "UNCLEAR", ["transCancelled"]],
  ["no flag for the approval", without("transApproved"), "UNCLEAR", ["transApproved"]],
  ["no flag for the cancellation", without("transCancelled"), "UNCLEAR", ["transCancelled"]],
  ["a flag as text", { transApproved: "true" }, "UNCLEAR", ["transApproved"]],
  ["a flag that is null", { transApproved: null }, "UNCLEAR", ["transApproved"]],
];

describe.each(DEVIATIONS)("a record with %s", (_, changes, outcome, broken, units = 1000n) => {
  const record = JSON.parse(JSON.stringify({ ...whole, ...changes })) as Record<string, unknown>;
  const webhook = signWebhook(JSON.stringify(record), { key: privateKey, url: URL_SENT });

  it("is accepted, and its transaction is what its type says", async () => {
    const verified = await verifyWith(webhook, { key: pem });
    expect(verified.outcome).toBe(outcome);
    expect(verified.record).toEqual(record);
    expect(verified.violations.map(({ path }) => path).toSorted()).toEqual(broken.toSorted());
    expect(verified.amounts.amountTrans.minorUnits ?? null).toBe(units);
    const fields = TRANSACTION_FIELDS.map(({ name }) => name).filter((name) => !broken.includes(name));
    expect(verified.transaction).toEqual(Object.fromEntries(fields.map((name) => [name, record[name]])));
  });

  it("is refused in strict mode if it breaks the specification", async () => {
    const strict = { key: pem, strict: true } as const;
    if (broken.length === 0) expect((await verifyWith(webhook, strict)).record).toEqual(record);
    else expect(await refusal(webhook, strict)).toMatchObject({ code: "body_schema", status: 422, record });
  });
});

it.each(["[1]", "no JSON", "\xff", ""])("a signed body without a record is unclear: %j", async (body) => {
  const webhook = signWebhook(body, { key: privateKey, url: URL_SENT });
  const { outcome, transaction, amounts, violations, record } = await verifyWith(webhook, { key: pem });
  expect({ outcome, transaction, record }).toEqual({ outcome: "UNCLEAR", transaction: {}, record: null });
  expect(violations).toHaveLength(1);
  expect(amounts.amountTrans).toEqual({ text: undefined, currency: undefined, minorUnits: undefined });
  expect(await refusal(webhook, { key: pem, strict: true })).toMatchObject({ status: 422, record: null });
});

it.each([Number.NaN, new Date("no date")])("no webhook is verified at the time %s", async (now) => {
  const old = signWebhook(sampleTransaction("APPROVED"), { key: privateKey, url: URL_SENT, created: 1 });
  await expect(verifyWith(old, { key: pem, now })).rejects.toThrow("not a valid time");
});

it("recognises the callback of a plugin, and says what to do", async () => {
  const form = "id=d7&amount=10.5&currency=GBP&invoiceId=I1&errorCode=0&success=true&signature=h0cLbw%3D";
  for (const body of [form, JSON.stringify(Object.fromEntries(new URLSearchParams(form)))])
    expect(await refusal({ method: "POST", url: "/", headers: {}, body })).toMatchObject({
      code: "signature_in_body",
      status: 401,
      message: expect.stringContaining("ask the service for webhooks signed as RFC 9421 says") as unknown,
    });
});

describe("the address", () => {
  const derived = signed(URL_SENT, DERIVED);

  it("is that of publicUrl, also for a request given by its parts", async () => {
    const request = { ...derived, url: "/webhooks?from=service" };
    await verifyWith(request, { key: pem, publicUrl: "https://shop.example/webhooks" });
    await verifyWith(derived, { key: pem });
    const other = await refusal(derived, { key: pem, publicUrl: "https://other.example/" });
    expect(other).toMatchObject({
      code: "signature_invalid",
      status: 401,
      problem: { status: 401, code: "not_verified", detail: "the webhook does not verify" },
    });
  });

  it("has the path of publicUrl if a proxy maps that path to the root", async () => {
    const publicUrl = "https://shop.example/webhooks";
    const at = (url: string) => ({ ...derived, url });
    await verifyWith(at("/?from=service"), { key: pem, publicUrl });
    for (const refused of ["/in?from=service", "/?from=attacker", "/"])
      expect(await refusal(at(refused), { key: pem, publicUrl })).toMatchObject({
        code: "signature_invalid",
      });
  });

  it("never comes from the headers of a request", async () => {
    const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.example" };
    const headers = { ...derived.headers, ...forwarded };
    const request = new Request(derived.url, { ...derived, headers });
    expect(await refusal(request)).toMatchObject({
      code: "component_value_invalid",
      message: expect.stringContaining("set publicUrl") as unknown,
    });
  });

  it("is this server's own on this machine, for Node and Web requests", async () => {
    let verified = 0;
    const url = await listen(async (request) => {
      await verifyWith(request, { key: pem });
      verified++;
    });
    expect((await fetch(url, signed(url, DERIVED))).status).toBe(200);
    const local = signed("http://localhost:3000/webhooks", DERIVED);
    await verifyWith(new Request(local.url, local), { key: pem });
    expect(verified).toBe(1);
  });
});

describe("the body", () => {
  const bytes = Buffer.from(signed().body);

  it("may be bytes, text or what a raw parser left", async () => {
    const webhook = signed();
    for (const body of [
      webhook.body,
      Buffer.from(webhook.body),
      new Uint8Array(Buffer.from(webhook.body)).buffer,
    ])
      await verifyWith({ ...webhook, body }, { key: pem });
    const accepted: string[] = [];
    const app = express();
    const verify = (name: string) => async (request: express.Request, response: express.Response) => {
      await verifyWith(request, { key: pem });
      accepted.push(name);
      response.end();
    };
    app.post("/raw", express.raw({ type: "*/*" }), verify("raw"));
    app.post("/text", express.text({ type: "*/*" }), verify("text"));
    app.post("/other", express.urlencoded(), verify("a parser of another type"));
    app.post(
      "/kept",
      express.json({ verify: (request, _, raw) => Object.assign(request, { rawBody: raw }) }),
      verify("rawBody"),
    );
    const mounted = express.Router().post("/deep", verify("a mounted router"));
    app.use("/mounted", mounted);
    const url = await listenTo(app);
    for (const path of ["raw", "text", "other", "kept", "mounted/deep"])
      await fetch(`${url}/${path}`, signed(`${url}/${path}`, DERIVED));
    expect(accepted).toEqual(["raw", "text", "a parser of another type", "rawBody", "a mounted router"]);
  });

  it("is refused if it was parsed, with the fix for each framework", async () => {
    const errors: WebhookError[] = [];
    const app = express().use(express.json());
    app.post("/webhooks", async (request, response) => {
      errors.push(await refusal(request));
      response.end();
    });
    const url = await listenTo(app);
    await fetch(`${url}/webhooks`, signed(`${url}/webhooks`));

    const web = new Request(URL_SENT, signed());
    await web.json();
    errors.push(await refusal(web));
    errors.push(await refusal({ ...signed(), body: JSON.parse(signed().body) as never }));

    expect(errors.map(({ code, status, verdict }) => [code, status, verdict])).toEqual(
      errors.map(() => ["body_parsed", 500, null]),
    );
    const frameworks = ["Express", "NestJS", "Fastify", "Koa", "Next.js", "Hono", "AWS Lambda"];
    for (const { message } of errors) for (const name of frameworks) expect(message).toContain(`  ${name}: `);
  });

  it("is read up to 1 MiB, and the sender still gets an answer", async () => {
    const codes: string[] = [];
    const url = await listen(async (request) => codes.push((await refusal(request)).code));
    const large = { method: "POST", body: "x".repeat(3_000_000) };
    expect((await fetch(url, large)).status).toBe(200);
    codes.push(
      (await refusal(new Request(url, large))).code,
      (await refusal({ ...signed(), body: large.body })).code,
    );
    expect(codes).toEqual(["body_too_large", "body_too_large", "body_too_large"]);
  });

  it("may be bytes of another realm, as in Jest, and so may the key", async () => {
    const foreign = (text: string) =>
      runInNewContext("new Uint8Array(values)", {
        values: [...Buffer.from(text)],
      }) as Uint8Array<ArrayBuffer>;
    const webhook = signed();
    const body = foreign(webhook.body);
    expect(body instanceof Uint8Array).toBe(false);
    await verifyWith({ ...webhook, body }, { key: pem });
    await verifyWith({ ...webhook, body: body.buffer }, { key: foreign(pem) });
  });

  it("is incomplete if a Web stream breaks, and gone if it is being read or was read", async () => {
    const { body, ...rest } = signed();
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(Buffer.from(body).subarray(0, 100));
        controller.error(new Error("aborted"));
      },
    });
    const stream = (source: ReadableStream<Uint8Array>) =>
      new Request(URL_SENT, { ...rest, body: source, duplex: "half" });
    expect(await refusal(stream(broken))).toMatchObject({ code: "body_incomplete", status: 400 });
    const locked = new Request(URL_SENT, signed());
    locked.body?.getReader();
    const read = new Request(URL_SENT, signed());
    await read.text();
    for (const request of [locked, read])
      expect(await refusal(request)).toMatchObject({
        code: "body_parsed",
        problem: { status: 500, code: "body_parsed" },
        message: expect.stringContaining("React Router, Remix") as unknown,
      });
  });

  it("is incomplete if the sender went away", async () => {
    const ended = new Promise<WebhookError>((resolve) => {
      void listen(async (request) => resolve(await refusal(request))).then((url) => {
        const sent = httpRequest(url, { method: "POST", headers: signed(url).headers });
        sent.on("error", () => undefined);
        sent.write(bytes.subarray(0, 100), () => sent.destroy());
      });
    });
    expect(await ended).toMatchObject({ code: "body_incomplete", status: 400 });
  });
});

async function listenTo(app: express.Express): Promise<string> {
  return `http://127.0.0.1:${await listenOnFreePort(createServer(app))}`;
}

describe("a request of a framework", () => {
  it("may be the Node or Web request inside Fastify, Koa and Hono", async () => {
    const outcomes: string[] = [];
    const verify = createVerifier({ key: pem });
    const fast = fastify();
    fast.addContentTypeParser("application/json", (_request, _payload, done) => done(null));
    fast.post("/webhooks", async (request) => void outcomes.push((await verify(request.raw)).outcome));
    await fast.listen({ host: "127.0.0.1", port: 0 });
    onTestFinished(() => fast.close());
    const url = `http://127.0.0.1:${(fast.server.address() as AddressInfo).port}/webhooks`;
    await fetch(url, signed(url, DERIVED));

    const koa = (req: IncomingMessage) => ({ req, request: { req } });
    const node = await listen(async (request) => outcomes.push((await verify(koa(request).req)).outcome));
    await fetch(node, signed(node, DERIVED));

    const hono = new Hono().post("/webhooks", async (c) => {
      outcomes.push((await verify(c.req.raw)).outcome);
      return c.body(null);
    });
    const { method, headers, body } = signed();
    await hono.request("/webhooks", { method, headers, body });
    expect(outcomes).toEqual(["APPROVED", "APPROVED", "APPROVED"]);
  });

  it("is refused if a field of the signature appears twice", async () => {
    const { headers, body } = signed();
    for (const name of ["Signature", "Signature-Input"]) {
      const both = { ...headers, [name.toLowerCase()]: headers[name] };
      expect(await refusal({ ...signed(), headers: both, body })).toMatchObject({ code: "duplicate_label" });
    }
    const digests = { ...headers, "content-digest": "sha-256=:AAAA:" };
    expect((await refusal({ ...signed(), headers: digests, body })).status).toBe(401);
  });
});

describe("the key", () => {
  const jwk = publicJwk(publicKey, "k");
  const der = publicKey.export({ type: "spki", format: "der" });
  const other = OTHER_KEYS.publicKey;

  it.each<[string, VerifierOptions["key"]]>([
    ["PEM", pem],
    ["PEM with escaped line breaks", pem.replaceAll("\n", "\\n")],
    ["PKCS#1", publicKey.export({ type: "pkcs1", format: "pem" }).toString()],
    ["bare base64 of DER", der.toString("base64")],
    ["DER", der],
    ["bytes of a PEM", Buffer.from(pem)],
    ["JWK as an object", jwk],
    ["JWK as text", JSON.stringify(jwk)],
    ["key set", { keys: [publicJwk(other, "o"), jwk] }],
    ["KeyObject", publicKey],
    ["private KeyObject", privateKey],
    ["list", [other, pem]],
    ["two keys in one text", OTHER_KEYS.publicPem + pem],
  ])("is accepted as %s", async (_, key) => {
    expect(await verifyWith(signed(), { key })).toMatchObject({ outcome: "APPROVED" });
  });

  it("is accepted as a CryptoKey, and as a URL of another realm", async () => {
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
    const cryptoKey = await crypto.subtle.importKey("spki", der, algorithm, true, ["verify"]);
    expect(await verifyWith(signed(), { key: cryptoKey })).toMatchObject({ outcome: "APPROVED" });
    const elsewhere = runInNewContext("new URL('http://127.0.0.1:9/jwks.json')", {
      URL: class extends URL {},
    });
    expect(await refusal(signed(), { key: elsewhere })).toMatchObject({ code: "not_reached" });
  });

  it.each<[string, (path: string) => VerifierOptions["key"]]>([
    ["the URL of a file, such as one beside a module", pathToFileURL],
    ["the text of such a URL", (path) => pathToFileURL(path).href],
    ["a path with the line end of a secret's file", (path) => `${path}\n`],
  ])("is accepted as %s", async (_, keyAt) => {
    const key = keyAt(keyFile(temporaryHome()));
    expect(await verifyWith(signed(), { key })).toMatchObject({ outcome: "APPROVED" });
  });

  it.each<[string, VerifierOptions["key"], string]>([
    ["a URL that nothing answers", "http://127.0.0.1:9/jwks.json", "not_reached"],
  ])(
    "as %s is the application's problem, so that the service sends the webhook again",
    async (_, key, code) => {
      const error = await refusal(signed(), { key });
      expect(error).toMatchObject({ code, verdict: null });
      expect(error.message).toMatch(/^\w+: .*\.$/s);
      expect(error.status).toBeGreaterThanOrEqual(500);
    },
  );

  it.each<[string, VerifierOptions["key"]]>([
    ["another object", {}],
    ["a file that is not there", "/nowhere/service.pem"],
    ["one of a list, and another that is not there", [{ kty: "oct" }, "/nowhere/service.pem"]],
    ["a folder", "/"],
    ["a private PEM", KEYS.privatePem],
    ["a text that is not a key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"],
    ["bytes that are not a key", Buffer.from("key")],
    ["a URL without TLS", "http://keys.example/jwks.json"],
    ["an elliptic key", generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey],
    ["an RSA key of 1024 bits", generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey],
    ["a key for encryption", JSON.stringify({ ...jwk, use: "enc" })],
  ])("as %s is a TypeError when the verifier is made, before any webhook", (_, key) => {
    expect(() => createVerifier({ key })).toThrow(TypeError);
    expect(() => createVerifier({ key })).toThrow("The option key cannot be used");
  });

  it.each<[string, VerifierOptions["key"]]>([
    ["a URL that nothing answers", ["http://127.0.0.1:9/jwks.json", pem]],
    ["a file that is not there", [pem, "/nowhere/service.pem"]],
    ["what is no key", [pem, { kty: "oct" }]],
    ["a private key", [KEYS.privatePem, pem]],
  ])("works beside %s, whose webhooks may be repeated", async (_, key) => {
    expect(await verifyWith(signed(), { key })).toMatchObject({ outcome: "APPROVED" });
    const other = signWebhook(sampleTransaction("APPROVED"), { key: OTHER_KEYS.privateKey, url: URL_SENT });
    expect(await refusal(other, { key })).toMatchObject({ code: "not_reached", status: 503 });
  });

  it.each<[string, VerifierOptions["key"], string]>([
    ["undefined", undefined, "PAYLINK_WEBHOOK_KEY"],
    ["null", null as never, "missing"],
    ["an empty text", "", "missing"],
    ["an empty list", [], "missing"],
    ["a list of nothing", [undefined, " "], "missing"],
    ["a number", 1 as never, "a number"],
    ["a function", (() => pem) as never, "a function"],
    ["a secret", createSecretKey(Buffer.from("secret")), "secret"],
  ])("as %s is a TypeError when the verifier is made", async (_, key, words) => {
    expect(() => createVerifier({ key })).toThrow(TypeError);
    expect(() => createVerifier({ key })).toThrow(words);
  });

  it("from a URL is fetched once, at most every ten seconds for a signature that no key verifies, and after ten minutes", async () => {
    const keys: KeyObject[] = [other];
    let [fetched, now] = [0, 1_800_000_000];
    const access = {
      now: () => new Date(now * 1000),
      readFile: () => Buffer.from(""),
      warn: () => undefined,
      send: async () => {
        fetched++;
        const set = { keys: keys.map((key) => publicJwk(key, "k")) };
        return { status: 200, headers: [], body: Buffer.from(JSON.stringify(set)) };
      },
    };
    const verify = createVerifierWith({ key: "https://keys.example/jwks.json" }, access);
    const sign = () =>
      signWebhook(sampleTransaction("APPROVED"), { key: privateKey, url: URL_SENT, created: now });
    const code = (): Promise<string> =>
      verify(sign()).then(
        ({ outcome }) => outcome,
        (error: unknown) => (error instanceof WebhookError ? error.code : String(error)),
      );
    expect([await code(), fetched]).toEqual(["signature_invalid", 2]);
    keys[0] = publicKey;
    expect([await code(), fetched]).toEqual(["signature_invalid", 2]);
    now += 10;
    expect([await code(), fetched]).toEqual(["APPROVED", 3]);
    expect([await code(), fetched]).toEqual(["APPROVED", 3]);
    keys[0] = other;
    now += 600;
    expect((await code()) === "APPROVED").toBe(false);
  });

  it("from a URL is read even if a proxy compresses the key set without labelling it", async () => {
    const set = Buffer.from(JSON.stringify({ keys: [publicJwk(publicKey, "k")] }));
    const server = createServer(({ url: path, headers }, response) => {
      if (path === "/labelled" && headers["accept-encoding"] !== "identity")
        response.setHeader("Content-Encoding", "gzip");
      response.end(path === "/labelled" ? set : gzipSync(set));
    });
    const port = await listenOnFreePort(server);
    for (const path of ["labelled", "compressed"])
      expect(await verifyWith(signed(), { key: `http://127.0.0.1:${port}/${path}` })).toMatchObject({
        outcome: "APPROVED",
      });
  });

  it("is read once for requests that arrive together, and again five seconds after that failed", async () => {
    let [read, now] = [0, Date.now()];
    const access = {
      now: () => new Date(now),
      send: async () => {
        read++;
        if (read === 1) throw new Error("no network yet");
        return { status: 200, headers: [], body: Buffer.from(pem) };
      },
      warn: () => undefined,
      readFile: () => Buffer.from(""),
    };
    const verify = createVerifierWith({ key: "https://keys.example/service.pem" }, access);
    const together = async () => Promise.allSettled([verify(signed()), verify(signed())]);
    expect(await together()).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
    expect(await together()).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
    expect(read).toBe(1);
    now += 5_000;
    expect(await together()).toMatchObject([{ status: "fulfilled" }, { status: "fulfilled" }]);
    expect(read).toBe(2);
  });
});

describe("options", () => {
  it("that are not valid are a TypeError", () => {
    for (const options of [
      { publicUrl: "shop.example" },
      { tolerance: "soon" },
      { tolerance: -1 },
      { require: ["content digest"] },
    ])
      expect(() => createVerifier({ key: pem, ...options })).toThrow(TypeError);
  });

  it.each<[string, unknown, string]>([
    ["undefined", undefined, "Pass the request"],
    ["text", "POST / HTTP/1.1", "Pass the request"],
    ["the context of Koa", { req: {}, method: "POST", url: "/", headers: {} }, "ctx.req"],
    ["a request without that of Node", { raw: {}, method: "POST", url: "/", headers: {} }, "ctx.req in Koa"],
    [
      "an event of AWS Lambda",
      { rawPath: "/", requestContext: {}, headers: {} },
      "method, url, headers, body",
    ],
    ["headers that are null", { ...signed(), headers: null }, "{ method, url, headers, body }"],
    ["no headers", { ...signed(), headers: undefined }, "{ method, url, headers, body }"],
    ["no method", { ...signed(), method: undefined }, "method"],
    ["no url", { ...signed(), url: undefined }, "url"],
  ])("and a request that is %s is a TypeError that says what to pass", async (_, request, words) => {
    const verifying = createVerifier({ key: pem })(request as WebhookRequest);
    await expect(verifying).rejects.toThrow(TypeError);
    await expect(verifying).rejects.toThrow(words);
  });

  it("set the policy", async () => {
    const now = new Date();
    const created = new Date(now.getTime() - 500_000);
    const webhook = signWebhook(sampleTransaction("APPROVED"), { key: privateKey, url: URL_SENT, created });
    expect((await refusal(webhook, { key: pem, now })).code).toBe("signature_too_old");
    for (const tolerance of [600, "10m"]) await verifyWith(webhook, { key: pem, now, tolerance });
    expect((await refusal(webhook, { key: pem, tolerance: 600, require: ["@method"] })).code).toBe(
      "coverage_missing",
    );
  });
});

it.each<[string, unknown, string]>([
  ["a public key", publicKey, "it is a public key"],
  ["a secret", createSecretKey(Buffer.from("secret")), "it is a secret key"],
  ["an elliptic key", generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey, "of type ec"],
  ["a public PEM", pem, "it is a public key"],
  ["undefined", undefined, "it is empty"],
])("signs nothing with %s", (_, key, words) => {
  const sign = () => signWebhook(sampleTransaction("APPROVED"), { key: key as KeyObject, url: URL_SENT });
  expect(sign).toThrow(TypeError);
  expect(sign).toThrow(words);
});

it("knows the errors of another copy of the library, and those of its own subclasses", () => {
  class ShopError extends WebhookError {}
  const own = new ShopError("unsigned", "nothing is signed");
  const foreign: unknown = Object.create({ [Symbol.for("paylink.WebhookError")]: true });
  expect([own instanceof WebhookError, own instanceof ShopError]).toEqual([true, true]);
  expect([foreign instanceof WebhookError, foreign instanceof ShopError]).toEqual([true, false]);
  for (const other of [null, undefined, "WebhookError", new Error("unsigned")])
    expect(other instanceof WebhookError).toBe(false);
});

it("makes samples that keep the specification, for each outcome and with changes", async () => {
  for (const outcome of ["APPROVED", "PARTIALLY_APPROVED", "DECLINED", "CANCELLED"] as const) {
    const transaction = sampleTransaction(outcome, { reference: "A-1", amountTrans: 12.34 });
    const key = KEYS.privatePem;
    const webhook = signWebhook(transaction, { key, url: URL_SENT });
    const verified = await createVerifier({ key: createPublicKey(key), strict: true })(webhook);
    expect(verified).toMatchObject({ outcome, transaction: { reference: "A-1", amountTrans: 12.34 } });
    // With strict, no field of the type is undefined.
    if (verified.outcome === "APPROVED") verified.transaction.authorisationCode.toUpperCase();
  }
  expect(() => sampleTransaction("approved" as "APPROVED")).toThrow(
    "it must be APPROVED, PARTIALLY_APPROVED",
  );
});
