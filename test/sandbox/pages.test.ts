/** The sandbox's pages: escaping, their policy, the way back to the merchant, and errors. */
import { describe, expect, it } from "vitest";
import { linkId, NOW, oneTime, openTestSandbox, reusable } from "../support/sandbox.ts";

it("escapes every value, and allows no other scripts", async () => {
  const service = openTestSandbox();
  const markup = `"><script>alert(1)</script>'&`;
  const details = {
    customerName: markup,
    invoiceId: markup,
    description: markup,
    customerDetails: { billingAddress: { city: markup } },
  };
  const id = await linkId(service, reusable({ paymentReferenceMode: "OPEN" }, details));
  await service.pay(id, { outcome: "approved", amount: "1", reference: markup });
  await service.sandbox.idle();
  const one = { limit: 1, now: NOW };
  const [payment] = service.ledger.payments(one).rows;
  const [delivery] = service.ledger.deliveries(one).rows;
  const chain = [`/links/${id}`, `/payments/${payment?.uti}`, `/deliveries/${delivery?.id}`];
  const filters = [`/links?text=${encodeURIComponent(markup)}`, `/search?text=${encodeURIComponent(markup)}`];
  for (const path of ["/links", "/payments", "/deliveries", `/pay?r=${id}`, ...chain, ...filters]) {
    const page = await service.browse("GET", path);
    expect(page.status).toBe(200);
    expect(page.text).not.toContain("<script>alert");
    expect(page.header("content-security-policy")).toContain("default-src 'none'");
    expect(page.header("content-security-policy")).not.toContain("unsafe");
  }
});

it("shows characters that would hide or reorder others, and keeps emoji whole", async () => {
  const service = openTestSandbox();
  const text = "a\u202eb\u001bc\r\nd \u{1f468}\u200d\u{1f469} \u2764\ufe0f";
  const shown = "a\\u{202e}b\\u{1b}c\\r\\nd \u{1f468}\u200d\u{1f469} \u2764\ufe0f";
  const id = await linkId(service, oneTime({ customerName: text, invoiceId: text, description: text }));
  for (const path of [`/pay?r=${id}`, `/links/${id}`, "/links"]) {
    const { text: page } = await service.browse("GET", path);
    expect(page).toContain(path === "/links" ? "a\\u{202e}b\\u{1b}c\\r" : shown);
    // eslint-disable-next-line no-control-regex
    expect(page).not.toMatch(/[\u202e\u001b\r]/);
  }
});

it("answers errors as a page to browsers and as problem details to programs", async () => {
  const service = openTestSandbox();
  const page = await service.request("GET", "/nowhere", { headers: { Accept: "text/html,*/*;q=0.8" } });
  expect([page.status, page.text]).toEqual([404, expect.stringContaining("no such address")]);
  expect(page.header("content-type")).toBe("text/html; charset=utf-8");
  expect(page.header("content-security-policy")).toContain("default-src 'none'");
  const details = await service.request("GET", "/nowhere");
  expect(details.header("content-type")).toBe("application/problem+json");
});

describe("the way back to the merchant", () => {
  const settings = {
    returnUrl: "https://shop.example/paid",
    failureReturnUrl: "https://shop.example/failed",
  };
  const pay = async (paymentSettings: object, outcome: string) => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime({ paymentSettings }));
    const form = await service.request("GET", `/pay?r=${id}`);
    const answer = await service.request("POST", `/pay?r=${id}`, { body: `outcome=${outcome}` });
    const location = answer.header("location");
    return { form, result: location === undefined ? answer : await service.request("GET", location) };
  };

  it.each([
    ["approved", settings.returnUrl],
    ["cancelled", settings.failureReturnUrl],
    ["declined", settings.failureReturnUrl],
  ])("leads, after a payment that was %s, to %s", async (outcome, url) => {
    expect((await pay(settings, outcome)).result.text).toContain(`href="${url}"`);
  });

  it("keeps addresses of a link out of the policy", async () => {
    const { form, result } = await pay({ returnUrl: "https://shop.example;sandbox/paid" }, "approved");
    for (const page of [form, result]) {
      const directives = (page.header("content-security-policy") ?? "").split("; ");
      expect(directives).toContain("form-action 'self'");
      expect(directives.join()).not.toContain("sandbox");
    }
  });
});
