/** The ledger's lists: their order, filters, search and pages. */
import { expect, it, onTestFinished } from "vitest";
import { JsonNumber } from "../../src/domain/json.ts";
import type { Ledger } from "../../src/sandbox/store/ledger.ts";
import type { ListQuery } from "../../src/sandbox/store/lists.ts";
import type { Delivery, DeliveryState, Link } from "../../src/sandbox/store/rows.ts";
import { statusOf } from "../../src/sandbox/links.ts";
import { openLedger } from "../../src/sandbox/store/ledger.ts";

const NOW = new Date("2026-01-31T12:00:00Z");
const ALL: ListQuery = { limit: 99, now: NOW };

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
  viewedDate: null,
  attemptedDate: null,
  paidDate: null,
  cancelledDate: null,
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

it("pages through the newest first, without gaps or repeats", async () => {
  const ledger = openMemory();
  ledger.write(() => {
    for (let number = 1; number <= 11; number++)
      ledger.addDelivery(delivery(String(number), number % 4 === 0 ? "failed" : "delivered"));
  });
  const expected = ["11", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1"];
  const read = (query: Partial<ListQuery>) => ledger.deliveries({ ...ALL, limit: 3, ...query });
  const pages = [read({})];
  for (let page = pages[0]; page?.older !== undefined; pages.push(page)) page = read({ older: page.older });
  expect(pages.flatMap(({ rows }) => rows.map(({ id }) => id))).toEqual(expected);
  ledger.write(() => ledger.resendFailed(5));
  expect(read({ state: "failed" }).rows).toEqual([]);
  expect(ledger.failedCount()).toBe(0);
});

it("has no rows after a position that is none", () => {
  const ledger = openMemory();
  ledger.write(() => ledger.addDelivery(delivery("1", "waiting")));
  expect(ledger.deliveries({ ...ALL, older: "9'; DROP TABLE deliveries" }).rows).toEqual([]);
});

it("finds a payment and its deliveries by part of the reference, and a link by that of its order, in either case", async () => {
  const ledger = openMemory();
  ledger.write(() => {
    for (const id of ["A", "B"]) {
      ledger.addLink(link(id));
      ledger.addPayment(payment(`uti-${id}`, id, `GIFT-${id}99`));
      const { record } = payment(`uti-${id}`, id, `GIFT-${id}99`);
      ledger.addDelivery({ ...delivery(`d-${id}`, "delivered", `uti-${id}`), body: bodyOf(record) });
    }
  });
  const query = { ...ALL, text: "gift-a9" };
  expect(ledger.payments(query).rows.map(({ uti }) => uti)).toEqual(["uti-A"]);
  expect(ledger.deliveries(query).rows.map(({ id }) => id)).toEqual(["d-A"]);
  expect(ledger.links({ ...ALL, text: "inv-b" }).rows.map(({ id }) => id)).toEqual(["B"]);
  expect(ledger.deliveries({ ...ALL, text: "/paid" }).rows.length).toBe(2);
  expect(ledger.links({ ...ALL, text: "customerName" }).rows.length).toBe(0);
});

it.each([
  ["1,234.50", "paid"],
  ["1234.5", "paid"],
  ["ada eur", "paid"],
  ["grace 7.00", "open"],
  ["3f2a-paid", "paid"],
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
    ledger.addLink(link("3f2a-paid", { request: request("1234.50", "Ada"), paidDate: NOW }));
    ledger.addLink(link("open", { request: request("7", "Grace Hopper"), viewedDate: NOW }));
  });
  const found = ledger.links({ ...ALL, text }).rows.map(({ id }) => id);
  expect(found.join()).toBe(expected === "" ? "" : expected === "paid" ? "3f2a-paid" : expected);
});

it.each(["approved", "12,345.60 eur", "ada", "127.0.0.1"])(
  "finds a payment and its delivery by what they show: %s",
  async (text) => {
    const ledger = openMemory();
    const record = { ...payment("u", "A", "R").record, amountTrans: "12345.60", transCurrencyCode: "EUR" };
    const url = "http://shop:hunter2@127.0.0.1:4000/paid";
    ledger.write(() => {
      ledger.addLink(link("A"));
      ledger.addPayment({ ...payment("u", "A", "R"), record });
      ledger.addDelivery({ ...delivery("d", "failed", "u"), url, body: bodyOf(record) });
    });
    expect(ledger.deliveries({ ...ALL, text }).rows.length).toBe(1);
    expect(ledger.deliveries({ ...ALL, text: `${text} hunter2` }).rows.length).toBe(0);
    expect(ledger.payments({ ...ALL, text }).rows.length).toBe(text === "127.0.0.1" ? 0 : 1);
  },
);

it("filters by outcome, by link and by payment", async () => {
  const ledger = openMemory();
  ledger.write(() => {
    ledger.addPayment(payment("one", "A", "R1"));
    ledger.addPayment(payment("two", "A", "R2", false));
    ledger.addPayment(payment("three", "B", "R3"));
    ledger.addDelivery(delivery("d1", "waiting", "one"));
    ledger.addDelivery(delivery("d2", "waiting", "two"));
  });
  const utis = (query: Partial<ListQuery>) =>
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
    const found = ledger.links({ ...ALL, state: statusOf(each, NOW) }).rows.map(({ id }) => id);
    expect(found).toContain(each.id);
  }
  const statuses = ["active", "viewed", "attempted", "paid", "expired", "cancelled"];
  const totals = statuses.map((state) => ledger.links({ ...ALL, state }).rows.length);
  expect(totals.reduce((sum, total) => sum + total)).toBe(links.length);
});
