/** The queue of either event store: durable with the event, in order of arrival, and worked on by one forwarder at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { EventStore } from "../../src/receiver/event-store.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openEventDatabase } from "../../src/store/events/event-schema.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePgBouncer } from "../support/pgbouncer.ts";
import { usePostgres } from "../support/postgres.ts";
import type { PostgresServer } from "../support/postgres-server.mjs";
import { all, AT, event, forward, ids, idsOf } from "../support/stored-events.ts";

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
    void (await server().query(sql.replace("events", "paylink.events"), new URL(url).pathname.slice(1)));
}

/** Milliseconds, more than a few queries take on a busy machine. */
const DUE = 2_500;
const MINUTE = 60_000;

/** A store with these events in its queue, and the lease. */
async function leased(store: EventStore, ...names: string[]) {
  for (const name of names) await store.append(event(name), "queue");
  const { queue } = store;
  const epoch = (await queue.lease(MINUTE)) ?? NaN;
  const first = async () => idsOf(await queue.next(epoch, "first", 10));
  const due = async () => idsOf(await queue.next(epoch, "retry", 10));
  /** Attempts the event that is next. */
  const attempt = async (kind: "first" | "retry", status: number, retryAfter?: number) => {
    const [next] = await queue.next(epoch, kind, 1);
    if (next === undefined) throw new Error(`no ${kind} attempt is due`);
    await queue.attempted(epoch, next, forward(status), retryAfter);
    return next;
  };
  return { queue, epoch, first, due, attempt };
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
    const { queue, epoch, first } = await leased(store, "a", "b", "c");
    await change(place, `UPDATE events SET ${damage} WHERE id = 'a'`);
    expect(await first()).toEqual(["a", "b", "c"]);
    const [damaged] = await queue.next(epoch, "first", 1);
    expect(damaged).toEqual({
      type: "damaged",
      id: "a",
      uti: "uti-a",
      queued: { state: "pending", attempts: 0, next: null },
      reason,
    });
    if (damaged === undefined) throw new Error("nothing is in the queue");
    await queue.attempted(epoch, damaged, { ...forward(0), status: null }, undefined);
    expect(await first()).toEqual(["b", "c"]);
    expect(await queue.backlog()).toMatchObject({ events: 2 });
  });

  it("gives new events in order of arrival, also where they are stored together", async () => {
    const store = open(await newPlace());
    const names = Array.from({ length: 12 }, (_, index) => String((index * 7) % 12));
    await Promise.all(names.map((name) => store.append(event(name), "queue")));
    await store.append(event("not queued"));
    const { queue, epoch, first } = await leased(store);
    expect(await first()).toEqual(names.slice(0, 10));
    expect(await queue.next(epoch, "first", 1)).toMatchObject([
      { id: "0", queued: { state: "pending", attempts: 0, next: null } },
    ]);
  });

  it("keeps an event until it is accepted, whoever opens the store", async () => {
    const place = await newPlace();
    await open(place).append(event("a"), "queue");
    const store = open(place);
    const { first, attempt, queue } = await leased(store);
    expect(await first()).toEqual(["a"]);
    expect(await queue.backlog()).toEqual({ events: 1, oldest: AT });
    await attempt("first", 200);
    expect(await first()).toEqual([]);
    expect(await queue.backlog()).toEqual({ events: 0, oldest: undefined });
    expect(await all(store.events())).toMatchObject([{ accepted: true, queued: null }]);
    expect((await store.forwards("a")).map(({ status }) => status)).toEqual([200]);
  });

  it("gives a retry when it is due, and says how long that takes", async () => {
    const store = open(await newPlace());
    const { queue, first, due, attempt } = await leased(store, "a", "b");
    expect(await queue.untilRetry()).toBeUndefined();
    const before = Date.now();
    await attempt("first", 500, DUE);
    await attempt("first", 500, MINUTE);
    expect([await first(), await due()]).toEqual([[], []]);
    const wait = (await queue.untilRetry()) ?? NaN;
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(DUE);
    const [waiting] = await all(store.events());
    expect(waiting?.queued).toMatchObject({ state: "pending", attempts: 1 });
    expect(waiting?.queued?.next?.getTime()).toBeGreaterThanOrEqual(before + DUE);
    await sleep(wait);
    expect(await due()).toEqual(["a"]);
    expect(await attempt("retry", 200)).toMatchObject({ queued: { attempts: 1 } });
    expect(await due()).toEqual([]);
  });

  it("lists what failed, until a replay delivers it", async () => {
    const store = open(await newPlace());
    const { queue, first, due, attempt } = await leased(store, "a", "b", "c");
    await attempt("first", 500);
    await attempt("first", 200);
    expect([await first(), await due()]).toEqual([["c"], []]);
    expect(await ids(store.events({ failed: true }))).toEqual(["a"]);
    expect(await queue.backlog()).toMatchObject({ events: 1 });
    // The service delivers it once more: it stays failed.
    await store.append({ ...event("a"), id: "a2" }, "queue");
    await store.forwarded("a", forward(503));
    expect(await all(store.events({ failed: true, limit: 5 }))).toMatchObject([
      { id: "a", repeats: 1, queued: { state: "failed", attempts: 1, next: null } },
    ]);
    await store.forwarded("a", forward(200));
    expect(await ids(store.events({ failed: true }))).toEqual([]);
  });

  it("queues a repeated delivery only where nobody has accepted or queued it", async () => {
    const store = open(await newPlace());
    await store.append(event("refused"));
    await store.forwarded("refused", forward(500));
    await store.append(event("accepted"));
    await store.forwarded("accepted", forward(200));
    const names = ["refused", "accepted", "new"];
    for (const round of [1, 2])
      await Promise.all(
        names.map((name) => store.append({ ...event(name), id: `${name} ${round}` }, "queue")),
      );
    const { first } = await leased(store);
    expect((await first()).toSorted()).toEqual(["new 1", "refused"]);
  });

  it("records an attempt once", async () => {
    const store = open(await newPlace());
    const { queue, epoch, attempt } = await leased(store, "a");
    const made = await attempt("first", 500, 0);
    await queue.attempted(epoch, made, forward(500), 0);
    expect(await store.forwards("a")).toHaveLength(1);
    expect(await all(store.events())).toMatchObject([{ queued: { attempts: 1 } }]);
  });

  it("is for one forwarder at a time, and rejects what one records that has lost the lease", async () => {
    const place = await newPlace();
    const [one, other] = [open(place), open(place)];
    await one.append(event("a"), "queue");
    const epoch = (await one.queue.lease(300)) ?? NaN;
    const [taken] = await one.queue.next(epoch, "first", 1);
    if (taken === undefined) throw new Error("nothing is queued");
    expect(await other.queue.lease(MINUTE)).toBeUndefined();
    expect(await one.queue.lease(300)).toBe(epoch);
    await expect.poll(() => one.queue.next(epoch, "first", 1)).toEqual([]);
    const next = (await other.queue.lease(MINUTE)) ?? NaN;
    expect(next).toBeGreaterThan(epoch);
    expect(await one.queue.lease(MINUTE)).toBeUndefined();
    await one.queue.release(epoch);
    await one.queue.attempted(epoch, taken, forward(200), undefined);
    expect(await one.forwards("a")).toEqual([]);
    expect(idsOf(await other.queue.next(next, "first", 1))).toEqual(["a"]);
    await other.queue.release(next);
    expect(await one.queue.lease(MINUTE)).toBeGreaterThan(next);
  });

  it("gives the lease to one of many that ask at once", async () => {
    const place = await newPlace();
    const stores = Array.from({ length: 4 }, () => open(place));
    const epochs = await Promise.all(stores.map(({ queue }) => queue.lease(MINUTE)));
    expect(epochs.filter((epoch) => epoch !== undefined)).toEqual([1]);
  });

  it("keeps events that wait from being pruned", async () => {
    const store = open(await newPlace());
    const { attempt } = await leased(store, "failed", "waits", "retried");
    await attempt("first", 500);
    const later = new Date(AT.getTime() + 1);
    expect(await store.countBefore(later)).toMatchObject({ events: 1 });
    expect(await store.prune(later)).toMatchObject({ events: 1 });
    expect(await ids(store.events())).toEqual(["waits", "retried"]);
    expect(await ids(store.events({ failed: true }))).toEqual([]);
  });
}
