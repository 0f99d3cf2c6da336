/** What the sandbox's lists read of a ledger with many rows: by indexes, the newest only, and again only after a change. */
import { UNTOUCHED } from "../../src/sandbox/store/ledger-rows.ts";
import { expect, it, onTestFinished } from "vitest";
import { JsonNumber } from "../../src/values/json.ts";
import { kept } from "../../src/pages/kept.ts";
import { openLedger } from "../../src/sandbox/store/ledger.ts";
import {
  ROWS_COUNTED,
  countRows,
  DELIVERY_ROWS,
  LINK_ROWS,
  type LedgerQuery,
  PAYMENT_ROWS,
  type ReadRows,
  readBars,
  readLedgerPage,
  sumPayments,
} from "../../src/sandbox/store/ledger-lists.ts";
import { LEDGER_STEPS } from "../../src/sandbox/store/schema.ts";
import { IN_MEMORY } from "../../src/store/sqlite/connection.ts";
import { openDatabase } from "../../src/store/sqlite/open.ts";
import { openTestSandbox } from "../support/sandbox.ts";

const HOUR = 3_600_000;
const NOW = new Date("2026-01-31T12:00:00Z");
const ALL: LedgerQuery = { limit: 50, now: NOW };
const DAY: LedgerQuery = { ...ALL, since: new Date(NOW.getTime() - 24 * HOUR), until: NOW };
const BARS = { parts: 24, width: HOUR, since: new Date(NOW.getTime() - 24 * HOUR), until: NOW };

const payment = (uti: string, changes: object = {}) => ({
  uti,
  linkId: "A",
  form: null,
  record: {
    uti,
    reference: uti,
    transApproved: true,
    transCancelled: false,
    amountTrans: new JsonNumber("2.5"),
    transCurrencyCode: "EUR",
    transDateTime: "2026-01-31T11:30:00.000Z",
    ...changes,
  },
});

function openMemory() {
  const ledger = openLedger(IN_MEMORY);
  onTestFinished(() => ledger.close());
  return ledger;
}

/** How SQLite carries out what a function reads. */
function planOf(work: (read: ReadRows) => unknown): string {
  const database = openDatabase(IN_MEMORY, LEDGER_STEPS);
  onTestFinished(() => database.close());
  const plans: string[] = [];
  work((sql, ...values) => {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    plans.push(...steps.map(({ detail }) => String(detail)));
    return [];
  });
  return plans.join("\n");
}

it.each<readonly [string, (read: ReadRows) => unknown]>([
  ["all links", (read) => countRows(LINK_ROWS, ALL, read)],
  ["the links of a day", (read) => countRows(LINK_ROWS, DAY, read)],
  ["all deliveries", (read) => countRows(DELIVERY_ROWS, ALL, read)],
  ["the failed deliveries of a day", (read) => countRows(DELIVERY_ROWS, { ...DAY, state: "failed" }, read)],
  [
    "the deliveries of declined payments",
    (read) => countRows(DELIVERY_ROWS, { ...ALL, outcome: "declined" }, read),
  ],
  ["all payments", (read) => sumPayments(ALL, read)],
  ["the declined payments of a day", (read) => sumPayments({ ...DAY, state: "declined" }, read)],
  ["the chart of payments", (read) => readBars(PAYMENT_ROWS, BARS, read)],
  ["the chart of deliveries", (read) => readBars(DELIVERY_ROWS, BARS, read)],
])("counts and adds up by an index alone: %s", (_, work) => {
  expect(planOf(work)).toMatch(/USING COVERING INDEX/);
});

it.each([LINK_ROWS, PAYMENT_ROWS, DELIVERY_ROWS])(
  "lists the newest rows of a day without sorting them: $table",
  (source) => {
    const plan = planOf((read) => readLedgerPage<unknown>(source, DAY, read));
    expect(plan).toMatch(/\bSCAN\b/);
    expect(plan).not.toContain("TEMP B-TREE");
  },
);

