/** No web page elsewhere can drive the sandbox, and nothing that was given to it becomes markup or a fault. */
import { expect, it } from "vitest";
import { linkId, oneTime, openStage, ORIGIN, reusable } from "../support/sandbox.ts";

it.each(["evil.example", "evil.example:4010", "127.0.0.1.evil.example", "10.0.0.1:4010"])(
  "answers no Host %s",
  async (authority) => {
    const stage = openStage();
    for (const path of ["/", "/pay", "/sandbox/events"])
      expect((await stage.ask("GET", path, { authority })).status).toBe(421);
  },
);

it.each(["127.0.0.1:4010", "localhost:4010", "[::1]:4010"])("answers Host %s", async (authority) => {
  expect((await openStage().ask("GET", "/", { authority })).status).toBe(200);
});

it.each([
  ["", 400],
  ["a b", 400],
])("answers a request to the host %j with %i", async (authority, status) => {
  expect((await openStage().ask("GET", "/", { authority })).status).toBe(status);
});

it("the controls need the merchant's token or the dashboard's own page", async () => {
  const stage = openStage();
  const advance = (headers: Readonly<Record<string, string>>) =>
    stage.ask("POST", "/sandbox/advance", { headers, body: "duration=1s" });
  expect((await advance({})).status).toBe(401);
  expect((await advance({ Authorization: "Bearer nonsense" })).status).toBe(401);
  for (const Origin of ["https://evil.example", "null", "http://127.0.0.1:9999"]) {
    expect((await advance({ Origin })).status).toBe(403);
    expect((await advance({ Origin, Authorization: `Bearer ${stage.identity.token}` })).status).toBe(403);
  }
  expect((await advance({ Origin: ORIGIN })).status).toBe(200);
});

it("no page elsewhere pays a link", async () => {
  const stage = openStage();
  const id = await linkId(stage, oneTime(stage));
  const answer = await stage.ask("POST", `/pay?r=${id}`, {
    headers: { Origin: "https://evil.example", Accept: "application/json" },
    body: "outcome=approved",
  });
  expect(answer.status).toBe(403);
});

it("escapes everything and allows no script from anywhere else", async () => {
  const stage = openStage();
  const nasty = `"><script>alert(1)</script>'&`;
  const details = {
    customerName: nasty,
    invoiceId: nasty,
    description: nasty,
    customerDetails: { billingAddress: { city: nasty } },
  };
  const id = await linkId(stage, reusable(stage, { paymentReferenceMode: "OPEN" }, details));
  await stage.pay(id, { outcome: "approved", amount: "1", reference: nasty });
  for (const path of ["/", `/pay?r=${id}`, `/?text=${encodeURIComponent(nasty)}`]) {
    const page = await stage.ask("GET", path);
    expect(page.text).not.toContain("<script>alert");
    expect(page.header("content-security-policy")).toContain("default-src 'none'");
    expect(page.header("content-security-policy")).not.toContain("unsafe");
  }
});

it("the dashboard's form makes a link by the request's own rules", async () => {
  const stage = openStage();
  const create = (form: Readonly<Record<string, string>>) =>
    stage.ask("POST", "/sandbox/links", {
      headers: { Origin: ORIGIN },
      body: new URLSearchParams(form).toString(),
    });
  const fine = {
    amount: "12.50",
    currency: "eur",
    customerName: "Ada",
    terminalId: stage.identity.terminals[0] ?? "",
    expirationDate: "7d",
  };
  const made = await create(fine);
  expect(made.status).toBe(303);
  expect((await stage.ask("GET", made.header("location") ?? "")).text).toContain("EUR 12.50");
  const refused = await create({ ...fine, amount: "12,50", customerName: "" });
  expect(refused.status).toBe(400);
});

it("refusals are pages for browsers, and problem details for everybody else", async () => {
  const stage = openStage();
  const headers = { Origin: ORIGIN };
  const body = new URLSearchParams({ amount: "12,50", expirationDate: "<b>soon" }).toString();
  const browser = { ...headers, Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const shown = await stage.ask("POST", "/sandbox/links", { headers: browser, body });
  expect(shown.status).toBe(400);
  expect(shown.header("content-type")).toBe("text/html; charset=utf-8");
  expect(shown.header("content-security-policy")).toContain("default-src 'none'");
  expect(shown.text).toMatch(
    /<h1>Bad Request<\/h1>[\s\S]*amount<\/span> must[\s\S]*expirationDate<\/span> must/,
  );
  const told = await stage.ask("POST", "/sandbox/links", { headers, body });
  expect(told.header("content-type")).toBe("application/problem+json");
  expect(told.json()).toMatchObject({
    status: 400,
    errors: [{ pointer: "#/amount" }, { pointer: "#/expirationDate" }],
  });
  const nowhere = await stage.ask("GET", "/nowhere", { headers: browser });
  expect([nowhere.status, nowhere.text]).toEqual([404, expect.stringContaining("no such address")]);
});
