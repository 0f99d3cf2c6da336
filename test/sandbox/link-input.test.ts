/** List, details, update and cancel as the service documents them: replies, statuses, dates and refusals. */
import { describe, expect, it } from "vitest";
import { linkId, NOW, oneTime, openTestSandbox, reusable, type TestSandbox } from "../support/sandbox.ts";

const LINKS = "/v1/payment-links";
const LATER = "2026-01-31T13:00:00.000Z";

const show = async (service: TestSandbox, id: string) => (await service.call("GET", `${LINKS}/${id}`)).json();
const view = (service: TestSandbox, id: string) => service.request("GET", `/pay?r=${id}`);
const advance = (service: TestSandbox, when: string) => service.control("/sandbox/advance", { when });

function list(service: TestSandbox, changes: Readonly<Record<string, string>> = {}) {
  const query = {
    terminalId: service.identity.terminalId,
    from: "2026-01-01T00:00:00Z",
    to: "2027-12-31T00:00:00Z",
    ...changes,
  };
  return service.call("GET", `${LINKS}?${new URLSearchParams(query).toString()}`);
}

const idsIn = (records: unknown): unknown[] => (records as { id: string }[]).map(({ id }) => id);

/** What happens to a link, by the status that it then has. */
const HISTORIES: Readonly<Record<string, (service: TestSandbox, id: string) => Promise<unknown>>> = {
  active: async () => undefined,
  viewed: view,
  attempted: (service, id) => service.pay(id, { outcome: "declined" }),
  paid: (service, id) => service.pay(id, { outcome: "approved" }),
  expired: (service) => advance(service, "7d"),
  cancelled: (service, id) => service.call("POST", `${LINKS}/${id}/cancel`),
};
const STATUSES = Object.keys(HISTORIES);

async function linkThatIs(status: string, service: TestSandbox): Promise<string> {
  const id = await linkId(service, oneTime({ description: "Tea" }));
  await HISTORIES[status]?.(service, id);
  return id;
}

describe("the details of a link", () => {
  it("have a short id", async () => {
    const service = openTestSandbox();
    expect(await linkId(service, oneTime())).toMatch(/^[A-Za-z0-9]{9}$/);
  });

  it("equal the reply to its creation", async () => {
    const service = openTestSandbox();
    const created = (await service.create(reusable({ mode: "REUSABLE_VARIABLE" }))).json();
    expect(await show(service, String(created["id"]))).toEqual(created);
  });

  it("follow its life with a status and the date of each event", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    const dates = { viewedDate: null, attemptedDate: null, paidDate: null, cancelledDate: null };
    expect(await show(service, id)).toMatchObject({ status: "active", ...dates });
    await view(service, id);
    const viewed = { ...dates, viewedDate: NOW.toISOString() };
    expect(await show(service, id)).toMatchObject({ status: "viewed", ...viewed });
    await advance(service, "1h");
    await service.pay(id, { outcome: "cancelled" });
    const attempted = { ...viewed, attemptedDate: LATER };
    expect(await show(service, id)).toMatchObject({ status: "attempted", ...attempted });
    await service.pay(id, { outcome: "approved" });
    expect(await show(service, id)).toMatchObject({ status: "paid", ...attempted, paidDate: LATER });
    await advance(service, "7d");
    expect(await show(service, id)).toMatchObject({ status: "paid" });
  });

  it("never name a reusable link paid", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable());
    await service.pay(id, { outcome: "declined", amount: "1" });
    expect(await show(service, id)).toMatchObject({ status: "attempted" });
    await service.pay(id, { outcome: "approved", amount: "1" });
    expect(await show(service, id)).toMatchObject({ status: "viewed" });
    await advance(service, "1096d");
    expect(await show(service, id)).toMatchObject({ status: "expired" });
  });
});

