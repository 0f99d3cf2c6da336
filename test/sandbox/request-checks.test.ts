/** Requests that the sandbox refuses: foreign hosts, pages of other origins, clients without the token. */
import { expect, it } from "vitest";
import { linkId, oneTime, openTestSandbox, ORIGIN } from "../support/sandbox.ts";

it.each(["evil.example", "evil.example:4010", "127.0.0.1.evil.example", "10.0.0.1:4010"])(
  "refuses Host %s",
  async (authority) => {
    const service = openTestSandbox();
    for (const path of ["/", "/pay", "/sandbox/events"])
      expect((await service.request("GET", path, { authority })).status).toBe(421);
  },
);

it.each(["127.0.0.1:4010", "localhost:4010", "[::1]:4010"])("accepts Host %s", async (authority) => {
  expect((await openTestSandbox().request("GET", "/", { authority })).status).toBe(200);
});

it.each([
  ["", 400],
  ["a b", 400],
])("answers the host %j with %i", async (authority, status) => {
  expect((await openTestSandbox().request("GET", "/", { authority })).status).toBe(status);
});

it("accepts controls from the dashboard's own page and from clients with the token", async () => {
  const service = openTestSandbox();
  const advance = (headers: Readonly<Record<string, string>>) =>
    service.request("POST", "/sandbox/advance", { headers, body: "duration=1s" });
  expect((await advance({})).status).toBe(401);
  expect((await advance({ Authorization: "Bearer nonsense" })).status).toBe(401);
  for (const Origin of ["https://evil.example", "null", "http://127.0.0.1:9999"]) {
    expect((await advance({ Origin })).status).toBe(403);
    expect((await advance({ Origin, Authorization: `Bearer ${service.identity.token}` })).status).toBe(403);
  }
  expect((await advance({ Origin: ORIGIN })).status).toBe(200);
});

it.each([
  { Origin: "https://evil.example" },
  { Origin: "null" },
  { Origin: "http://127.0.0.1:9999" },
  { "Sec-Fetch-Site": "cross-site" },
  { "Sec-Fetch-Site": "same-site" },
  { Origin: ORIGIN, "Sec-Fetch-Site": "cross-site" },
])("refuses a payment with %j", async (headers) => {
  const service = openTestSandbox();
  const id = await linkId(service, oneTime(service));
  const answer = await service.request("POST", `/pay?r=${id}`, {
    headers: { ...headers, Accept: "application/json" },
    body: "outcome=approved",
  });
  expect(answer.status).toBe(403);
  expect(service.ledger.counts().payments).toBe(0);
});

it.each([{}, { Origin: ORIGIN }, { Origin: ORIGIN, "Sec-Fetch-Site": "same-origin" }])(
  "accepts a payment with %j",
  async (headers) => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime(service));
    const answer = await service.request("POST", `/pay?r=${id}`, {
      headers: { ...headers, Accept: "application/json" },
      body: "outcome=approved",
    });
    expect(answer.status).toBe(200);
  },
);
