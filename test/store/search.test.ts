/** What a list finds, counts and adds up, on both databases. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EventQuery } from "../../src/store/event-query.ts";
import type { EventStore } from "../../src/store/event-store.ts";
import { soughtIn } from "../../src/inspector/query.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { all, AT, event, forward, idOf, idsOf, KEYS, rejection, wanted } from "../support/stored-events.ts";

const HOUR = 3_600_000;
const at = (hours: number): Date => new Date(AT.getTime() + hours * HOUR);

const payment = (name: string, hours: number, record: Record<string, unknown>) =>
  event(idOf(name, at(hours)), { transCurrencyCode: "EUR", status: "Complete", ...record }, at(hours));

/** Four payments and a rejection, of which the application has refused one. */
async function fill(store: EventStore) {
  const paid = payment("paid", 0, { reference: "A-17", amountTrans: 10, cardPan: "************4242" });
  const again = payment("again", 1, { reference: "A-17-69LXLDV9W", amountTrans: "10.00" });
  const declined = payment("declined", 2, {
    reference: "A-171",
    amountTrans: 1234.5,
    transCurrencyCode: "GBP",
    transApproved: false,
  });
  const huge = payment("huge", 3, { reference: "HUGE", amountTrans: "1e300" });
  await store.append(paid, 0);
  for (const one of [again, declined, huge]) await store.append(one);
  const other = { ...payment("path", 4, { reference: "B-1", amountTrans: 7 }), id: idOf("path", at(4)) };
  await store.append({ ...other, request: { ...other.request, target: "/other?x=1" } });
  const refused = { ...rejection(idOf("r", at(5))), receivedAt: at(5) };
  await store.reject(refused);
  const [claim] = await store.claim(wanted());
  if (claim === undefined) throw new Error("nothing was claimed");
  await store.ended(claim, { ...forward(503), detail: "no" });
  return {
    paid: paid.id,
    again: again.id,
    declined: declined.id,
    huge: huge.id,
    path: other.id,
    refused: refused.id,
  };
}

type Stored = keyof Awaited<ReturnType<typeof fill>>;

/** A value for each member of a query, with what it finds. One that is missing does not compile. */
const FILTERS: {
  readonly [Name in keyof EventQuery]-?: readonly [NonNullable<EventQuery[Name]>, readonly Stored[]];
} = {
  outcome: ["DECLINED", ["declined"]],
  reference: ["A-17", ["paid", "again", "declined"]],
  order: ["A-17", ["paid", "again"]],
  since: [at(3), ["huge", "path", "refused"]],
  until: [at(1), ["paid"]],
  keys: [KEYS, ["paid", "again", "declined", "huge", "path", "refused"]],
  otherThan: [KEYS, ["refused"]],
  path: ["/other", ["path"]],
  state: ["failed", ["paid"]],
  sought: [{ text: "HUGE" }, ["huge"]],
};

describe("on SQLite", () => {
  searchesOn(async () => openSqlite(join(temporaryHome(), "events.db")));
});

describe("on PostgreSQL", () => {
  const server = usePostgres();
  searchesOn(async () => openPostgres(await server().createDatabase()));
});