describe("a list of links", () => {
  it("has the newest links first, as their details show them", async () => {
    const service = openTestSandbox();
    const first = await linkThatIs("viewed", service);
    await advance(service, "1h");
    const second = await linkThatIs("cancelled", service);
    const answer = await list(service);
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      totalCount: 2,
      records: [await show(service, second), await show(service, first)],
    });
  });

  it("has the links that were created between two moments, both included", async () => {
    const service = openTestSandbox();
    const first = await linkId(service, oneTime());
    await advance(service, "1h");
    const second = await linkId(service, oneTime());
    const from = NOW.toISOString();
    expect((await list(service, { from, to: LATER })).json()["totalCount"]).toBe(2);
    expect(idsIn((await list(service, { from, to: "2026-01-31T12:59:59Z" })).json()["records"])).toEqual([
      first,
    ]);
    const after = { from: "2026-01-31T14:00:01+02:00", to: LATER };
    expect(idsIn((await list(service, after)).json()["records"])).toEqual([second]);
  });

  it("has 20 links on a page by default, and the count of all pages", async () => {
    const service = openTestSandbox();
    const ids: string[] = [];
    for (let link = 0; link < 23; link++) ids.unshift(await linkId(service, oneTime()));
    const first = (await list(service)).json();
    expect(first["totalCount"]).toBe(23);
    expect(idsIn(first["records"])).toEqual(ids.slice(0, 20));
    expect(idsIn((await list(service, { page: "2" })).json()["records"])).toEqual(ids.slice(20));
    expect(idsIn((await list(service, { page: "3", size: "5" })).json()["records"])).toEqual(
      ids.slice(10, 15),
    );
    expect((await list(service, { page: "9" })).json()).toEqual({ totalCount: 23, records: [] });
    expect(idsIn((await list(service, { size: "5000" })).json()["records"])).toEqual(ids);
  });

  it.each(STATUSES)("can be limited to the status %s", async (status) => {
    const service = openTestSandbox();
    // Time passes first, so that only the link of that history has expired.
    const expired = await linkThatIs("expired", service);
    const renewed = { expirationDate: "2026-03-01T12:00:00Z" };
    const ids = new Map([["expired", expired]]);
    for (const other of STATUSES.filter((name) => name !== "expired")) {
      const id = await linkId(service, oneTime(renewed));
      await HISTORIES[other]?.(service, id);
      ids.set(other, id);
    }
    const { totalCount, records } = (await list(service, { status })).json();
    expect([totalCount, records]).toEqual([1, [expect.objectContaining({ id: ids.get(status), status })]]);
  });

  it("has links up to 365 days old, and refuses an older period", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    await advance(service, "365d");
    const from = NOW.toISOString();
    expect(idsIn((await list(service, { from })).json()["records"])).toEqual([id]);
    // A client's clock may be ahead.
    await advance(service, "61s");
    const answer = await list(service, { from });
    expect(answer.status).toBe(400);
    expect(answer.json()["errors"]).toEqual([expect.objectContaining({ pointer: "#/from" })]);
  });

  it("is refused for a period that ends before it begins", async () => {
    const answer = await list(openTestSandbox(), { from: "2028-01-01T00:00:00Z" });
    expect([answer.status, answer.json()["errors"]]).toEqual([
      400,
      [{ pointer: "#/from", detail: "must not be later than to" }],
    ]);
  });

  it("is refused for a terminal of another merchant", async () => {
    const answer = await list(openTestSandbox(), { terminalId: "0000000000" });
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({ code: 403, errors: [{ pointer: "#/terminalId" }] });
  });
});

