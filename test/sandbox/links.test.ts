/** "Create payment link" by the specification: the rules by number, and a pointer to each invalid field. */
import { describe, expect, it } from "vitest";
import { MERCHANT } from "../support/merchant.ts";
import { linkId, oneTime, openTestSandbox, ORIGIN, reusable } from "../support/sandbox.ts";

const BEARER = `Bearer ${MERCHANT.token}`;

describe("Endpoints, Create payment link", () => {
  it("answers 200 with the response's fields; dates are null until the event happens (States 1 and 2)", async () => {
    const service = openTestSandbox();
    const answer = await service.create(oneTime({ invoiceId: "INV-1", description: "Tea" }));
    expect(answer.status).toBe(200);
    const { id } = answer.json();
    expect(answer.json()).toEqual({
      id,
      amount: 10.5,
      currency: "EUR",
      invoiceId: "INV-1",
      terminalId: service.identity.terminalId,
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
    const body = JSON.stringify(oneTime()).replace("10.5", "10.50");
    const headers = { Authorization: BEARER, "Content-Type": "application/json" };
    const answer = await service.request("POST", "/v1/payment-links", { headers, body });
    expect(answer.text).toContain('"amount":10.50,');
  });

  it("3 and 4: a multi-use link has linkOptions, and expires after 3 years by default", async () => {
    const service = openTestSandbox();
    const options = { mode: "REUSABLE_VARIABLE", minAmount: "5.00", maxAmount: 500 };
    const link = (await service.create(reusable(options))).json();
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
    const answer = await service.create(oneTime({ terminalId: "0000000000" }));
    expect(answer.status).toBe(403);
    expect(answer.json()["errors"]).toEqual([expect.objectContaining({ pointer: "#/terminalId" })]);
  });

  it("refuses a transaction type that the service does not name", async () => {
    const service = openTestSandbox();
    for (const transactionType of ["SALE", "AUTH", "PRE-AUTH", "VERIFICATION"])
      expect((await service.create(oneTime({ transactionType }))).status).toBe(200);
    const answer = await service.create(oneTime({ transactionType: "GIFT" }));
    expect(answer.status).toBe(400);
    expect(answer.json()["errors"]).toEqual([expect.objectContaining({ pointer: "#/transactionType" })]);
  });

  it("has the same addresses with a slash at their end", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    for (const target of [`/v1/payment-links/${id}/`, `/v1/payment-links/${id}`])
      expect((await service.call("GET", target)).json()["id"]).toBe(id);
    expect((await service.call("POST", `/v1/payment-links/${id}/cancel/`)).json()["status"]).toBe(
      "cancelled",
    );
  });

  it.each([
    [401, {}],
    [401, { Authorization: "Bearer nonsense" }],
    [400, { Authorization: BEARER, "Content-Type": "text/plain" }],
    [400, { Authorization: BEARER, "Content-Type": "application/json; charset=utf-8" }],
  ])("answers %i to a request with %j", async (status, headers) => {
    const answer = await openTestSandbox().request("POST", "/v1/payment-links", { headers, body: "{" });
    expect(answer.status).toBe(status);
    expect(answer.header("content-type")).toBe("application/problem+json");
  });
});

describe("States", () => {
  it("5: a multi-use link can be paid until it expires", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable());
    for (const amount of ["1", "2.50"])
      expect((await service.pay(id, { outcome: "approved", amount })).status).toBe(200);
    await service.control("/sandbox/advance", { when: "1095d" });
    expect((await service.pay(id, { outcome: "approved", amount: "1" })).status).toBe(200);
    await service.control("/sandbox/advance", { when: "1d" });
    expect((await service.pay(id, { outcome: "approved", amount: "1" })).status).toBe(409);
  });

  it("cancels a reusable link that has been paid, since it can be paid again", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable());
    await service.pay(id, { outcome: "approved", amount: "1" });
    expect((await service.control(`/sandbox/links/${id}/cancel`)).status).toBe(303);
    expect((await service.pay(id, { outcome: "approved", amount: "1" })).status).toBe(409);
  });

  it("is viewed only by a customer's GET of a link that can be paid", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    const viewed = async () => (await service.call("GET", `/v1/payment-links/${id}`)).json()["viewedDate"];
    await service.request("HEAD", `/pay?r=${id}`);
    for (const headers of [{ "Sec-Purpose": "prefetch;prerender" }, { "X-Purpose": "preview" }])
      await service.request("GET", `/pay?r=${id}`, { headers });
    expect(await viewed()).toBeNull();
    const cancelled = await linkId(service, oneTime());
    await service.call("POST", `/v1/payment-links/${cancelled}/cancel`);
    await service.control("/sandbox/advance", { when: "1h" });
    await service.request("GET", `/pay?r=${id}`);
    expect(await viewed()).toBe("2026-01-31T13:00:00.000Z");
    await service.request("GET", `/pay?r=${cancelled}`);
    const late = await linkId(service, oneTime());
    await service.control("/sandbox/advance", { when: "10d" });
    await service.request("GET", `/pay?r=${late}`);
    for (const closed of [cancelled, late]) expect(service.ledger.findLink(closed)?.viewedDate).toBeNull();
  });
});
