/** What a listener refuses before any signature is looked at, over real sockets: order, statuses and codes. */
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { publicProblem, type RefusalCode } from "../../src/domain/reasons.ts";
import { publicAddress } from "../../src/receiver/address.ts";
import { refuseMessage } from "../../src/receiver/admit.ts";
import { exchangeRaw } from "../support/raw-client.ts";
import { KEYS } from "../support/keys.ts";
import { startTestReceiver } from "../support/receiver.ts";
import { keysOf } from "../support/vectors.ts";

const TARGET = "https://merchant.example/webhooks/paylink?src=pl";

const start = (maxBody = 1024 * 1024, unverified = false) =>
  startTestReceiver({
    paths: ["/webhooks/paylink"],
    publicAddress: () => publicAddress(new URL(TARGET)),
    maxBody,
    keys: async () => keysOf(KEYS.publicPem),
    unverified,
  });

describe("on a bare socket", () => {
  it("reports an incomplete body", async () => {
    const { server, codes } = await start();
    const head =
      "POST /webhooks/paylink HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n";
    const { hostname, port } = new URL(server.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(`${head}{"a`, () => socket.destroy()),
      );
      socket.on("close", () => resolve());
    });
    await expect.poll(() => codes()).toEqual(["body_incomplete"]);
  });
});

/** What a service outside this project would do. */
async function post(url: string, headers: Readonly<Record<string, string>>, body: string) {
  const reply = await fetch(url, { method: "POST", headers, body: Buffer.from(body) });
  return { status: reply.status, body: await reply.text() };
}

const CALLBACK = "id=d7&amount=10.5&currency=GBP&invoiceId=I1&errorCode=0&success=true&signature=h0cLbw%3D";
const CALLBACK_JSON = JSON.stringify(Object.fromEntries(new URLSearchParams(CALLBACK)));

describe("checks in order, cheapest first", () => {
  const json = { "Content-Type": "application/json" };
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const requests: [string, number, RefusalCode, string, Record<string, string>, string][] = [
    ["path", 404, "not_found", "/elsewhere", json, "{}"],
    [
      "media type",
      415,
      "unsupported_media_type",
      "/webhooks/paylink",
      { "Content-Type": "text/plain" },
      "{}",
    ],
    ["path before media type", 404, "not_found", "/elsewhere", { "Content-Type": "text/plain" }, "{}"],
    ["size", 413, "body_too_large", "/webhooks/paylink", json, "x".repeat(151)],
    ["media type before size", 415, "unsupported_media_type", "/webhooks/paylink", {}, "x".repeat(151)],
    [
      "content coding, which no signature needs to cover",
      415,
      "unsupported_content_coding",
      "/webhooks/paylink",
      { ...json, "Content-Encoding": "deflate" },
      "{\n}",
    ],
    ["signature", 401, "unsigned", "/webhooks/paylink", json, "{}"],
    ["a callback with an HMAC in its body", 401, "signature_in_body", "/webhooks/paylink", form, CALLBACK],
    ["the same as JSON", 401, "signature_in_body", "/webhooks/paylink", json, CALLBACK_JSON],
    ["any other form", 415, "unsupported_media_type", "/webhooks/paylink", form, "id=1&amount=10"],
    [
      "a callback with other fields of a signature",
      415,
      "unsupported_media_type",
      "/webhooks/paylink",
      { ...form, Signature: "sig1=:AAAA:", "Signature-Input": "sig1=()" },
      CALLBACK,
    ],
  ];

  it.each(requests)("%s: %d %s", async (_, status, code, path, headers, body) => {
    const { server, codes } = await start(150);
    const answer = await post(new URL(path, server.url).href, headers, body);
    expect(answer.status).toBe(status);
    // What the HTTP layer refuses is answered without a body.
    expect(["", JSON.stringify(publicProblem(code, status))]).toContain(answer.body);
    expect(codes()).toEqual([code]);
  });

  it("accepts unverified webhooks only from programs on this machine, not from a web page by DNS rebinding", async () => {
    const { server, codes } = await start(1024, true);
    const request = (host: string): string =>
      `POST /webhooks/paylink HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`;
    expect(await exchangeRaw(server.url, request("evil.example"))).toMatch(/^HTTP\/1\.1 421 /);
    expect(await exchangeRaw(server.url, request("localhost:4000"))).toMatch(/^HTTP\/1\.1 200 /);
    expect(codes()).toEqual(["wrong_host", "taken"]);
    expect(await post(new URL("/webhooks/paylink", server.url).href, json, CALLBACK_JSON)).toMatchObject({
      status: 401,
    });
  });

  it("repeats at most 500 characters of what a sender wrote", async () => {
    const { server, seen } = await start();
    for (const head of [`POST /${"a".repeat(15_000)}`, `${"A".repeat(12_000)} /`])
      await exchangeRaw(server.url, `${head} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await exchangeRaw(
      server.url,
      `POST /webhooks/paylink HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: ${"x".repeat(14_000)}\r\n\r\n`,
    );
    expect(seen.length).toBeGreaterThan(1);
    for (const outcome of seen) expect("detail" in outcome && outcome.detail.length).toBeLessThanOrEqual(500);
  });

  it("counts a body that arrives in chunks", async () => {
    const { server, codes } = await start(100);
    const answer = await exchangeRaw(
      server.url,
      `POST /webhooks/paylink HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nc8\r\n${"x".repeat(200)}\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(codes()).toEqual(["body_too_large"]);
  });
});

it("refuses a header section of more than 100 lines and a signature field of more than 8 KiB", () => {
  const head = { method: "POST", scheme: "http", authority: "x", target: "/" } as const;
  const lines = Array.from({ length: 101 }, (_, index) => [`x-${index}`, ""] as const);
  expect(refuseMessage({ ...head, headers: lines })).toMatchObject({ code: "limit_exceeded", status: 431 });
  expect(refuseMessage({ ...head, headers: lines.slice(1) })).toBeUndefined();
  const long = (length: number) =>
    refuseMessage({ ...head, headers: [["Signature-Input", "x".repeat(length)]] });
  expect(long(8193)).toMatchObject({ code: "limit_exceeded", status: 431 });
  expect(long(8192)).toBeUndefined();
});
