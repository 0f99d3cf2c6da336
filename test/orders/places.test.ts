/** Every place that knows only what has arrived says of every history what `standingOf` says: the store in both databases, and memory. */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparableText } from "../../src/values/comparable-text.ts";
import { readRecord } from "../../src/domain/transaction.ts";
import type { EventLog, Stored } from "../../src/events/event.ts";
import { paymentIn } from "../../src/orders/order.ts";
import { standingOf } from "../../src/orders/standing.ts";
import { comparedStanding } from "../../src/reconcile/findings.ts";
import { Orders } from "../../src/reconcile/orders.ts";
import { createMemoryLog } from "../../src/receiver/memory-log.ts";
import type { EventStore } from "../../src/store/event-store.ts";
import { openPostgres, openWithoutThread } from "../support/event-stores.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { all, idOf } from "../support/stored-events.ts";
import { arrived, keyOf } from "./arrived.ts";
import { asMembers, bodyOf, histories, type History, orderOf, type VectorEvent } from "./vectors.ts";

const own = ({ keys = [1, 2], events }: History): VectorEvent[] =>
  events.filter(({ key = 1 }) => keys.includes(key));

/** Appends the events that the run can verify. Gives those that were warned of, and how the order stood at the last of its own. */
async function appendAll(log: Pick<EventLog, "append">, history: History, prefix: string) {
  const events = own(history);
  const stored = await Promise.all(
    events.map((event, at) => log.append(arrived(event, history, idOf(`${prefix}-${at + 10}`)))),
  );
  const isOwn = ({ order }: Stored): boolean => order?.number === comparableText(history.number);
  const last = stored.findLast(isOwn)?.order;
  return {
    warned: stored.flatMap(({ isPaidBefore, repeated }, at) =>
      isPaidBefore === true && !repeated ? [at] : [],
    ),
    last: last && asMembers(last),
  };
}

/** What is expected of a place that knows no links. */
const expected = (history: History) => {
  const isSeen = own(history).length > 0 && history.withoutLinks["standing"] !== undefined;
  return { warned: history.warned, last: isSeen && hasOwnEvent(history) ? history.withoutLinks : undefined };
};

const hasOwnEvent = (history: History): boolean =>
  (orderOf(history, { knowsLinks: false }).payments ?? []).length > 0;

/** Random histories of one order: some records of few payments, so that corrections and second payments are frequent. */
const randomHistory: fc.Arbitrary<Pick<History, "events">> = fc.record({
  events: fc.array(
    fc.record({
      set: fc.record({
        uti: fc.constantFrom("u1", "u2", "u3"),
        amountTrans: fc.constantFrom(0, 8, 12, 20),
        transCurrencyCode: fc.constantFrom("EUR", "EUR", "EUR", "USD"),
        transType: fc.constantFrom("SALE", "SALE", "AUTH", "PRE-AUTH", "VERIFICATION"),
        transApproved: fc.constantFrom(true, true, false),
        transPartiallyApproved: fc.constantFrom(false, false, true),
        transCancelled: fc.constantFrom(false, false, false, true),
      }),
      key: fc.constantFrom(1, 2),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

/** As many of them as are wanted, each an order of its own, whose records differ in their bytes. */
const randomHistories = (count: number): History[] =>
  fc.sample(randomHistory, { numRuns: count, seed: 68 }).map(({ events }, at) => {
    const number = `X-${at}`;
    const told = events.map((event, place) => ({
      ...event,
      set: { ...event.set, uti: `${number}-${String(event.set["uti"])}`, receiptNumber: String(place) },
    }));
    const history: History = {
      name: number,
      number,
      links: [],
      events: told,
      standing: {},
      withoutLinks: {},
      warned: [],
      shop: { due: { amount: 20, currency: "EUR" }, books: false },
    };
    return { ...history, withoutLinks: asMembers(standingOf(orderOf(history, { knowsLinks: false }))) };
  });

describe("random histories", () => {
  const differing = async (log: Pick<EventLog, "append">, found: readonly History[]): Promise<unknown[]> => {
    const said = await Promise.all(found.map((history, at) => appendAll(log, history, `x${at + 100_000}`)));
    return found.flatMap((history, at) =>
      isDeepStrictEqual(said[at]?.last, history.withoutLinks) ? [] : [[history, said[at]?.last]],
    );
  };

  it("stand the same for --no-store and for reconcile", async () => {
    const found = randomHistories(10_000);
    expect(await differing(createMemoryLog(), found)).toEqual([]);
    const orders = new Orders();
    for (const history of found)
      for (const [at, event] of history.events.entries())
        orders.addPayment({
          ...paymentIn(readRecord(bodyOf(event, history)).record),
          event: `${history.number}-${at}`,
          reference: history.number,
          receivedAt: 0,
          delivery: null,
        });
    const compared = new Map(
      [...orders.settled()].map((order) => [order.number, asMembers(comparedStanding(order))]),
    );
    expect(
      found.filter(({ number, withoutLinks }) => !isDeepStrictEqual(compared.get(number), withoutLinks)),
    ).toEqual([]);
  });

  it("stand the same in the store", async () => {
    const store = openWithoutThread(eventsPath(temporaryHome()));
    expect(await differing(store, randomHistories(1000))).toEqual([]);
  });
});

describe("the vectors", () => {
  it("are said by --no-store", async () => {
    const log = createMemoryLog();
    for (const [at, history] of histories.entries())
      expect([history.name, await appendAll(log, history, `v${at + 100}`)]).toEqual([
        history.name,
        expected(history),
      ]);
  });

  it("are said by the store in SQLite", async () => {
    expect(await differencesIn(openWithoutThread(eventsPath(temporaryHome())))).toEqual([]);
  });

  const server = usePostgres();
  it("are said by the store in PostgreSQL", async () => {
    expect(await differencesIn(openPostgres(await server().createDatabase()))).toEqual([]);
  });

  /** The histories of which the store says something else, at their arrival or when they are read. */
  async function differencesIn(store: EventStore): Promise<unknown[]> {
    const different: unknown[] = [];
    for (const [at, history] of histories.entries()) {
      const said = await appendAll(store, history, `v${at + 100}`);
      const keys = (history.keys ?? [1, 2]).map(keyOf);
      const stored = (await all(store.events({ order: history.number, keys }))).filter(
        ({ reference }) => reference === comparableText(history.number),
      );
      const orders = [...(await store.orders(stored, async () => keys)).values()].map(asMembers);
      const isSame =
        isDeepStrictEqual(said, expected(history)) &&
        orders.length === stored.length &&
        orders.every((order) => isDeepStrictEqual(order, history.withoutLinks));
      if (!isSame) different.push({ name: history.name, said, orders });
    }
    return different;
  }
});
