/** The deliveries of either event store: each event attempted by one receiver at a time, until it is accepted, given up or skipped. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Stored } from "../../src/events/event.ts";
import { describe, expect, it } from "vitest";
import type { EventStore } from "../../src/store/event-store.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { appendAll, openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import {
  all,
  AT,
  backlogOf,
  event,
  forward,
  idOf,
  ids,
  idsOf,
  KEYS,
  unanswered,
  wanted,
} from "../support/stored-events.ts";

/** What the receiver is told, without how the order stands. */
const made = ({ repeated, first, state, attempt }: Stored) => ({ repeated, first, state, attempt });

describe("deliveries in SQLite", () => {
  areDelivered(
    openSqlite,
    async () => eventsPath(temporaryHome()),
    async (path, sql) => {
      const database = openEventDatabase(path);
      database.exec(sql);
      database.close();
    },
  );
});

describe("deliveries in PostgreSQL", () => {
  const server = usePostgres();
  areDelivered(
    openPostgres,
    () => server().createDatabase(),
    async (url, sql) =>
      void (await server().query(
        sql.replace(/(?<=UPDATE |FROM )/g, "paylink."),
        new URL(url).pathname.slice(1),
      )),
  );
});

const HOUR = 3_600_000;
/** What the passing of time would do: what waits is due. */
const END_OF_WAIT = "UPDATE deliveries SET due = 0 WHERE due IS NOT NULL";
const NO_ANSWER = unanswered();
const NOTHING = { id: "", attempt: 0 };

