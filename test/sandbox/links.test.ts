/** "Create payment link" by the specification: the rules by number, and a pointer to each invalid field. */
import { describe, expect, it } from "vitest";
import { linkId, oneTime, openTestSandbox, ORIGIN, reusable } from "../support/sandbox.ts";

describe("Endpoints, Create payment link", () => {
  it("answers 200 with the response's fields; dates are null until the event happens (States 1 and 2)", async () => {
    const service = openTestSandbox();
    const answer = await service.create(oneTime(service, { invoiceId: "INV-1", description: "Tea" }));
    expect(answer.status).toBe(200);
    const { id } = answer.json();
    expect(answer.json()).toEqual({
      id,
      amount: 10.5,
      currency: "EUR",
      invoiceId: "INV-1",
      terminalId: service.identity.terminals[0],
      customerName: "Ada Lovelace",
      description: "Tea",
      createdDate: "2026-01-31T12:00:00.000Z",
      expirationDate: "2026-02-07T12:00:00Z",
      viewedDate: null,
      attemptedDate: null,
      paidDate: null,
      cancelledDate: null,
      status: "active",
      url: `${ORIGIN}/pay?r=${String(id)}`,
    });
  });

  it("returns the amount as it was written", async () => {
    const service = openTestSandbox();
    const body = JSON.stringify(oneTime(service)).replace("10.5", "10.50");
    const headers = { Authorization: `Bearer ${service.identity.token}`, "Content-Type": "application/json" };
    const answer = await service.request("POST", "/v1/payment-links", { headers, body });
    expect(answer.text).toContain('"amount":10.50,');
  });

  it("3 and 4: a multi-use link has linkOptions, and expires after 3 years by default", async () => {
    const service = openTestSandbox();
    const options = { mode: "REUSABLE_VARIABLE", minAmount: "5.00", maxAmount: 500 };
    const link = (await service.create(reusable(service, options))).json();
    expect(link["linkOptions"]).toEqual(options);
    expect(link["expirationDate"]).toBe("2029-01-31T12:00:00.000Z");
  });

  it("names each invalid field by its pointer", async () => {
    const service = openTestSandbox();
    const answer = await service.create({
      amount: -1,
      currency: "EURO",
      periodic: { periodicType: "x" },
      customerName: "",
    });
    expect(answer.status).toBe(400);
    expect(answer.header("content-type")).toBe("application/problem+json");
    const { errors } = answer.json() as { errors: { pointer: string; detail: string }[] };
    expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual([
      "#/amount",
      "#/currency",
      "#/customerName",
      "#/expirationDate",
      "#/periodic/periodicType",
      "#/terminalId",
    ]);
    expect(errors.every(({ detail }) => detail.length > 0)).toBe(true);
  });

  it("1: the terminal must belong to the credentials", async () => {
    const service = openTestSandbox();
    const answer = await service.create(oneTime(service, { terminalId: "0000000000" }));
    expect(answer.status).toBe(403);
    expect(answer.json()["errors"]).toEqual([expect.objectContaining({ pointer: "#/terminalId" })]);
  });

  it("refuses a transaction type that the service does not name", async () => {
    const service = openTestSandbox();
    for (const transactionType of ["SALE", "AUTH", "PRE-AUTH", "VERIFICATION"])
      expect(
        (await service.call("POST", "/v1/payment-links", oneTime(service, { transactionType }))).status,
      ).toBe(200);
    const answer = await service.call(
      "POST",
      "/v1/payment-links",
      oneTime(service, { transactionType: "GIFT" }),
    );
    expect(answer.status).toBe(400);
    expect(answer.json()["errors"]).toEqual([expect.objectContaining({ pointer: "#/transactionType" })]);
  });

  it("has the same addresses with a slash at their end", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime(service));
    for (const target of [`/v1/payment-links/${id}/`, `/v1/payment-links/${id}`])
      expect((await service.call("GET", target)).json()["id"]).toBe(id);
    expect((await service.call("POST", `/v1/payment-links/${id}/cancel/`)).json()["status"]).toBe(
      "cancelled",
    );
  });

  it.each([
    [401, { "Content-Type": "application/json" }],
    [401, { "Content-Type": "application/json", Authorization: "Bearer nonsense" }],
    [400, { "Content-Type": "text/plain", Authorization: "token" }],
    [400, { "Content-Type": "application/json; charset=utf-8", Authorization: "token" }],
  ])("answers %i to a request with %j", async (status, headers) => {
    const service = openTestSandbox();
    const authorized =
      "Authorization" in headers && headers.Authorization === "token"
        ? { ...headers, Authorization: `Bearer ${service.identity.token}` }
        : headers;
    const answer = await service.request("POST", "/v1/payment-links", { headers: authorized, body: "{" });
    expect(answer.status).toBe(status);
    expect(answer.header("content-type")).toBe("application/problem+json");
  });
});

