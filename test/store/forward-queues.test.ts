/** The queue of either event store: durable with the event, in order of arrival, and each event forwarded by one forwarder at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { EventStore } from "../../src/receiver/event-store.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openEventDatabase } from "../../src/events/sqlite-database.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePgBouncer } from "../support/pgbouncer.ts";
import { usePostgres } from "../support/postgres.ts";
import type { PostgresServer } from "../support/postgres-server.mjs";
import { all, AT, event, forward, ids, idsOf, wanted } from "../support/stored-events.ts";

describe("the queue in SQLite", () => {
  behavesAsQueue(
    openSqlite,
    async () => eventsPath(temporaryHome()),
    async (path, change) => {
      const database = openEventDatabase(path);
      database.exec(change);
      database.close();
    },
  );
});

describe("the queue in PostgreSQL", () => {
  const server = usePostgres();
  behavesAsQueue(openPostgres, () => server().createDatabase(), changeIn(server));

  describe("behind PgBouncer", () => {
    const pooled = usePgBouncer(server);
    behavesAsQueue(openPostgres, async () => pooled(await server().createDatabase()), changeIn(server));
  });
});

/** Changes rows behind the store's back. */
function changeIn(server: () => PostgresServer) {
  return async (url: string, sql: string): Promise<void> =>
    void (await server().query(sql.replace(/(?<=UPDATE )/g, "paylink."), new URL(url).pathname.slice(1)));
}

/** Milliseconds, more than a few queries take on a busy machine. */
const DUE = 2_500;
const MINUTE = 60_000;

/** An event with a reference of its own, so that it waits for no other. */
const alone = (id: string) => event(id, { reference: id });

/** A store with these events in its queue. */
async function queued(store: EventStore, ...names: string[]) {
  for (const name of names) await store.append(alone(name), "queue");
  return working(store);
}

function working({ queue }: EventStore) {
  const claim = async (limit = 10, duration = MINUTE) =>
    (await queue.claim(wanted({ limit, duration }))).events;
  /** Claims and attempts the event that is next. */
  const attempt = async (status: number, retryAfter?: number) => {
    const [next] = await claim(1);
    if (next === undefined) throw new Error("no attempt is due");
    await queue.attempted(next, forward(status), retryAfter);
    return next;
  };
  return { queue, claim, attempt };
}

