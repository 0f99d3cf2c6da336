/** Payments by the specification: which are accepted, and what their records contain. */
import { describe, expect, it } from "vitest";
import { readRecord } from "../../src/domain/transaction.ts";
import { linkId, oneTime, openTestSandbox, reusable, paidRecord } from "../support/sandbox.ts";

describe("a one-time link", () => {
  it("is paid once by 20 simultaneous payments", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => service.pay(id, { outcome: "approved" })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    await service.sandbox.idle();
    expect(service.posted).toHaveLength(1);
  });

  it("stays active after a declined or cancelled attempt", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    for (const outcome of ["declined", "cancelled", "approved"])
      expect((await service.pay(id, { outcome })).status).toBe(200);
    expect((await service.request("GET", `/pay?r=${id}`)).text).toContain("This link has been paid");
  });

  it.each([
    [{ outcome: "approved", amount: "1" }, "#/amount"],
    [{ outcome: "approved", reference: "MINE" }, "#/reference"],
    [{ outcome: "perhaps" }, "#/outcome"],
  ])("refuses %j at %s", async (form, pointer) => {
    const service = openTestSandbox();
    const answer = await service.pay(await linkId(service, oneTime()), form);
    expect(answer.json()["errors"]).toEqual([expect.objectContaining({ pointer })]);
  });
});

describe("a part of the amount", () => {
  it("leaves a one-time link attempted, until the rest is paid", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime({ amount: 10.5 }));
    const status = async () => (await service.call("GET", `/v1/payment-links/${id}`)).json()["status"];
    const part = await service.request("POST", `/pay?r=${id}`, { body: "outcome=partially-approved" });
    const receipt = (await service.request("GET", part.header("location") ?? "")).text;
    expect(receipt).toContain("Only part of the amount was charged. EUR 5.25 is left to pay.");
    expect(receipt).toContain("Pay the rest");
    expect(await status()).toBe("attempted");
    const page = (await service.request("GET", `/pay?r=${id}`)).text;
    expect(page).toContain("Pay EUR 5.25");
    expect(page).toContain("left to pay of EUR 10.50");
    const rest = (await service.pay(id, { outcome: "approved" })).json();
    expect([rest["amountTrans"], await status()]).toEqual([5.25, "paid"]);
  });
});

describe("a reusable link", () => {
  it("6: gives each payment the base reference and a unique suffix", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable());
    const records = await Promise.all(
      Array.from({ length: 200 }, () => service.pay(id, { outcome: "approved", amount: "1" })),
    );
    const references = records.map((answer) => String(answer.json()["reference"]));
    expect(new Set(references).size).toBe(200);
    for (const reference of references) expect(reference).toMatch(/^DONATION-[A-Z0-9]{9}$/);
  });

  it("7: prefills an amount that the customer may change, and leaves 0 open", async () => {
    const service = openTestSandbox();
    const prefilled = await linkId(service, reusable({}, { amount: 25 }));
    expect((await service.request("GET", `/pay?r=${prefilled}`)).text).toContain('value="25.00"');
    expect((await service.pay(prefilled, { outcome: "approved" })).json()["amountTrans"]).toBe(25);
    expect((await service.pay(prefilled, { outcome: "approved", amount: "7" })).json()["amountTrans"]).toBe(
      7,
    );
    const open = await linkId(service, reusable());
    expect((await service.pay(open, { outcome: "approved" })).status).toBe(422);
  });

  it.each([
    ["REUSABLE_VARIABLE", "4.99", 422],
    ["REUSABLE_VARIABLE", "5", 200],
    ["REUSABLE_VARIABLE", "10.00", 200],
    ["REUSABLE_VARIABLE", "10.01", 422],
    ["REUSABLE_VARIABLE", "7.005", 422],
    ["REUSABLE_VARIABLE", "7,50", 200],
    ["REUSABLE_VARIABLE", "7,500", 422],
    ["REUSABLE_VARIABLE", "0", 422],
    ["REUSABLE_OTHER", "10.01", 200],
  ])("9: bounds in mode %s with %s answer %i", async (mode, amount, status) => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable({ mode, minAmount: "5", maxAmount: 10 }));
    expect((await service.pay(id, { outcome: "approved", amount })).status).toBe(status);
  });

  it("accepts the customer's reference unless the mode is FIXED", async () => {
    const service = openTestSandbox();
    const form = { outcome: "approved", amount: "1", reference: "GIFT" };
    const fixed = await linkId(service, reusable());
    expect((await service.pay(fixed, form)).status).toBe(422);
    const editable = await linkId(service, reusable({ paymentReferenceMode: "EDITABLE" }));
    expect((await service.request("GET", `/pay?r=${editable}`)).text).toContain('name="reference"');
    expect((await service.pay(editable, form)).json()["reference"]).toMatch(/^GIFT-[A-Z0-9]{9}$/);
  });
});

describe("Transaction record", () => {
  it.each(["approved", "declined", "cancelled"])(
    "has the fields of a payment that was %s, without nulls",
    async (outcome) => {
      const service = openTestSandbox();
      await paidRecord(service, outcome);
      const [webhook] = service.posted;
      const { record, violations } = readRecord(webhook?.body ?? new Uint8Array());
      expect(violations).toEqual([]);
      expect(Object.values(record ?? {})).not.toContain(null);
      expect(record).toMatchObject({
        transApproved: outcome === "approved",
        transCancelled: outcome === "cancelled",
        status: "Complete",
      });
    },
  );

  it("Overview 6: is read with merchantCustomData, which webhooks do not contain", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime({ merchantCustomData: '{"cart":7}' }));
    const uti = String((await service.pay(id, { outcome: "approved" })).json()["uti"]);
    const headers = { Authorization: `Bearer ${service.identity.token}` };
    const read = (await service.request("GET", `/v1/transactions/${uti}`, { headers })).json();
    expect(read).toMatchObject({ uti, merchantCustomData: '{"cart":7}', amountTrans: 10.5 });
    await service.sandbox.idle();
    expect(Buffer.from(service.posted[0]?.body ?? []).toString()).not.toContain("merchantCustomData");
    expect((await service.request("GET", `/v1/transactions/${uti}`)).status).toBe(401);
  });

  it("8: a subscription start is paid with amount 0 and its own type", async () => {
    const service = openTestSandbox();
    const periodic = { periodicType: "ucof", sequenceType: "initial" };
    const id = await linkId(service, oneTime({ amount: 0, transactionType: "VERIFICATION", periodic }));
    expect((await service.pay(id, { outcome: "approved" })).json()).toMatchObject({
      transType: "VERIFICATION",
      amountTrans: 0,
    });
  });
});