function searchesOn(open: () => Promise<EventStore>): void {
  it("finds an event by everything that a customer or a log may name", async () => {
    const store = await open();
    const { paid, again, declined, refused, path } = await fill(store);
    const found = async (text: string) => idsOf(await store.list({ sought: soughtIn(text) }, { limit: 20 }));
    expect(await found("A-17")).toEqual([again, paid]);
    expect(await found("uti-" + paid)).toEqual([paid]);
    for (const text of ["10", "10.00", "EUR 10", "10 eur", "10,00"])
      expect([text, await found(text)]).toEqual([text, [again, paid]]);
    expect(await found("1,234.50")).toEqual([declined]);
    expect(await found("GBP 10")).toEqual([]);
    expect(await found("4242")).toEqual([paid]);
    expect(await found("•••• 4242")).toEqual([paid]);
    expect(await found("503")).toEqual([paid]);
    expect(await found("401")).toEqual([refused]);
    expect(await found("signature_invalid")).toEqual([refused]);
    expect(await found("B-1")).toEqual([path]);
    expect(await found("%")).toEqual([]);
  });

  it.each(Object.entries(FILTERS))("selects by %s in every place", async (name, [value, expected]) => {
    const store = await open();
    const stored = await fill(store);
    const query: EventQuery = { [name]: value };
    const found = expected.map((one) => stored[one]);
    const [events, rejected] = [found.filter((id) => id !== stored.refused), found.includes(stored.refused)];
    expect(idsOf(await all(store.events(query)))).toEqual(events);
    expect(idsOf(await all(store.rejections(query)))).toEqual(rejected ? [stored.refused] : []);
    expect([await store.count(query, 10), await store.count(query, 10, true)]).toEqual([
      events.length,
      Number(rejected),
    ]);
    expect(idsOf(await store.list(query, { limit: 10 })).toSorted()).toEqual(found.toSorted());
    const totals = await store.totals(query);
    const counted = [...totals.groups, ...totals.replaced].reduce((sum, one) => sum + one.events, 0);
    expect([counted, totals.rejected]).toEqual([events.length, Number(rejected)]);
    expect(await store.skip(query)).toEqual(events.includes(stored.paid) ? [stored.paid] : []);
  });

  it("narrows down by state, outcome, path, key and time, and by all of them at once", async () => {
    const store = await open();
    const { paid, again, declined, huge, path, refused } = await fill(store);
    const found = async (query: Parameters<EventStore["list"]>[0]) =>
      idsOf(await store.list(query, { limit: 20 }));
    expect(await found({})).toEqual([refused, path, huge, declined, again, paid]);
    expect(await found({ state: "failed" })).toEqual([paid]);
    expect(await found({ state: "failed", sought: soughtIn("10") })).toEqual([paid]);
    expect(await found({ state: "rejected" })).toEqual([refused]);
    expect(await found({ outcome: "DECLINED" })).toEqual([declined]);
    expect(await found({ path: "/other" })).toEqual([path]);
    expect(await found({ keys: KEYS, since: at(1), until: at(3) })).toEqual([declined, again]);
    expect(await found({ otherThan: KEYS })).toEqual([refused]);
    expect(await found({ keys: [] })).toEqual([refused]);
    expect(await found({ state: "failed", outcome: "DECLINED" })).toEqual([]);
    const [target = ""] = (await store.paths(5)).filter((one) => one !== "/other");
    expect((await found({ path: target })).includes(refused)).toBe(true);
    expect(idsOf(await store.list({}, { before: declined, limit: 1 }))).toEqual([again]);
  });

  it("counts and adds up exactly what it finds, and says what has no amount", async () => {
    const store = await open();
    await fill(store);
    const [key = ""] = KEYS;
    expect(await store.totals({})).toEqual({
      groups: [
        { key, outcome: "APPROVED", currency: "EUR", events: 4, sum: 270_000n, unsummed: 1 },
        { key, outcome: "DECLINED", currency: "GBP", events: 1, sum: 12_345_000n, unsummed: 0 },
      ],
      replaced: [],
      rejected: 1,
      searchedSince: null,
    });
    expect(await store.totals({ sought: soughtIn("A-17") })).toMatchObject({
      groups: [{ events: 2, sum: 200_000n }],
      rejected: 0,
    });
    expect(await store.totals({ state: "rejected" })).toEqual({
      groups: [],
      replaced: [],
      rejected: 1,
      searchedSince: null,
    });
  });

  it("counts what arrived in each part of a period", async () => {
    const store = await open();
    await fill(store);
    const bars = await store.bars(6, HOUR, at(6), KEYS);
    expect(bars.map(({ approved, other, refused, failed }) => [approved, other, refused, failed])).toEqual([
      [0, 0, 0, 1],
      [1, 0, 0, 0],
      [0, 1, 0, 0],
      [1, 0, 0, 0],
      [1, 0, 0, 0],
      [0, 0, 1, 0],
    ]);
    expect((await store.bars(6, HOUR, at(6), [])).every(({ approved }) => approved === 0)).toBe(true);
  });
}
