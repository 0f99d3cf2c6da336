/** Requests that the sandbox refuses: foreign hosts, pages of other origins, clients without the token. */
import { describe, expect, it } from "vitest";
import { linkId, oneTime, openTestSandbox, ORIGIN, type TestSandbox } from "../support/sandbox.ts";

it.each([
  ["evil.example", 421],
  ["evil.example:4010", 421],
  ["127.0.0.1.evil.example", 421],
  ["10.0.0.1:4010", 421],
  ["evil.shop:4010", 421],
  ["a b", 400],
  ["127.0.0.1:4010", 200],
  ["localhost:4010", 200],
  ["[::1]:4010", 200],
  ["shop:4010", 200],
  ["SHOP:4010", 200],
])("answers the host %j with %i", async (authority, status) => {
  const service = openTestSandbox({ allowedHosts: ["shop"] });
  expect((await service.request("GET", "/openapi.json", { authority })).status).toBe(status);
});

it("answers only its own and allowed hosts, and no request without a host", async () => {
  const statusFor = async (authority: string) =>
    (await openTestSandbox().request("GET", "/", { authority })).status;
  expect([await statusFor("shop:4010"), await statusFor("")]).toEqual([421, 400]);
});

describe("controls", () => {
  const advance = (service: TestSandbox, headers: Readonly<Record<string, string>>, host = ORIGIN) =>
    service.request("POST", "/sandbox/advance", {
      headers,
      body: "when=1s",
      authority: new URL(host).host,
    });

  it("need the merchant's token or the dashboard's key, also for the sandbox's own origin", async () => {
    const service = openTestSandbox();
    const { cookie, pages } = service;
    expect((await advance(service, {})).status).toBe(401);
    expect((await advance(service, { Origin: ORIGIN })).status).toBe(401);
    expect((await advance(service, { Authorization: "Bearer nonsense" })).status).toBe(401);
    const nonsense = "paylink-sandbox-4010=nonsense";
    expect((await advance(service, { Origin: pages, Cookie: nonsense }, pages)).status).toBe(401);
    const ofOtherPort = cookie.replace("4010", "4011");
    expect((await advance(service, { Origin: pages, Cookie: ofOtherPort }, pages)).status).toBe(401);
    expect((await advance(service, { Origin: ORIGIN, Cookie: cookie })).status).toBe(401);
    expect((await advance(service, { Authorization: `Bearer ${service.identity.token}` })).status).toBe(200);
    expect((await advance(service, { Origin: pages, Cookie: cookie }, pages)).status).toBe(200);
  });

  it.each(["https://evil.example", "null", "http://127.0.0.1:9999"])("refuse origin %s", async (Origin) => {
    const service = openTestSandbox();
    const Authorization = `Bearer ${service.identity.token}`;
    expect((await advance(service, { Origin, Authorization })).status).toBe(403);
    expect((await advance(service, { Origin, Cookie: service.cookie }, service.pages)).status).toBe(403);
  });

  it("are on the dashboard's page, which does not reveal its cookie", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    const { text } = await service.browse("GET", `/links/${id}`);
    expect(text).toContain(`action="/sandbox/links/${id}/cancel"`);
    expect(text).not.toContain(service.cookie.split("=")[1]);
    const cancelled = await service.browse("POST", `/sandbox/links/${id}/cancel`);
    expect(cancelled.header("location")).toBe("/deliveries?done=cancelled");
  });
});

it.each([
  [{ Origin: "https://evil.example" }, 403],
  [{ Origin: "null" }, 403],
  [{ Origin: "http://127.0.0.1:9999" }, 403],
  [{ "Sec-Fetch-Site": "cross-site" }, 403],
  [{ "Sec-Fetch-Site": "same-site" }, 403],
  [{}, 200],
  [{ Origin: ORIGIN }, 200],
  [{ Origin: ORIGIN, "Sec-Fetch-Site": "same-origin" }, 200],
] as const)("answers a payment with %j with %i", async (headers, status) => {
  const service = openTestSandbox();
  const id = await linkId(service, oneTime());
  const answer = await service.request("POST", `/pay?r=${id}`, {
    headers: { ...headers, Accept: "application/json" },
    body: "outcome=approved",
  });
  expect(answer.status).toBe(status);
  expect(service.ledger.paymentCount()).toBe(status === 200 ? 1 : 0);
});
