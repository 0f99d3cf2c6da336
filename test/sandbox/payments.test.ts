/** Payments by the specification: who can pay what, how often, and what the record then holds. */
import { describe, expect, it } from "vitest";
import { readRecord } from "../../src/domain/transaction.ts";
import { linkId, oneTime, openStage, reusable } from "../support/sandbox.ts";

describe("a one-time link", () => {
  it("is paid once, whoever comes at the same moment", async () => {
    const stage = openStage();
    const id = await linkId(stage, oneTime(stage));
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => stage.pay(id, { outcome: "approved" })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    await stage.sandbox.idle();
    expect(stage.posted).toHaveLength(1);
  });

  it("stays active after a declined or cancelled attempt", async () => {
    const stage = openStage();
    const id = await linkId(stage, oneTime(stage));
    for (const outcome of ["declined", "cancelled", "approved"])
      expect((await stage.pay(id, { outcome })).status).toBe(200);
    expect((await stage.ask("GET", `/pay?r=${id}`)).text).toContain("This link has been paid");
  });

  it.each([
    [{ outcome: "approved", amount: "1" }, "#/amount"],
    [{ outcome: "approved", reference: "MINE" }, "#/reference"],
    [{ outcome: "perhaps" }, "#/outcome"],
  ])("refuses %j at %s", async (form, pointer) => {
    const stage = openStage();
    const answer = await stage.pay(await linkId(stage, oneTime(stage)), form);
    expect(answer.json()["errors"]).toEqual([expect.objectContaining({ pointer })]);
  });
});

describe("a reusable link", () => {
  it("6: each payment has the base and a suffix of its own", async () => {
    const stage = openStage();
    const id = await linkId(stage, reusable(stage));
    const records = await Promise.all(
      Array.from({ length: 200 }, () => stage.pay(id, { outcome: "approved", amount: "1" })),
    );
    const references = records.map((answer) => String(answer.json()["reference"]));
    expect(new Set(references).size).toBe(200);
    for (const reference of references) expect(reference).toMatch(/^DONATION-[A-Z0-9]{9}$/);
  });

  it("7: prefills an amount that the customer may change, and leaves 0 open", async () => {
    const stage = openStage();
    const prefilled = await linkId(stage, reusable(stage, {}, { amount: 25 }));
    expect((await stage.ask("GET", `/pay?r=${prefilled}`)).text).toContain('value="25"');
    expect((await stage.pay(prefilled, { outcome: "approved" })).json()["amountTrans"]).toBe(25);
    expect((await stage.pay(prefilled, { outcome: "approved", amount: "7" })).json()["amountTrans"]).toBe(7);
    const open = await linkId(stage, reusable(stage));
    expect((await stage.pay(open, { outcome: "approved" })).status).toBe(422);
  });

  it.each([
    ["REUSABLE_VARIABLE", "4.99", 422],
    ["REUSABLE_VARIABLE", "5", 200],
    ["REUSABLE_VARIABLE", "10.00", 200],
    ["REUSABLE_VARIABLE", "10.01", 422],
    ["REUSABLE_VARIABLE", "7.005", 422],
    ["REUSABLE_VARIABLE", "7,50", 422],
    ["REUSABLE_VARIABLE", "0", 422],
    ["REUSABLE_OTHER", "10.01", 200],
  ])("9: bounds in mode %s with %s answer %i", async (mode, amount, status) => {
    const stage = openStage();
    const id = await linkId(stage, reusable(stage, { mode, minAmount: "5", maxAmount: 10 }));
    expect((await stage.pay(id, { outcome: "approved", amount })).status).toBe(status);
  });

  it("takes the customer's reference only where the mode is not FIXED", async () => {
    const stage = openStage();
    const form = { outcome: "approved", amount: "1", reference: "GIFT" };
    const fixed = await linkId(stage, reusable(stage));
    expect((await stage.pay(fixed, form)).status).toBe(422);
    const editable = await linkId(stage, reusable(stage, { paymentReferenceMode: "EDITABLE" }));
    expect((await stage.ask("GET", `/pay?r=${editable}`)).text).toContain('name="reference"');
    expect((await stage.pay(editable, form)).json()["reference"]).toMatch(/^GIFT-[A-Z0-9]{9}$/);
  });
});

describe("Transaction record", () => {
  it.each(["approved", "declined", "cancelled"])(
    "has the fields of a payment that was %s, and no null",
    async (outcome) => {
      const stage = openStage();
      await stage.pay(await linkId(stage, oneTime(stage)), { outcome });
      await stage.sandbox.idle();
      const [webhook] = stage.posted;
      const { record, breaches } = readRecord(webhook?.body ?? new Uint8Array());
      expect(breaches).toEqual([]);
      expect(Object.values(record ?? {})).not.toContain(null);
      expect(record).toMatchObject({
        transApproved: outcome === "approved",
        transCancelled: outcome === "cancelled",
        status: "Complete",
      });
    },
  );

  it("Overview 6: is read back with merchantCustomData, which no webhook carries", async () => {
    const stage = openStage();
    const id = await linkId(stage, oneTime(stage, { merchantCustomData: '{"cart":7}' }));
    const uti = String((await stage.pay(id, { outcome: "approved" })).json()["uti"]);
    const headers = { Authorization: `Bearer ${stage.identity.token}` };
    const read = (await stage.ask("GET", `/v1/transactions/${uti}`, { headers })).json();
    expect(read).toMatchObject({ uti, merchantCustomData: '{"cart":7}', amountTrans: 10.5 });
    await stage.sandbox.idle();
    expect(Buffer.from(stage.posted[0]?.body ?? []).toString()).not.toContain("merchantCustomData");
    expect((await stage.ask("GET", `/v1/transactions/${uti}`)).status).toBe(401);
  });

  it("8: a subscription start is taken with amount 0 and its own type", async () => {
    const stage = openStage();
    const periodic = { periodicType: "ucof", sequenceType: "initial" };
    const id = await linkId(stage, oneTime(stage, { amount: 0, transactionType: "VERIFICATION", periodic }));
    expect((await stage.pay(id, { outcome: "approved" })).json()).toMatchObject({
      transType: "VERIFICATION",
      amountTrans: 0,
    });
  });
});

it("draws the same ids for a seed, and others after a restart on the same ledger", async () => {
  const run = async () => {
    const stage = openStage({ seed: 7 });
    const id = await linkId(stage, reusable(stage));
    const { uti, reference } = (await stage.pay(id, { outcome: "approved", amount: "1" })).json();
    return [id, uti, reference];
  };
  expect(await run()).toEqual(await run());
});
