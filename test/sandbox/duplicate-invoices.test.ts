/** `--duplicate-invoices`: whether the number of a paid order can be used again. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { linkId, oneTime, openTestSandbox, paidRecord, reusable } from "../support/sandbox.ts";

it("refuses the number of a paid order, also after a restart", async () => {
  const path = join(temporaryHome(), "sandbox.db");
  const first = openTestSandbox({ path });
  await paidRecord(first, "approved", { invoiceId: "INV-1" });
  await first.sandbox.close();
  const service = openTestSandbox({ path });
  const answer = await service.create(reusable({}, { invoiceId: "INV-1" }));
  const message = 'the order "INV-1" is paid: its number cannot be used again';
  expect(answer.status).toBe(422);
  expect(answer.json()).toMatchObject({
    code: 422,
    message,
    errors: [{ pointer: "#/invoiceId", detail: "is the number of a paid order" }],
  });
});

it.each(["cancelled", "declined", "partially-approved"])(
  "accepts the number of an order that was %s",
  async (outcome) => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime({ invoiceId: "INV-1" }));
    await service.pay(id, { outcome });
    await service.call("POST", `/v1/payment-links/${id}/cancel`);
    expect((await service.create(oneTime({ invoiceId: "INV-1" }))).status).toBe(200);
  },
);

it("accepts other numbers, none, and the base reference of a link that is paid many times", async () => {
  const service = openTestSandbox();
  const many = await linkId(service, reusable({}, { invoiceId: "GIFT" }));
  await service.pay(many, { outcome: "approved", amount: "5" });
  await paidRecord(service, "approved", { invoiceId: "INV-1" });
  for (const changes of [{ invoiceId: "GIFT" }, { invoiceId: "inv-1" }, { invoiceId: "1" }, {}])
    expect((await service.create(oneTime(changes))).status).toBe(200);
});

it("accepts every number on request", async () => {
  const service = openTestSandbox({ duplicateInvoices: "accept" });
  await paidRecord(service, "approved", { invoiceId: "INV-1" });
  expect((await service.create(oneTime({ invoiceId: "INV-1" }))).status).toBe(200);
});