describe("an update", () => {
  const update = (service: TestSandbox, id: string, changes: object) =>
    service.call("PATCH", `${LINKS}/${id}`, changes);

  it.each(["active", "viewed"])(
    "changes description and expirationDate of a link that is %s",
    async (status) => {
      const service = openTestSandbox();
      const id = await linkThatIs(status, service);
      const before = await show(service, id);
      const changes = { description: "Coffee", expirationDate: "2026-03-01T12:00:00Z" };
      const answer = await update(service, id, changes);
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual({ ...before, ...changes });
      expect(await show(service, id)).toEqual(answer.json());
      await advance(service, "8d");
      expect((await service.pay(id, { outcome: "approved" })).status).toBe(200);
    },
  );

  it("requires the expiry, and keeps a description that is not sent", async () => {
    const service = openTestSandbox();
    const id = await linkThatIs("active", service);
    await update(service, id, { expirationDate: "2026-03-01T12:00:00Z" });
    expect((await update(service, id, { description: "Coffee" })).status).toBe(400);
    await update(service, id, { description: "Coffee", expirationDate: "2026-03-01T12:00:00Z" });
    await update(service, id, { expirationDate: "2026-03-01T12:00:00Z" });
    const expected = { description: "Coffee", expirationDate: "2026-03-01T12:00:00Z" };
    expect(await show(service, id)).toMatchObject(expected);
  });

  it.each(["attempted", "paid", "expired", "cancelled"])(
    "is refused while the link is %s",
    async (status) => {
      const service = openTestSandbox();
      const id = await linkThatIs(status, service);
      const before = await show(service, id);
      const answer = await update(service, id, { description: "Coffee" });
      expect(answer.status).toBe(422);
      expect(answer.json()["message"]).toBe(
        `only a link that is active or viewed can be updated, and this link is ${status}`,
      );
      expect(await show(service, id)).toEqual(before);
    },
  );

  it.each([
    [{ amount: 1, expirationDate: "2026-03-01T12:00:00Z" }, "#/amount"],
    [{ status: "paid", expirationDate: "2026-03-01T12:00:00Z" }, "#/status"],
    [{ description: 1, expirationDate: "2026-03-01T12:00:00Z" }, "#/description"],
    [{ description: "Coffee" }, "#/expirationDate"],
    [{ expirationDate: "tomorrow" }, "#/expirationDate"],
    [{ expirationDate: "2026-01-31T11:59:59Z" }, "#/expirationDate"],
    [[], "#"],
  ])("is refused with %j", async (changes, pointer) => {
    const service = openTestSandbox();
    const id = await linkThatIs("active", service);
    const before = await show(service, id);
    const answer = await update(service, id, changes);
    expect(answer.status).toBe(400);
    expect(answer.json()["errors"]).toEqual([expect.objectContaining({ pointer })]);
    expect(await show(service, id)).toEqual(before);
  });
});

describe("a cancellation", () => {
  it.each(["active", "viewed", "attempted"])("ends a link that is %s", async (status) => {
    const service = openTestSandbox();
    const id = await linkThatIs(status, service);
    const before = await show(service, id);
    const answer = await service.call("POST", `${LINKS}/${id}/cancel`);
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ ...before, status: "cancelled", cancelledDate: NOW.toISOString() });
    expect(await show(service, id)).toEqual(answer.json());
    expect((await service.pay(id, { outcome: "approved" })).status).toBe(409);
  });

  it.each(["paid", "expired", "cancelled"])("is refused while the link is %s", async (status) => {
    const service = openTestSandbox();
    const id = await linkThatIs(status, service);
    const before = await show(service, id);
    const answer = await service.call("POST", `${LINKS}/${id}/cancel`);
    expect(answer.status).toBe(422);
    expect(answer.json()["message"]).toBe(
      `only a link that is active, viewed or attempted can be cancelled, and this link is ${status}`,
    );
    expect(await show(service, id)).toEqual(before);
  });
});

it.each([
  ["GET", ""],
  ["PATCH", ""],
  ["POST", "/cancel"],
])(
  "%s /v1/payment-links/{id}%s answers 404 with the documented code for an unknown id",
  async (method, action) => {
    const answer = await openTestSandbox().call(
      method,
      `${LINKS}/none${action}`,
      method === "GET" ? undefined : {},
    );
    expect(answer.status).toBe(404);
    expect(answer.header("content-type")).toBe("application/problem+json");
    expect(answer.json()).toEqual({
      type: "about:blank",
      title: "Not Found",
      status: 404,
      detail: "Invalid payment link ID",
      code: 275,
      message: "Invalid payment link ID",
    });
  },
);

describe("the page of a link", () => {
  it.each([
    ["paid", "This link has been paid"],
    ["expired", "This link has expired"],
    ["cancelled", "This link was cancelled"],
  ])("that is %s says so, and nothing pays it", async (status, title) => {
    const service = openTestSandbox();
    const id = await linkThatIs(status, service);
    const page = await view(service, id);
    expect([page.status, page.text]).toEqual([410, expect.stringContaining(title)]);
    const refused = await service.pay(id, { outcome: "approved" });
    expect([refused.status, refused.json()["detail"]]).toEqual([409, `the link is ${status}`]);
    const late = await service.request("POST", `/pay?r=${id}`, { body: "outcome=approved" });
    expect([late.status, late.header("location")]).toEqual([303, `/pay?r=${id}`]);
  });

  it("that is unknown says so", async () => {
    const page = await view(openTestSandbox(), "none");
    expect([page.status, page.text]).toEqual([404, expect.stringContaining("Payment link not found")]);
  });
});