describe("States", () => {
  it("answers 410 with an explanation for an expired link", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime(service));
    expect((await service.request("GET", `/pay?r=${id}`)).status).toBe(200);
    await service.control("/sandbox/advance", { when: "7d" });
    const page = await service.request("GET", `/pay?r=${id}`);
    expect(page.status).toBe(410);
    expect(page.text).toContain("This link has expired");
    expect((await service.pay(id, { outcome: "approved" })).status).toBe(409);
  });

  it("5: a multi-use link can be paid until it expires", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable(service));
    for (const amount of ["1", "2.50"])
      expect((await service.pay(id, { outcome: "approved", amount })).status).toBe(200);
    await service.control("/sandbox/advance", { when: "1095d" });
    expect((await service.pay(id, { outcome: "approved", amount: "1" })).status).toBe(200);
    await service.control("/sandbox/advance", { when: "1d" });
    expect((await service.pay(id, { outcome: "approved", amount: "1" })).status).toBe(409);
  });

  it.each([
    ["paid", "1s"],
    ["expired", "7d"],
    ["cancelled", "1s"],
  ])("refuses to cancel a link that is %s", async (status, later) => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime(service));
    if (status === "paid") await service.pay(id, { outcome: "approved" });
    if (status === "cancelled") await service.control(`/sandbox/links/${id}/cancel`);
    await service.control("/sandbox/advance", { when: later });
    const before = service.ledger.findLink(id);
    const answer = await service.control(`/sandbox/links/${id}/cancel`);
    expect(answer.status).toBe(422);
    expect(answer.json()["detail"]).toBe(
      `only a link that is active, viewed or attempted can be cancelled, and this link is ${status}`,
    );
    expect(service.ledger.findLink(id)).toEqual(before);
  });

  it("cancels a reusable link that has been paid, since it can be paid again", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable(service));
    await service.pay(id, { outcome: "approved", amount: "1" });
    expect((await service.control(`/sandbox/links/${id}/cancel`)).status).toBe(303);
    expect((await service.pay(id, { outcome: "approved", amount: "1" })).status).toBe(409);
  });

  it("is viewed by a customer's GET of a link that can be paid, and by nothing else", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime(service));
    const viewed = async () => (await service.call("GET", `/v1/payment-links/${id}`)).json()["viewedDate"];
    await service.request("HEAD", `/pay?r=${id}`);
    expect(await viewed()).toBeNull();
    const cancelled = await linkId(service, oneTime(service));
    await service.call("POST", `/v1/payment-links/${cancelled}/cancel`);
    await service.control("/sandbox/advance", { when: "1h" });
    await service.request("GET", `/pay?r=${id}`);
    expect(await viewed()).toBe("2026-01-31T13:00:00.000Z");
    await service.request("GET", `/pay?r=${cancelled}`);
    const late = await linkId(service, oneTime(service));
    await service.control("/sandbox/advance", { when: "10d" });
    await service.request("GET", `/pay?r=${late}`);
    for (const closed of [cancelled, late]) expect(service.ledger.findLink(closed)?.viewedDate).toBeNull();
  });

  it("explains that a link is cancelled or unknown", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime(service));
    expect((await service.control(`/sandbox/links/${id}/cancel`)).status).toBe(303);
    expect((await service.request("GET", `/pay?r=${id}`)).text).toContain("This link was cancelled");
    expect((await service.pay(id, { outcome: "approved" })).json()["detail"]).toBe("the link is cancelled");
    const unknown = await service.request("GET", "/pay?r=none");
    expect(unknown.status).toBe(404);
    expect(unknown.text).toContain("Payment link not found");
  });
});