function areDelivered(
  open: (place: string) => EventStore,
  newPlace: () => Promise<string>,
  change: (place: string, sql: string) => Promise<void>,
): void {
  /** Two receivers on one store, and events that wait in it. */
  const shared = async (...names: string[]) => {
    const place = await newPlace();
    const [store, other] = [open(place), open(place)];
    for (const name of names) await store.append(event(name, { reference: name }), 0);
    const claim = async (from = store, limit = 10, lease = HOUR) => from.claim(wanted({ limit, lease }));
    /** Attempts everything that is due. */
    const attempt = async (status: number, retryAfter?: number) => {
      const claimed = await claim();
      for (const one of claimed) await store.ended(one, forward(status), retryAfter);
      return idsOf(claimed);
    };
    const deliveryOf = async (name: string) => {
      const [found] = await store.find(name);
      return found?.type === "event" ? found.delivery : undefined;
    };
    return { place, store, other, claim, attempt, deliveryOf };
  };

  it("are returned in order of arrival, also if they are stored together, with what was received", async () => {
    const { store, claim } = await shared();
    const names = Array.from({ length: 12 }, (_, index) => idOf(String(index).padStart(2, "0")));
    await Promise.all(names.map((name) => store.append(event(name), 0)));
    await store.append(event("not forwarded"));
    const [first] = await claim(store, 1);
    expect(first).toMatchObject({ id: names[0], attempt: 1, made: 0 });
    expect(first?.event).toMatchObject({ receivedAt: AT, verdict: { verdict: "valid", code: "ok" } });
    expect(idsOf(await claim(store, 8))).toEqual(names.slice(1, 9));
    expect(idsOf(await claim())).toEqual(names.slice(9));
  });

  it("are claimed with the event if the receiver attempts it at once", async () => {
    const { store, other, claim, deliveryOf } = await shared();
    expect(made(await store.append(event("a"), HOUR))).toEqual({
      repeated: false,
      first: "a",
      state: "pending",
      attempt: 1,
    });
    expect(await claim()).toEqual([]);
    expect(await ids(store.events({ state: "pending" }))).toEqual(["a"]);
    // Delivered again while the attempt is under way.
    expect(made(await other.append({ ...event("a"), id: "a2" }, HOUR))).toEqual({
      repeated: true,
      first: "a",
      state: "pending",
    });
    await store.ended({ id: "a", attempt: 1 }, forward(500));
    expect(await deliveryOf("a")).toMatchObject({ state: "failed", attempts: 1, next: null });
    // And after the application has refused it: the service waits for another answer.
    expect(await other.append({ ...event("a"), id: "a3" }, HOUR)).toMatchObject({ attempt: 2 });
    await other.ended({ id: "a", attempt: 2 }, forward(204));
    expect(made(await store.append({ ...event("a"), id: "a4" }, HOUR))).toEqual({
      repeated: true,
      first: "a",
      state: "delivered",
    });
    expect((await store.history("a")).attempts.map(({ status }) => status)).toEqual([500, 204]);
  });

  it("are one attempt of several deliveries in one group", async () => {
    const { store } = await shared();
    const again = (id: string) => store.append({ ...event("a"), id }, HOUR);
    const results = await Promise.all(["a", "a2", "a3"].map(again));
    expect(results.filter(({ attempt }) => attempt !== undefined)).toHaveLength(1);
  });

  it("become due again when their receiver is gone, and its late result changes nothing", async () => {
    const { place, store, other, claim } = await shared();
    await store.append(event("a"), HOUR);
    expect(await claim(other)).toEqual([]);
    await change(place, END_OF_WAIT);
    expect(await claim(other)).toMatchObject([{ id: "a", attempt: 2, made: 1 }]);
    await store.ended({ id: "a", attempt: 1 }, forward(500));
    expect((await store.history("a")).attempts).toEqual([]);
    await other.ended({ id: "a", attempt: 2 }, forward(200));
    expect(await backlogOf(store)).toMatchObject({ events: 0, failed: 0, oldest: undefined });
  });

  it("are due again after a delay, and have failed without one", async () => {
    const { place, store, attempt, deliveryOf } = await shared("a", "b");
    const before = Date.now();
    await attempt(500, HOUR);
    expect(await attempt(500)).toEqual([]);
    const { next } = (await deliveryOf("a")) ?? {};
    // The database's clock is this machine's.
    expect(next?.getTime()).toBeGreaterThanOrEqual(before + HOUR);
    expect(next?.getTime()).toBeLessThanOrEqual(Date.now() + HOUR);
    await change(place, END_OF_WAIT);
    expect(await attempt(500)).toEqual(["a", "b"]);
    expect(await backlogOf(store)).toMatchObject({ events: 0, failed: 2 });
    expect(await ids(store.events({ state: "failed", limit: 5 }))).toEqual(["a", "b"]);
  });

  it("keep their delays, counted from now, after a clock that was three days ahead was set", async () => {
    const { place, store, claim } = await shared("claimed", "waits", "later", "due");
    const DAYS = 72 * HOUR;
    const [first, second, third] = await claim(store, 3, 1);
    await store.ended(first ?? NOTHING, forward(503), HOUR);
    await store.ended(second ?? NOTHING, forward(503), 2 * HOUR);
    const names = [first, second, third].map((one) => one?.id ?? "");
    await change(
      place,
      `UPDATE deliveries SET due = due + ${DAYS}, set_at = set_at + ${DAYS}, since = since + ${10 * DAYS}`,
    );
    // One that is set now, and is due later than those whose clock was ahead, stays as it is.
    const receiver = open(place);
    const { keys } = await receiver.backlog();
    expect(keys[0]).toMatchObject({ events: 4, overdue: expect.any(Number) });
    const [next = NaN, after = NaN] = (await receiver.waiting(9))
      .filter(({ id }) => id === names[0] || id === names[1])
      .map(({ delivery }) => ((delivery?.next?.getTime() ?? NaN) - Date.now()) / HOUR);
    expect(next).toBeCloseTo(1, 1);
    expect(after).toBeCloseTo(2, 1);
    expect(Date.now() - (keys[0]?.oldest?.getTime() ?? NaN)).toBeGreaterThanOrEqual(0);
    // The claim of a receiver that is gone, and what was due: both by a receiver with shorter times.
    await expect.poll(async () => idsOf(await claim(receiver, 9, 1))).toContain(names[2]);
    expect(await receiver.retry({ ids: [names[0] ?? ""] }, KEYS)).toEqual([names[0]]);
    expect(await receiver.skip({ ids: [names[1] ?? ""] })).toEqual([names[1]]);
  });

  it("are released without a counted attempt", async () => {
    const { store, other, claim } = await shared("a");
    await store.release(await claim());
    expect(await claim(other)).toMatchObject([{ id: "a", attempt: 2, made: 0 }]);
    // Another receiver has it now.
    await store.release([{ id: "a", attempt: 1 }]);
    expect(await claim()).toEqual([]);
  });

  it("keep the whole answer of each attempt, or why there was none", async () => {
    const { store, claim } = await shared("a");
    const reply = {
      headers: [
        ["Location", "/login"],
        ["X-A", "é\u0000"],
      ] as const,
      text: "moved\u0000 é",
    };
    for (const one of await claim()) await store.ended(one, { ...forward(302), reply }, 0);
    for (const one of await claim()) await store.ended(one, unanswered("connection refused"));
    expect((await store.history("a")).attempts).toMatchObject([
      { status: 302, failure: null, reply: { headers: reply.headers, text: "moved\ufffd é" } },
      { status: null, failure: "refused", reply: null },
    ]);
  });

  it("are expected again after an attempt for the sender, until the queue has them", async () => {
    const { store, claim, deliveryOf } = await shared("a");
    for (const one of await claim()) await store.ended(one, forward(500), "by the sender");
    expect(await deliveryOf("a")).toMatchObject({ state: "failed", comesAgain: true });
    const stats = await store.stats(AT, AT);
    expect(stats.keys).toMatchObject([{ failed: { events: 1 }, comesAgain: { events: 1 } }]);
    await store.retry({ ids: ["a"] }, KEYS);
    expect(await deliveryOf("a")).toMatchObject({ state: "pending", comesAgain: false });
    for (const one of await claim()) await store.ended(one, forward(500));
    expect(await deliveryOf("a")).toMatchObject({ state: "failed", comesAgain: false });
  });

  it("have currency and amount even if an operator creates them", async () => {
    const { store } = await shared();
    await store.append(event("new", { amountTrans: 12.5, transCurrencyCode: "EUR" }));
    await store.retry({ ids: ["new"] }, KEYS);
    const stats = await store.stats(AT, AT);
    expect(stats.keys).toMatchObject([
      { pending: { events: 1, sums: [{ currency: "EUR", amount: "12.5" }] } },
    ]);
  });

  it("are claimed as fresh only once an operator retries them", async () => {
    const { place, store, claim, attempt } = await shared("a", "b");
    const fresh = () => store.claim({ ...wanted({ limit: 10, lease: HOUR }), isFresh: true });
    await store.ended(
      (await store.claim(wanted({ limit: 1 })))[0] ?? { id: "", attempt: 0 },
      forward(500),
      0,
    );
    expect(idsOf(await fresh())).toEqual(["b"]);
    expect(await fresh()).toEqual([]);
    await store.retry({ ids: ["a"] }, KEYS);
    expect(await fresh()).toMatchObject([{ id: "a", attempt: 2, made: 0 }]);
    await change(place, END_OF_WAIT);
    expect(await fresh()).toEqual([]);
    expect(idsOf(await claim())).toEqual(["a", "b"]);
    expect(await attempt(200)).toEqual([]);
  });

  it.each([
    ["UPDATE events SET head = '{' WHERE id = 'a'", expect.stringContaining("JSON")],
    [
      `UPDATE events SET verdict = '{"code":"no such"}' WHERE id = 'a'`,
      expect.stringContaining("verdict.code"),
    ],
    ["DELETE FROM events WHERE id = 'a'", expect.stringContaining("it has no valid")],
  ])("say that a row is damaged, so that it can be set aside: %s", async (sql, damage) => {
    const { place, store, claim } = await shared("a", "b");
    await change(place, sql);
    const [damaged, whole] = await claim();
    expect(damaged).toMatchObject({ id: "a", event: { damage } });
    expect(whole).toMatchObject({ id: "b", event: { id: "b" } });
    await store.ended({ id: "a", attempt: 1 }, NO_ANSWER);
    expect(await backlogOf(store)).toMatchObject({ events: 1, failed: 1 });
  });

  it("are kept from being deleted while they wait or have failed", async () => {
    const [failed, waits, done] = [idOf("1"), idOf("2"), idOf("3")];
    const { store } = await shared(failed, waits);
    const [first] = await store.claim(wanted({ limit: 1 }));
    if (first !== undefined) await store.ended(first, forward(500));
    await store.append(event(done));
    expect(await store.prune(new Date(AT.getTime() + 1))).toMatchObject({ events: 1 });
    expect(await ids(store.events())).toEqual([failed, waits]);
    await store.skip({ ids: [failed, waits] });
    expect(await store.prune(new Date(AT.getTime() + 1))).toMatchObject({ events: 2 });
  });

  it("begin a new plan when an operator retries them, and keep who did it", async () => {
    const { store, other, claim, attempt } = await shared("a", "b", "c");
    await attempt(500, HOUR);
    expect(await other.retry({ ids: ["a", "no such"] }, KEYS)).toEqual(["a"]);
    expect(await claim()).toMatchObject([{ id: "a", attempt: 2, made: 0 }]);
    expect((await store.history("a")).actions).toMatchObject([{ action: "retry", actor: "tester" }]);
    // It is being attempted.
    expect(await other.retry({ ids: ["a"] }, KEYS)).toEqual([]);
    expect(await other.skip({ ids: ["a"] })).toEqual([]);
    expect(await other.retry({}, KEYS)).toHaveLength(2);
    expect(await other.retry({}, KEYS)).toHaveLength(0);
    expect(idsOf(await claim())).toEqual(["b", "c"]);
  });

  it("are retried all at once, as far as they are selected, and none that was accepted or skipped", async () => {
    const { store, attempt } = await shared("a", "b", "c");
    await store.skip({ ids: ["c"] });
    await attempt(500);
    expect(await store.retry({ reference: "a" }, KEYS)).toHaveLength(1);
    expect(await attempt(200)).toEqual(["a"]);
    const many = Array.from({ length: 1500 }, (_, index) => event(`many ${index}`));
    await appendAll(store, many, 0);
    await store.claim(wanted({ limit: 1500, lease: 1 }));
    await sleep(5);
    expect(await store.retry({}, KEYS)).toHaveLength(1501);
    expect(await backlogOf(store)).toMatchObject({ events: 1501, failed: 0 });
  });

  it("are never made when an operator skips them, also when the event arrives again, until it is retried", async () => {
    const { store, attempt, deliveryOf } = await shared("a", "b");
    await store.append(event("never forwarded"));
    expect(await store.skip({ ids: ["a", "never forwarded"] })).toHaveLength(2);
    expect(made(await store.append({ ...event("a", { reference: "a" }), id: "a2" }, HOUR))).toEqual({
      repeated: true,
      first: "a",
      state: "skipped",
    });
    expect(await attempt(200)).toEqual(["b"]);
    expect(await backlogOf(store)).toMatchObject({ events: 0, failed: 0 });
    expect(await store.retry({ ids: ["b"] }, KEYS)).toEqual([]);
    await store.retry({ ids: ["a"] }, KEYS);
    expect(await attempt(200)).toEqual(["a"]);
    expect(await deliveryOf("a")).toMatchObject({ state: "delivered", attempts: 1 });
  });

  it("are not selected by an empty list", async () => {
    const { store, claim } = await shared("a");
    await store.append(event("not forwarded"));
    const failed = await store.append(event("failed"), HOUR);
    await store.ended({ id: failed.first, attempt: 1 }, forward(500));
    expect(await store.retry({}, [])).toEqual([]);
    expect(await store.retry({ keys: [] }, KEYS)).toEqual([]);
    expect(await store.retry({ ids: ["a", "not forwarded", "failed"] }, [])).toEqual([]);
    expect(await store.retry({ ids: [] }, KEYS)).toEqual([]);
    expect(await store.skip({ ids: [] })).toEqual([]);
    expect(await store.claim({ ...wanted(), keys: [] })).toEqual([]);
    await store.release([]);
    expect(await store.waiting(10, [])).toEqual([]);
    expect(await store.lastAttempts([])).toEqual(new Map());
    expect(await ids(store.events({ keys: [] }))).toEqual([]);
    expect(await ids(store.events({ otherThan: [] }))).toEqual(["a", "failed", "not forwarded"]);
    expect(await all(store.paymentsOf([]))).toEqual([]);
    expect(idsOf(await claim())).toEqual(["a"]);
    expect(await backlogOf(store)).toMatchObject({ failed: 1 });
  });

  it("are not ended by a replay, unless it settles them", async () => {
    const { store, deliveryOf } = await shared("a", "b");
    await store.replayed("a", forward(200), false);
    await store.replayed("b", forward(500), true);
    expect(await backlogOf(store)).toMatchObject({ events: 2 });
    await store.replayed("a", forward(200), true);
    expect(await deliveryOf("a")).toMatchObject({ state: "delivered", attempts: 0 });
    expect((await store.history("a")).attempts).toMatchObject([{ isReplay: true }, { isReplay: true }]);
    await store.append(event("not forwarded"));
    await store.replayed("not forwarded", forward(204), true);
    expect(await deliveryOf("not forwarded")).toMatchObject({ state: "delivered" });
  });

  it("are counted with their sums even if an operator has created them", async () => {
    const { store } = await shared();
    const now = new Date();
    const name = idOf("never forwarded", now);
    await store.append(event(name, { amountTrans: 12.5, transCurrencyCode: "EUR" }, now));
    expect(await store.retry({ ids: [name] }, KEYS)).toEqual([name]);
    const { keys } = await store.stats(new Date(now.getTime() - HOUR), now);
    expect(keys).toMatchObject([{ pending: { events: 1, sums: [{ currency: "EUR", amount: "12.5" }] } }]);
  });

  it("are counted with exact sums of what was approved, the refusals and the attempts", async () => {
    const { store, claim } = await shared();
    const now = new Date();
    const paid = (name: string, amountTrans: number, more = {}) =>
      store.append(event(idOf(name, now), { amountTrans, transCurrencyCode: "EUR", ...more }, now), 0);
    await paid("a", 0.1);
    await paid("b", 0.2);
    await paid("c", 99, { transApproved: false });
    await paid("d", 5, { transCurrencyCode: "JPY" });
    const [first] = await claim(store, 1);
    if (first !== undefined) await store.ended(first, forward(200));
    await store.replayed(idOf("b", now), NO_ANSWER, false);
    const stats = await store.stats(new Date(now.getTime() - HOUR), now);
    expect(stats).toMatchObject({
      keys: [
        {
          key: KEYS[0],
          pending: {
            events: 3,
            sums: [
              { currency: "EUR", amount: "0.2" },
              { currency: "JPY", amount: "5" },
            ],
          },
          delivered: { events: 1, sums: [{ currency: "EUR", amount: "0.1" }] },
          failed: { events: 0, sums: [] },
          oldest: now,
        },
      ],
      refused: {},
      attempts: [{ target: "http://127.0.0.1:3000/", accepted: 1, refused: 0, unanswered: 1 }],
    });
    expect((await all(store.events())).map(({ delivery }) => delivery?.state)).toEqual([
      "delivered",
      "pending",
      "pending",
      "pending",
    ]);
  });
}