function behavesAsQueue(
  open: (place: string) => EventStore,
  newPlace: () => Promise<string>,
  change: (place: string, sql: string) => Promise<void>,
): void {
  it.each([
    ["headers = '[1]'", "it has no valid headers.0"],
    ["headers = '{'", expect.stringContaining("JSON")],
    ["code = 'no such code'", "it has no valid code"],
  ])("gives an event that is damaged (%s) as such, so that it can be set aside", async (damage, reason) => {
    const place = await newPlace();
    const store = open(place);
    const { queue, claim } = await queued(store, "a", "b", "c");
    await change(place, `UPDATE events SET ${damage} WHERE id = 'a'`);
    const [damaged] = await claim(1);
    expect(damaged).toEqual({
      type: "damaged",
      id: "a",
      uti: "uti-a",
      queued: { state: "pending", attempts: 0, next: null },
      reason,
    });
    if (damaged === undefined) throw new Error("nothing is in the queue");
    await queue.attempted(damaged, { ...forward(0), status: null }, undefined);
    expect(idsOf(await claim())).toEqual(["b", "c"]);
    expect(await queue.backlog()).toMatchObject({ events: 2 });
  });

  it("gives new events in order of arrival, also where they are stored together", async () => {
    const store = open(await newPlace());
    const names = Array.from({ length: 12 }, (_, index) => String((index * 7) % 12));
    await Promise.all(names.map((name) => store.append(alone(name), "queue")));
    await store.append(event("not queued"));
    const { claim } = working(store);
    expect(await claim(1)).toMatchObject([
      { id: "0", queued: { state: "pending", attempts: 0, next: null } },
    ]);
    expect(idsOf(await claim(8))).toEqual(names.slice(1, 9));
    expect(idsOf(await claim())).toEqual(names.slice(9));
  });

  it("gives one event of a reference at a time, in order of arrival, past one that fails", async () => {
    const store = open(await newPlace());
    for (const id of ["a1", "a2", "b1", "a3"])
      await store.append(event(id, { reference: `INV-${id.slice(0, 1)}` }), "queue");
    const { queue, claim } = working(store);
    const [a1, b1, ...others] = await claim();
    if (a1 === undefined || b1 === undefined) throw new Error("two are due");
    expect([idsOf([a1, b1]), others]).toEqual([["a1", "b1"], []]);
    await queue.attempted(a1, forward(500), 1);
    const [a2] = await claim();
    expect(a2?.id).toBe("a2");
    await sleep(20);
    // The retry of a1 is due, and waits for a2 and the first attempt of a3.
    expect(await claim()).toEqual([]);
    if (a2 !== undefined) await queue.attempted(a2, forward(200), undefined);
    expect(await attemptAll(store)).toEqual(["a3", "a1"]);
  });

  it("gives events without a reference side by side", async () => {
    const store = open(await newPlace());
    for (const id of ["a", "b"]) await store.append(event(id, { reference: "" }), "queue");
    expect(idsOf(await working(store).claim())).toEqual(["a", "b"]);
  });

  it("keeps an event until it is accepted, whoever opens the store", async () => {
    const place = await newPlace();
    await open(place).append(event("a"), "queue");
    const store = open(place);
    const { queue, attempt, claim } = working(store);
    expect(await queue.backlog()).toMatchObject({ events: 1, oldest: AT, failed: 0 });
    expect(await attempt(200)).toMatchObject({ id: "a" });
    expect(await claim()).toEqual([]);
    expect(await queue.backlog()).toMatchObject({ events: 0, oldest: undefined, failed: 0 });
    expect(await all(store.events())).toMatchObject([{ accepted: true, queued: null }]);
    expect((await store.forwards("a")).map(({ status }) => status)).toEqual([200]);
  });

  it("gives a retry when it is due, and says how long that takes", async () => {
    const store = open(await newPlace());
    const { queue, claim, attempt } = await queued(store, "a", "b");
    const before = Date.now();
    await attempt(500, DUE);
    await attempt(200);
    const { events, nextDue = NaN } = await queue.claim(wanted());
    expect(events).toEqual([]);
    expect(nextDue).toBeGreaterThan(0);
    expect(nextDue).toBeLessThanOrEqual(DUE);
    const [waiting] = await all(store.events());
    expect(waiting?.queued).toMatchObject({ state: "pending", attempts: 1 });
    expect(waiting?.queued?.next?.getTime()).toBeGreaterThanOrEqual(before + DUE);
    await sleep(nextDue);
    expect(await attempt(200)).toMatchObject({ id: "a", queued: { attempts: 1 } });
    expect(await claim()).toEqual([]);
  });

  it("holds retries and claims of a clock that was ahead to what they may take from now", async () => {
    const place = await newPlace();
    const [store, other] = [open(place), open(place)];
    const { attempt } = await queued(store, "a", "b", "c", "d");
    await attempt(500, 5_000);
    await attempt(500, MINUTE);
    await attempt(500, MINUTE);
    await working(store).claim(1);
    // What a clock wrote that was a day ahead, but for the first event.
    await change(place, "UPDATE queued SET due = due + 86400000 WHERE event <> 'a' AND due > 0");
    await change(place, "UPDATE queued SET attempts = 3 WHERE event = 'c'");
    await change(place, "UPDATE turns SET until = until + 86400000");
    expect((await other.queue.claim(wanted())).events).toEqual([]);
    const delays = [5_000, MINUTE, 2 * 86_400_000];
    expect(idsOf((await other.queue.claim(wanted({ delays }))).events)).toEqual(["b"]);
    const third = [5_000, MINUTE, 2 * MINUTE];
    expect(idsOf((await other.queue.claim(wanted({ delays: third }))).events)).toContain("c");
    await expect
      .poll(async () => idsOf((await other.queue.claim(wanted({ duration: 400, delays }))).events), {
        timeout: 5_000,
      })
      .toContain("d");
  });

  it("lists what failed, until a replay delivers it", async () => {
    const store = open(await newPlace());
    const { queue, claim, attempt } = await queued(store, "a", "b", "c");
    await attempt(500);
    await attempt(200);
    expect(idsOf(await claim())).toEqual(["c"]);
    expect(await ids(store.events({ failed: true }))).toEqual(["a"]);
    expect(await queue.backlog()).toMatchObject({ events: 1, failed: 1 });
    // The service delivers it once more: it stays failed.
    await store.append({ ...alone("a"), id: "a2" }, "queue");
    await store.forwarded("a", forward(503));
    expect(await all(store.events({ failed: true, limit: 5 }))).toMatchObject([
      { id: "a", repeats: 1, queued: { state: "failed", attempts: 1, next: null } },
    ]);
    await store.forwarded("a", forward(200));
    expect(await ids(store.events({ failed: true }))).toEqual([]);
  });

  it("lists what failed before it was acknowledged, until it is accepted or waits for a retry", async () => {
    const store = open(await newPlace());
    for (const id of ["fine", "down", "later"]) await store.append(alone(id));
    for (const id of ["down", "later"]) await store.forwarded(id, { ...forward(0), status: null });
    await store.forwarded("fine", forward(200));
    expect(await ids(store.events({ failed: true }))).toEqual(["down", "later"]);
    expect((await all(store.events())).map(({ failed }) => failed)).toEqual([false, true, true]);
    await store.append({ ...alone("later"), id: "later 2" }, "queue");
    expect(await ids(store.events({ failed: true }))).toEqual(["down"]);
    await store.forwarded("down", forward(204));
    expect(await store.queue.backlog()).toMatchObject({ events: 1, failed: 0 });
  });

  it("queues a repeated delivery only where nobody has accepted or queued it", async () => {
    const store = open(await newPlace());
    await store.append(alone("refused"));
    await store.forwarded("refused", forward(500));
    await store.append(alone("accepted"));
    await store.forwarded("accepted", forward(200));
    const names = ["refused", "accepted", "new"];
    for (const round of [1, 2])
      await Promise.all(
        names.map((name) => store.append({ ...alone(name), id: `${name} ${round}` }, "queue")),
      );
    expect(idsOf(await working(store).claim()).toSorted()).toEqual(["new 1", "refused"]);
  });

  it("records an attempt once", async () => {
    const store = open(await newPlace());
    const { queue, attempt } = await queued(store, "a");
    const made = await attempt(500, 0);
    await queue.attempted(made, forward(500), 0);
    expect(await store.forwards("a")).toHaveLength(1);
    expect(await all(store.events())).toMatchObject([{ queued: { attempts: 1 } }]);
  });

  it("leaves an event to its forwarder until the claim ends, and then to another", async () => {
    const place = await newPlace();
    const [one, other] = [open(place), open(place)];
    await one.append(event("a"), "queue");
    const [claimed] = await working(one).claim(1, 300);
    if (claimed === undefined) throw new Error("nothing is queued");
    await one.queue.claim(wanted({ duration: DUE, held: ["a"] }));
    await sleep(400);
    expect(await working(other).claim()).toEqual([]);
    await expect.poll(() => working(other).claim(), { timeout: 2 * DUE }).toHaveLength(1);
    await one.queue.claim(wanted({ limit: 0, held: ["a"] }));
    await one.queue.attempted(claimed, forward(200), undefined);
    expect(await one.forwards("a")).toEqual([]);
    await other.queue.attempted(claimed, forward(200), undefined);
    expect(await one.forwards("a")).toHaveLength(1);
    expect(await one.queue.backlog()).toMatchObject({ events: 0 });
  });

  it("gives each event to one of many that ask at once", async () => {
    const place = await newPlace();
    const names = Array.from({ length: 30 }, (_, index) => String(index).padStart(2, "0"));
    await queued(open(place), ...names);
    const stores = Array.from({ length: 4 }, () => open(place));
    const claimed: string[] = [];
    while (claimed.length < names.length) {
      const parts = await Promise.all(stores.map((store) => working(store).claim(4)));
      for (const part of parts) claimed.push(...idsOf(part));
    }
    expect(claimed.toSorted()).toEqual(names);
  });

  it("keeps events that wait from being pruned", async () => {
    const store = open(await newPlace());
    const { attempt } = await queued(store, "failed", "waits", "retried");
    await attempt(500);
    const later = new Date(AT.getTime() + 1);
    expect(await store.countBefore(later)).toMatchObject({ events: 1 });
    expect(await store.prune(later)).toMatchObject({ events: 1 });
    expect(await ids(store.events())).toEqual(["waits", "retried"]);
    expect(await ids(store.events({ failed: true }))).toEqual([]);
  });
}

/** Attempts all that are due, one after the other. */
async function attemptAll(store: EventStore): Promise<string[]> {
  const made: string[] = [];
  for (;;) {
    const { queue, claim } = working(store);
    const [next] = await claim(1);
    if (next === undefined) return made;
    made.push(next.id);
    await queue.attempted(next, forward(200), undefined);
  }
}