it("adds up and charts anew after each change", () => {
  const ledger = openMemory();
  const shown = () => ({
    sums: ledger.sumPayments(ALL).map(({ events, sum }) => [events, sum]),
    payments: ledger.paymentBars(BARS).get("approved")?.at(-1),
    delivered: ledger.deliveryBars(BARS).get("delivered")?.at(-1),
    deliveries: ledger.countDeliveries(ALL),
  });
  expect(shown()).toEqual({ sums: [], payments: undefined, delivered: undefined, deliveries: 0 });
  const { record, linkId, uti } = payment("one");
  ledger.write(() => {
    ledger.addPayment(payment("one"));
    ledger.addDelivery({
      id: "d",
      linkId,
      uti,
      url: "http://127.0.0.1:4000/",
      body: new TextEncoder().encode(JSON.stringify({ ...record, amountTrans: 2.5 })),
      state: "pending",
      attempts: 0,
      tries: 0,
      due: 0,
    });
  });
  const first = { sums: [[1, 25_000n]], payments: 1, delivered: undefined, deliveries: 1 };
  expect(shown()).toEqual(first);
  expect(shown()).toEqual(first);
  const attempt = {
    deliveryId: "d",
    at: NOW,
    signedAt: NOW,
    headers: [],
    verdict: null,
    status: 200,
    answerHeaders: [],
    answer: "",
    detail: "",
    duration: 1,
  };
  ledger.write(() => ledger.addAttempt(attempt, { state: "delivered", due: 0 }));
  expect(shown()).toEqual({ ...first, delivered: 1 });
  ledger.write(() => ledger.addPayment(payment("two")));
  expect(shown()).toMatchObject({ sums: [[2, 50_000n]], payments: 2 });
  ledger.write(() => ledger.forget());
  expect(shown()).toMatchObject({ sums: [], deliveries: 0 });
});

it("reads what is slow to read again only after 20 times as long as that took", async () => {
  let [reads, time] = [0, NOW.getTime()];
  const read = kept(
    (period: string) => {
      time += 10;
      return [++reads, period];
    },
    () => new Date(time),
  );
  expect((await read("2026-01-31T11:00:00.100Z"))[0]).toBe(1);
  expect((await read("2026-01-31T11:00:00.200Z"))[0]).toBe(1);
  expect((await read("2026-01-31T11:01:00.000Z"))[0]).toBe(2);
  time += 200;
  expect((await read("2026-01-31T11:00:00.300Z"))[0]).toBe(3);
});

it("filters links by the exact time", () => {
  const ledger = openMemory();
  const createdDate = new Date("2026-01-31T11:00:00.500Z");
  ledger.write(() =>
    ledger.addLink({
      id: "A",
      request: { amount: new JsonNumber("1"), currency: "EUR", terminalId: "1", customerName: "Ada" },
      createdDate,
      expirationDate: "2026-02-07T12:00:00Z",
      ...UNTOUCHED,
    }),
  );
  const later = new Date(createdDate.getTime() + 1);
  for (const [query, found] of [
    [{ since: createdDate, until: later }, 1],
    [{ since: later }, 0],
    [{ until: createdDate }, 0],
  ] as const) {
    expect(ledger.links({ ...ALL, ...query }).rows).toHaveLength(found);
    expect(ledger.countLinks({ ...ALL, ...query })).toBe(found);
  }
});

it("adds up the newest payments only, and says so in the list and beside its chart", async () => {
  const service = openTestSandbox();
  const { ledger } = service;
  const shown = async () => (await service.browse("GET", "/payments")).text;
  ledger.write(() => {
    const earlier = { transCurrencyCode: "GBP", transDateTime: "2026-01-31T11:29:00.000Z" };
    ledger.addPayment(payment("oldest", earlier));
    for (let number = 1; number < ROWS_COUNTED; number++) ledger.addPayment(payment(`uti${number}`));
  });
  const all = await shown();
  expect(all).toContain("10,000 payments. Approved EUR 24,997.50, GBP 2.50.");
  expect(all).not.toContain("newest 10,000");
  ledger.write(() => ledger.addPayment(payment("one more")));
  const newest = await shown();
  expect(newest).toContain("More than 10,000 payments. Of the newest 10,000: approved EUR 25,000.00.");
  expect(newest.match(/Approved EUR 25,000\.00\. Only the newest 10,000 are counted\./g)).toHaveLength(1);
  expect(newest).not.toContain("GBP");
});
