/** What an operator orders in the queue of either event store: events due now, and events that are never forwarded. */
import { describe, expect, it } from "vitest";
import type { EventStore } from "../../src/receiver/event-store.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { all, event, forward, ids, idsOf, wanted } from "../support/stored-events.ts";

describe("orders in SQLite", () => {
  obeysOrders(openSqlite, async () => eventsPath(temporaryHome()));
});

describe("orders in PostgreSQL", () => {
  const server = usePostgres();
  obeysOrders(openPostgres, () => server().createDatabase());
});

const HOUR = 3_600_000;

function obeysOrders(open: (place: string) => EventStore, newPlace: () => Promise<string>): void {
  /** Two receivers on one store, and the names of events in its queue. */
  const shared = async (...names: string[]) => {
    const place = await newPlace();
    const [store, other] = [open(place), open(place)];
    for (const name of names) await store.append(event(name, { reference: name }), "queue");
    const claim = async (from = store) => (await from.queue.claim(wanted({ duration: HOUR }))).events;
    const attempt = async (status: number, retryAfter?: number) => {
      for (const one of await claim()) await store.queue.attempted(one, forward(status), retryAfter);
    };
    const queuedOf = async (name: string) => (await store.find(`uti-${name}`))[0];
    return { store, other, claim, attempt, queuedOf };
  };

  it("gives what waits and what failed a new plan of attempts, whose first may be a probe of its target", async () => {
    const { store, other, claim, attempt } = await shared("a", "b");
    await attempt(500, HOUR);
    expect(await claim()).toEqual([]);
    expect(await ids(store.events({ pending: true }))).toEqual(["a", "b"]);
    expect(await other.order("retry", ["a", "no such"])).toEqual(["a"]);
    const [again] = (await store.queue.claim(wanted({ firsts: true, duration: HOUR }))).events;
    expect(again).toMatchObject({ id: "a", queued: { state: "pending", attempts: 0, next: null } });
    if (again === undefined) throw new Error("it is due");
    await store.queue.attempted(again, forward(500), undefined);
    expect(await ids(store.events({ failed: true }))).toEqual(["a"]);
    expect(await other.order("retry", ["a"])).toEqual(["a"]);
    expect(await claim()).toMatchObject([{ id: "a", queued: { state: "pending", attempts: 0 } }]);
  });

  it("queues what failed before it was acknowledged, and nothing that was accepted", async () => {
    const { store, claim } = await shared();
    for (const [name, status] of [
      ["failed", 500],
      ["accepted", 200],
    ] as const) {
      await store.append(event(name, { reference: name }));
      await store.forwarded(name, forward(status));
    }
    expect(await store.order("retry", ["accepted", "failed"])).toEqual(["failed"]);
    expect(idsOf(await claim())).toEqual(["failed"]);
    expect(await store.order("skip", ["accepted"])).toEqual([]);
    expect(await ids(store.events({ failed: true }))).toEqual([]);
  });

  it("never forwards what is skipped, also when it arrives again, until it is retried", async () => {
    const { store, claim, attempt, queuedOf } = await shared("a", "b");
    expect(await store.order("skip", ["a"])).toEqual(["a"]);
    const again = { ...event("a", { reference: "a" }), id: "a2" };
    expect(await store.append(again, "queue")).toMatchObject({ first: "a", accepted: true });
    expect(idsOf(await claim())).toEqual(["b"]);
    const skipped = { state: "skipped", attempts: 0, next: null, skippedAt: expect.any(Date) };
    expect(await queuedOf("a")).toMatchObject({ failed: false, accepted: false, queued: skipped });
    expect(await store.queue.backlog()).toMatchObject({ events: 1, failed: 0 });
    expect(await ids(store.events({ pending: true }))).toEqual(["b"]);
    await store.order("retry", ["a"]);
    await attempt(200);
    expect(await queuedOf("a")).toMatchObject({ accepted: true, queued: null });
  });

  it("counts no skipped event as failed", async () => {
    const { store, attempt } = await shared("a");
    await attempt(500);
    expect(await store.queue.backlog()).toMatchObject({ events: 0, failed: 1 });
    await store.order("skip", ["a"]);
    expect(await store.queue.backlog()).toMatchObject({ events: 0, failed: 0 });
    expect(await ids(store.events({ failed: true }))).toEqual([]);
    expect((await all(store.events()))[0]?.failed).toBe(false);
  });

  it("changes nothing that a receiver is forwarding at this time", async () => {
    const { store, other, claim } = await shared("a", "b");
    const [first] = await claim();
    if (first === undefined) throw new Error("it is due");
    await store.append(event("direct"), new Date(Date.now() + HOUR));
    expect(await other.order("skip", ["a", "b", "direct"])).toEqual([]);
    expect(await other.order("retry", ["a"])).toEqual([]);
    await store.queue.attempted(first, forward(500), HOUR);
    expect(await other.order("skip", ["a"])).toEqual(["a"]);
  });

  it("obeys orders for more events than one statement takes", async () => {
    const { store, attempt } = await shared();
    const names = Array.from({ length: 1200 }, (_, index) => String(index));
    await Promise.all(names.map((name) => store.append(event(name, { reference: name }))));
    expect(await store.order("skip", names)).toHaveLength(1200);
    await attempt(200);
    expect(await store.order("retry", names)).toHaveLength(1200);
    expect(await store.queue.backlog()).toMatchObject({ events: 1200 });
  });
}
