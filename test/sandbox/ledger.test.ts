/** The sandbox's ledger: one sandbox a file, units that are stored whole or not at all, and the filters of its lists. */
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { JsonNumber } from "../../src/values/json.ts";
import { linkStatusAt } from "../../src/sandbox/links.ts";
import { openLedger, type Ledger } from "../../src/sandbox/store/ledger.ts";
import type { LedgerQuery } from "../../src/sandbox/store/ledger-lists.ts";
import {
  type Delivery,
  type DeliveryState,
  type Link,
  UNTOUCHED,
} from "../../src/sandbox/store/ledger-rows.ts";
import { temporaryHome } from "../support/home.ts";

const NOW = new Date("2026-01-31T12:00:00Z");
const ALL: LedgerQuery = { limit: 99, now: NOW };

function openMemory(): Ledger {
  const ledger = openLedger(":memory:");
  onTestFinished(() => ledger.close());
  return ledger;
}

const link = (id: string, changes: Partial<Link> = {}): Link => ({
  id,
  request: {
    amount: new JsonNumber("10"),
    currency: "EUR",
    terminalId: "1",
    customerName: "Ada",
    invoiceId: `INV-${id}`,
  },
  createdDate: NOW,
  expirationDate: "2026-02-07T12:00:00Z",
  ...UNTOUCHED,
  ...changes,
});

const delivery = (id: string, state: DeliveryState, uti = `uti-${id}`): Delivery => ({
  id,
  linkId: "A",
  uti,
  url: "http://127.0.0.1:4000/Paid",
  body: new Uint8Array(),
  state,
  attempts: 0,
  tries: 0,
  due: 0,
});

const bodyOf = (record: object): Uint8Array => new TextEncoder().encode(JSON.stringify(record));

const payment = (uti: string, linkId: string, reference: string, transApproved = true) => ({
  uti,
  linkId,
  record: { uti, reference, transApproved, transCancelled: false },
  form: null,
});

it("refuses a second sandbox on the same file, and accepts it after the first has closed", () => {
  const path = join(temporaryHome(), "sandbox.db");
  const first = openLedger(path);
  expect(() => openLedger(path)).toThrow("Another sandbox is using");
  first.close();
  openLedger(path).close();
});

it("stores a unit whole or not at all", () => {
  const path = join(temporaryHome(), "sandbox.db");
  const ledger = openLedger(path);
  const pay = (id: string, uti: string): void =>
    ledger.write(() => {
      ledger.addDelivery(delivery(id, "pending", uti));
      ledger.addPayment(payment(uti, "A", uti));
    });
  pay("d1", "a");
  // The delivery is new, and the payment is not.
  expect(() => pay("again", "a")).toThrow("UNIQUE");
  const stop = (): void =>
    ledger.write(() => {
      ledger.addDelivery(delivery("stopped", "pending"));
      throw new Error("stopped");
    });
  expect(stop).toThrow("stopped");
  pay("d2", "b");
  ledger.close();
  const stored = openLedger(path);
  onTestFinished(() => stored.close());
  expect(stored.payments(ALL).rows.map(({ uti }) => uti)).toEqual(["b", "a"]);
  expect(stored.deliveries(ALL).rows.map(({ uti }) => uti)).toEqual(["b", "a"]);
});

it("has no rows after an invalid position", () => {
  const ledger = openMemory();
  ledger.write(() => ledger.addDelivery(delivery("1", "pending")));
  expect(ledger.deliveries({ ...ALL, older: "9'; DROP TABLE deliveries" }).rows).toEqual([]);
});

