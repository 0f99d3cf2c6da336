/** Sums count each payment once, by its newest record: a correction by the service has the same uti and other bytes. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../src/events/event.ts";
import type { EventQuery } from "../../src/store/event-query.ts";
import type { EventStore } from "../../src/store/event-store.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { AT, event, forward, idOf, KEYS, verdict, wanted } from "../support/stored-events.ts";

const [OWN = ""] = KEYS;
const OTHER = "x".repeat(43);
const at = (second: number): Date => new Date(AT.getTime() + second * 1_000);

/** A record of a payment over an amount; each has bytes of its own. */
const record = (second: number, amountTrans: number, more: Record<string, unknown> = {}): NewEvent =>
  event(
    idOf(`e${second}`, at(second)),
    { uti: "U-1", amountTrans, transCurrencyCode: "EUR", second, ...more },
    at(second),
  );

const verifiedBy = (thumbprint: string, one: NewEvent): NewEvent => ({
  ...one,
  verdict: { ...verdict, key: { keyid: null, number: 1, bits: 2048, thumbprint } },
  keys: [thumbprint],
});

const DECLINED = { transApproved: false };

/** The sums of a list by outcome, in whole units, and how many events they leave out. */
async function listed(store: EventStore, query: EventQuery = {}, together?: readonly string[]) {
  const { groups, replaced } = await store.totals(query, together);
  return {
    sums: groups.map(({ outcome, events, sum }) => [outcome, events, Number(sum / 10_000n)]),
    replaced: replaced.reduce((sum, { events }) => sum + events, 0),
  };
}

/** The events of a key in each state that has any, with their sums. */
async function states(store: EventStore, key = OWN) {
  const { keys } = await store.stats(new Date(0), at(60));
  const { pending, failed, skipped, delivered } = keys.find((one) => one.key === key) ?? {};
  return Object.fromEntries(
    Object.entries({ pending, failed, skipped, delivered }).flatMap(([state, found]) =>
      found === undefined || found.events === 0
        ? []
        : [
            [
              state,
              [found.events, ...(found.sums ?? []).map(({ amount, currency }) => `${currency} ${amount}`)],
            ],
          ],
    ),
  );
}

describe("on SQLite", () => {
  countsOnce(async () => openSqlite(join(temporaryHome(), "events.db")));
});

describe("on PostgreSQL", () => {
  const server = usePostgres();
  countsOnce(async () => openPostgres(await server().createDatabase()));
});

function countsOnce(open: () => Promise<EventStore>): void {
  const stored = async (...events: readonly NewEvent[]): Promise<EventStore> => {
    const store = await open();
    for (const one of events) await store.append(one, 0);
    return store;
  };

  it("counts a correction to another amount in place of the first record", async () => {
    const store = await stored(record(1, 10), record(2, 8), record(3, 5, { uti: "U-2" }));
    expect(await listed(store)).toEqual({ sums: [["APPROVED", 2, 13]], replaced: 1 });
    expect(await states(store)).toEqual({ pending: [3, "EUR 13"] });
  });

  it("counts nothing as approved after a correction to DECLINED", async () => {
    const store = await stored(record(1, 10), record(2, 10, DECLINED));
    expect(await listed(store)).toEqual({ sums: [["DECLINED", 1, 10]], replaced: 1 });
    expect(await states(store)).toEqual({ pending: [2] });
    expect(await listed(store, { outcome: "APPROVED" })).toEqual({ sums: [], replaced: 1 });
  });

  it("counts the last of three records, also where it is back at the first amount or in another currency", async () => {
    const store = await stored(
      ...[10, 0, 10].map((amount, index) => record(index, amount)),
      ...[7, 6].map((amount, index) => record(10 + index, amount, { uti: "U-2" })),
      record(12, 5, { uti: "U-2", transCurrencyCode: "GBP" }),
    );
    expect(await listed(store)).toEqual({
      sums: [
        ["APPROVED", 1, 10],
        ["APPROVED", 1, 5],
      ],
      replaced: 4,
    });
    expect(await states(store)).toEqual({ pending: [6, "EUR 10", "GBP 5"] });
  });

  it("counts a payment once in all states and periods together", async () => {
    const store = await stored(record(1, 10));
    const [claim] = await store.claim(wanted());
    if (claim === undefined) throw new Error("nothing was claimed");
    await store.ended(claim, forward(200));
    expect(await states(store)).toEqual({ delivered: [1, "EUR 10"] });
    await store.append(record(2, 8), 0);
    expect(await states(store)).toEqual({ delivered: [1], pending: [1, "EUR 8"] });
    expect(await listed(store, { state: "delivered" })).toEqual({ sums: [], replaced: 1 });
    expect(await listed(store, { state: "pending" })).toEqual({ sums: [["APPROVED", 1, 8]], replaced: 0 });
    expect(await listed(store, { until: at(2) })).toEqual({ sums: [], replaced: 1 });
    await store.skip({ ids: [record(2, 8).id] });
    expect(await states(store)).toEqual({ delivered: [1], skipped: [1, "EUR 8"] });
  });

  it("counts events without a uti by themselves", async () => {
    const store = await stored(record(1, 10, { uti: "" }), record(2, 10, { uti: undefined }));
    expect(await listed(store)).toEqual({ sums: [["APPROVED", 2, 20]], replaced: 0 });
    expect(await states(store)).toEqual({ pending: [2, "EUR 20"] });
  });

  it("counts the records of two keys once where a run has both, and each where they are shown apart", async () => {
    const store = await stored(record(1, 10), verifiedBy(OTHER, record(2, 8)));
    const both = { sums: [["APPROVED", 1, 8]], replaced: 1 };
    expect(await listed(store, {}, [OWN, OTHER])).toEqual(both);
    for (const together of [undefined, [], [OWN], [OTHER]]) {
      const { sums, replaced } = await listed(store, {}, together);
      expect(new Set(sums)).toEqual(
        new Set([
          ["APPROVED", 1, 10],
          ["APPROVED", 1, 8],
        ]),
      );
      expect(replaced).toBe(0);
    }
    expect(await states(store)).toEqual({ pending: [1, "EUR 10"] });
    expect(await states(store, OTHER)).toEqual({ pending: [1, "EUR 8"] });
  });
}
