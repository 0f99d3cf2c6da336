/** The attempts of a list's rows, from the memory and the service: which link is which row's while another run sends. */
import { describe, expect, it } from "vitest";
import { attemptsOf } from "../../src/bulk/attempts.ts";
import { plan } from "../../src/bulk/plan.ts";
import type { CheckedRow } from "../../src/bulk/read.ts";
import { orderKey } from "../../src/bulk/row.ts";
import { NO_PROBLEMS } from "../../src/domain/errors.ts";
import type { Json } from "../../src/values/json.ts";
import { parseJsonObject } from "../../src/values/parse-json.ts";
import type { Attempt } from "../../src/store/sent-rows.ts";

const NOW = new Date(Date.UTC(2026, 0, 31));
const SERVICE = "https://pay.example";
const KEY = orderKey(SERVICE, "1", "A-1");

/** One of two equal rows of an order. */
const ROW: CheckedRow = {
  row: { line: 2, columns: [], values: [], problems: NO_PROBLEMS },
  identity: { key: KEY, terminal: "1", payment: "EUR 10.00 one-time SALE", content: "c", orderNumber: "A-1" },
  own: undefined,
  isValid: true,
  isChosen: true,
  problems: NO_PROBLEMS,
};

const CLAIMED: Attempt = {
  source: "memory",
  key: KEY,
  occurrence: 1,
  attempt: 1,
  state: "in flight",
  sentAt: NOW.getTime() - 1000,
  payment: "EUR 10.00 one-time SALE",
  content: "c",
  orderNumber: "A-1",
  status: undefined,
  id: null,
  url: null,
  error: null,
};

const linkOf = (amount: number): Json =>
  parseJsonObject(
    `{"id":"L1","invoiceId":"A-1","amount":${amount},"currency":"EUR","terminalId":"1","status":"active","createdDate":"2026-01-30T23:59:59Z"}`,
  ) ?? {};

/** What two equal rows are while the memory has these attempts, and the service this link. */
async function statesWith(remembered: readonly Attempt[], link: Json) {
  const rows = [ROW, ROW];
  const { byKey } = await attemptsOf({
    rows,
    memory: { find: () => Promise.resolve([...remembered]) },
    results: [],
    service: SERVICE,
    api: () => Promise.resolve({ listLinks: ({ page }) => Promise.resolve(page === 1 ? [link] : []) }),
    lookBack: 1000,
    now: NOW,
  });
  return plan(rows, byKey, { again: undefined, allowDuplicates: true, isOfLinks: false }).map(
    ({ state }) => state,
  );
}

describe("the link of a row that another run is sending", () => {
  it("is that row's, so that an equal row is sent for itself", async () => {
    expect(await statesWith([CLAIMED], linkOf(10))).toEqual(["in_flight", "new"]);
  });

  it("is that row's once its outcome is unknown, too", async () => {
    expect(await statesWith([{ ...CLAIMED, state: "unknown" }], linkOf(10))).toEqual(["sent", "new"]);
  });

  it("is another one where it asks for another payment", async () => {
    expect(await statesWith([CLAIMED], linkOf(12))).toEqual(["in_flight", "changed"]);
  });
});

describe("a link that the list and earlier results name", () => {
  it("is one link of its row", async () => {
    const own: Attempt = {
      ...CLAIMED,
      source: "results",
      state: "created",
      id: "L1",
      url: "https://x.example/?r=L1",
    };
    const { byKey } = await attemptsOf({
      rows: [{ ...ROW, own }],
      memory: { find: () => Promise.resolve([]) },
      results: [{ ...own }],
      service: SERVICE,
      api: undefined,
      lookBack: 0,
      now: NOW,
    });
    expect(byKey.get(KEY)).toHaveLength(1);
  });
});

describe("a link of the memory", () => {
  it("asks for what the service says", async () => {
    const created: Attempt = { ...CLAIMED, state: "created", id: "L1", url: "https://pay.example/?r=L1" };
    expect((await statesWith([created], linkOf(10)))[0]).toBe("sent");
    expect((await statesWith([created], linkOf(1)))[0]).toBe("changed");
  });
});