it.each([
  ["Inv-7", "3f2a-paid"],
  ["customerName", ""],
  ["1,234.50", "3f2a-paid"],
  ["1234.5", "3f2a-paid"],
  ["ada eur", "3f2a-paid"],
  ["grace 7.00", "open"],
  ["3f2a-paid", "3f2a-paid"],
  ["3f2a", ""],
  ["ada grace", ""],
])("finds links by what they show: %s", async (text, expected) => {
  const ledger = openMemory();
  const request = (amount: string, customerName: string) => ({
    ...link("x").request,
    amount: new JsonNumber(amount),
    customerName,
  });
  ledger.write(() => {
    const paid = { ...request("1234.50", "Ada"), invoiceId: "INV-77" };
    ledger.addLink(link("3f2a-paid", { request: paid, paidDate: NOW }));
    ledger.addLink(link("open", { request: request("7", "Grace Hopper"), viewedDate: NOW }));
  });
  const found = ledger.links({ ...ALL, text }).rows.map(({ id }) => id);
  expect(found.join()).toBe(expected);
});

it.each(["gift-a9", "approved", "12,345.60 eur", "ada", "/paid"])(
  "finds a payment and its delivery by what they show, without the password in an address: %s",
  async (text) => {
    const ledger = openMemory();
    const record = {
      ...payment("u", "A", "GIFT-A99").record,
      amountTrans: "12345.60",
      transCurrencyCode: "EUR",
    };
    const url = "http://shop:hunter2@127.0.0.1:4000/paid";
    ledger.write(() => {
      ledger.addLink(link("A"));
      ledger.addPayment({ ...payment("u", "A", "GIFT-A99"), record });
      ledger.addPayment(payment("v", "B", "GIFT-B99", false));
      ledger.addDelivery({ ...delivery("e", "pending", "v"), linkId: "B", url: "http://127.0.0.1:4000/" });
      ledger.addDelivery({ ...delivery("d", "failed", "u"), url, body: bodyOf(record) });
    });
    expect(ledger.deliveries({ ...ALL, text }).rows.length).toBe(1);
    expect(ledger.deliveries({ ...ALL, text: `${text} hunter2` }).rows.length).toBe(0);
    expect(ledger.payments({ ...ALL, text }).rows.length).toBe(text === "/paid" ? 0 : 1);
  },
);

it("filters by outcome, by link and by payment", async () => {
  const ledger = openMemory();
  ledger.write(() => {
    ledger.addPayment(payment("one", "A", "R1"));
    ledger.addPayment(payment("two", "A", "R2", false));
    ledger.addPayment(payment("three", "B", "R3"));
    ledger.addDelivery(delivery("d1", "pending", "one"));
    ledger.addDelivery(delivery("d2", "pending", "two"));
  });
  const utis = (query: Partial<LedgerQuery>) =>
    ledger.payments({ ...ALL, ...query }).rows.map(({ uti }) => uti);
  expect(utis({ state: "declined" })).toEqual(["two"]);
  expect(utis({ linkId: "A" })).toEqual(["two", "one"]);
  expect(ledger.deliveries({ ...ALL, uti: "two" }).rows.map(({ id }) => id)).toEqual(["d2"]);
});

it("gives each link the same status as the service", async () => {
  const ledger = openMemory();
  const reusable = { ...link("x").request, linkOptions: {} };
  const links = [
    link("active"),
    link("viewed", { viewedDate: NOW }),
    link("attempted", { viewedDate: NOW, attemptedDate: NOW }),
    link("paid", { viewedDate: NOW, attemptedDate: NOW, paidDate: NOW }),
    link("expired", { expirationDate: "2026-01-31T12:00:00.000Z", viewedDate: NOW }),
    link("later", { expirationDate: "2026-01-31T12:00:00.001Z" }),
    link("cancelled", { cancelledDate: NOW, attemptedDate: NOW }),
    link("reusable", { request: reusable, viewedDate: NOW, attemptedDate: NOW, paidDate: NOW }),
  ];
  ledger.write(() => {
    for (const each of links) ledger.addLink(each);
  });
  for (const each of links) {
    const found = ledger.links({ ...ALL, state: linkStatusAt(each, NOW) }).rows.map(({ id }) => id);
    expect(found).toContain(each.id);
  }
  const statuses = ["active", "viewed", "attempted", "paid", "expired", "cancelled"];
  const totals = statuses.map((state) => ledger.links({ ...ALL, state }).rows.length);
  expect(totals.reduce((sum, total) => sum + total)).toBe(links.length);
});
