/** The queue: what becomes of events that wait in a store. */
import { describe, expect, it } from "vitest";
import type { EventStore } from "../../src/store/event-store.ts";
import { type Send, SendError, SendTimeout } from "../../src/http/exchange.ts";
import type { Claim, ClaimRequest, EventLog } from "../../src/events/event.ts";
import { createQueueForwarder, type QueueParts } from "../../src/receiver/queue.ts";
import { SYSTEM_TIMERS } from "../../src/values/timers.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { APP, closeAtEnd, forwarderParts, fresh, nameIn, OK, receive } from "../support/forwarding.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { VirtualTime } from "../simulation/virtual-time.ts";
import { AT, event, idOf, KEYS, backlogOf } from "../support/stored-events.ts";

describe("events that wait in a store", () => {
  const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

  /** A store in which events of these names wait. */
  async function storeWith(...names: string[]): Promise<EventStore> {
    const store = openSqlite(eventsPath(temporaryHome()));
    for (const name of names) await store.append(fresh(name), 0);
    return store;
  }

  /** A forwarder of what is in this store, with an application of its own. */
  async function queued(
    store: EventStore,
    answer: (id: string) => number | "reset" | Promise<number | "reset">,
    parts: Partial<QueueParts> & { readonly send?: Send } = {},
  ) {
    const sent: string[] = [];
    const send: Send = async (request) => {
      const id = nameIn(request);
      sent.push(id);
      const status = await answer(id);
      if (status === "reset") throw new SendError("reset", true);
      return { ...OK, status };
    };
    const made = forwarderParts(store, parts.send ?? send);
    const forwarder = createQueueForwarder({
      ...made.parts,
      queue: store,
      delays: [50, 100],
      concurrency: 8,
      timers: SYSTEM_TIMERS,
      ...parts,
    });
    closeAtEnd(forwarder);
    forwarder.start();
    return { ...made, forwarder, sent };
  }

  it("go out in order of arrival, one at a time, with a concurrency of 1", async () => {
    const store = openSqlite(eventsPath(temporaryHome()));
    const names = Array.from({ length: 20 }, (_, index) => idOf(String(index).padStart(2, "0")));
    for (const name of names) await store.append(event(name), 0);
    let [open, most] = [0, 0];
    const { sent } = await queued(
      store,
      async () => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 1));
        open -= 1;
        return 200;
      },
      { concurrency: 1 },
    );
    await expect.poll(() => sent.length).toBe(20);
    expect([sent, most]).toEqual([names, 1]);
  });

  it("are failed after the last delay, and go on with a new plan when they are retried", async () => {
    const store = await storeWith("a");
    let isUp = false;
    const { sent } = await queued(store, () => (isUp ? 200 : 500), { delays: [10] });
    await expect.poll(() => backlogOf(store)).toMatchObject({ events: 0, failed: 1 });
    expect(sent).toHaveLength(2);
    isUp = true;
    await store.retry({ ids: ["a"] }, KEYS);
    await expect.poll(() => backlogOf(store)).toMatchObject({ events: 0, failed: 0 });
  });

  const HANGS = new Promise<never>(() => undefined);
  const HOUR = 3_600_000;

  it("are not held up by others that hang, however few go out at a time", async () => {
    const store = await storeWith(...numbers(40));
    const hang = new Set(["3", "11", "19"]);
    const { sent, warnings } = await queued(store, (id) => (hang.has(id) ? HANGS : 200), { concurrency: 2 });
    await expect.poll(() => backlogOf(store)).toMatchObject({ events: 3 });
    expect(sent).toHaveLength(40);
    expect(warnings).toEqual([]);
  });

  it("reach the application at once, during and after an event that hangs", async () => {
    const store = await storeWith("hangs");
    let fail: (error: Error) => void = () => undefined;
    const hang = new Promise<never>((_, reject) => (fail = reject));
    const { forwarder, sent, warnings } = await queued(
      store,
      (id) => (id === "hangs" ? hang : 200),
      // No look at the store is due, because no time passes.
      { delays: [HOUR], timers: new VirtualTime().timersOf(() => true) },
    );
    await expect.poll(() => sent).toEqual(["hangs"]);
    await receive(forwarder, store, fresh("beside"));
    await expect.poll(() => sent).toEqual(["hangs", "beside"]);
    fail(new SendTimeout("no answer", true));
    await expect.poll(async () => (await store.history("hangs")).attempts.length).toBe(1);
    await receive(forwarder, store, fresh("after"));
    await expect.poll(() => sent).toEqual(["hangs", "beside", "after"]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ["503", 503, "3600", HOUR],
    ["429", 429, "900", HOUR / 4],
    ["503 with a date", 503, new Date(Date.now() + HOUR).toUTCString(), HOUR],
    ["503 for a year", 503, String(365 * 24 * 3600), 24 * HOUR],
  ])(
    "are left alone for as long as the answer to them asks (%s), although others are accepted, until an operator retries them",
    async (_, status, asked, milliseconds) => {
      const store = await storeWith("a", "b");
      const { sent } = await queued(store, () => 200, {
        delays: [50],
        send: async (request) => {
          sent.push(nameIn(request));
          return sent.length > 1 ? OK : { ...OK, status, headers: [["Retry-After", asked]] };
        },
        concurrency: 1,
      });
      await expect.poll(() => sent).toEqual(["a", "b"]);
      await expect.poll(async () => (await store.waiting(9)).map(({ id }) => id)).toEqual(["a"]);
      const [waiting] = await store.waiting(1);
      const left = (waiting?.delivery?.next?.getTime() ?? 0) - Date.now();
      expect(Math.abs(left - milliseconds)).toBeLessThan(60_000);
      await store.retry({ ids: ["a"] }, KEYS);
      await expect.poll(() => sent).toEqual(["a", "b", "a"]);
    },
  );

  it("wait while the application is down: one probe at a time, without using up their attempts", async () => {
    const store = await storeWith(...numbers(50));
    /** As many requests fail. */
    const failing = 14;
    let [open, most, requests] = [0, 0, 0];
    const { sent, warnings } = await queued(
      store,
      async () => {
        open += 1;
        const isUp = ++requests > failing;
        // Two more than the places begin before the third one fails.
        if (requests > 10 && !isUp) most = Math.max(most, open);
        await new Promise((resolve) => setTimeout(resolve, 5));
        open -= 1;
        return isUp ? 200 : "reset";
      },
      { delays: Array.from({ length: 10 }, () => 100) },
    );
    await expect.poll(() => backlogOf(store)).toMatchObject({ events: 0, failed: 0 });
    expect(most).toBe(1);
    expect(warnings).toEqual([expect.stringContaining("does not answer (no answer: reset); next try in")]);
    expect(sent).toHaveLength(50 + failing);
  });

  it("leave an application alone for as long as it asks", async () => {
    const store = await storeWith("a", "b");
    const times: number[] = [];
    await queued(store, () => 200, {
      concurrency: 1,
      delays: [1, 1],
      send: async () => {
        times.push(Date.now());
        return times.length === 1 ? { ...OK, status: 503, headers: [["Retry-After", "1"]] } : OK;
      },
    });
    await expect.poll(() => times.length).toBe(3);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it("of a target that is up are not delayed by another target that hangs", async () => {
    const store = openSqlite(eventsPath(temporaryHome()));
    const other = new URL("http://127.0.0.1:3001/");
    for (let index = 0; index < 20; index++) {
      await store.append(fresh(`down ${index}`, { transApproved: false }), 0);
      await store.append(fresh(`up ${index}`), 0);
    }
    const sent: string[] = [];
    await queued(store, () => 200, {
      routes: [
        { outcome: "DECLINED", url: APP },
        { outcome: undefined, url: other },
      ],
      send: async (request) => {
        sent.push(nameIn(request));
        return request.authority === other.host ? OK : new Promise<never>(() => undefined);
      },
    });
    await expect.poll(() => sent.filter((name) => name.startsWith("up")).length).toBe(20);
    expect(sent.filter((name) => name.startsWith("down")).length).toBeLessThanOrEqual(8);
  });

  it("that are damaged are set aside, and reported", async () => {
    const store = await storeWith("a", "b");
    const damaged: QueueParts["queue"] = {
      ...store,
      claim: async (wanted) =>
        (await store.claim(wanted)).map((one) =>
          one.id === "a" ? { ...one, event: { damage: "it has no valid head" } } : one,
        ),
    };
    const { sent, warnings } = await queued(store, () => 200, { queue: damaged });
    await expect.poll(() => sent).toEqual(["b"]);
    await expect.poll(() => backlogOf(store)).toMatchObject({ events: 0, failed: 1 });
    expect(warnings).toEqual([
      expect.stringContaining("The stored event a is damaged (it has no valid head)"),
    ]);
  });

  it("are finished when the queue closes, and released to others if no attempt has begun", async () => {
    const path = eventsPath(temporaryHome());
    const [store, other] = [openSqlite(path), openSqlite(path)];
    for (let index = 0; index < 20; index++) await store.append(event(idOf(String(index))), 0);
    let hold = (): void => undefined;
    const held = new Promise<number>((resolve) => (hold = () => resolve(200)));
    const { sent, forwarder, forwards } = await queued(store, () => held, { concurrency: 4 });
    await expect.poll(() => sent.length).toBe(4);
    const closed = forwarder.close();
    hold();
    await closed;
    expect(forwards.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(sent).toHaveLength(4);
    const left = await other.claim({ limit: 20, outcomes: ["APPROVED"], keys: KEYS, lease: 1_000 });
    expect(left).toHaveLength(16);
    expect(left.map(({ made }) => made)).toEqual(Array.from({ length: 16 }, () => 0));
  });

  it("are not attempted again if the end of an attempt could not be written", async () => {
    const store = openSqlite(eventsPath(temporaryHome()));
    let failures = 2;
    const log: Pick<EventLog, "ended"> = {
      ended: async (...end) => {
        if (failures-- > 0) throw new Error("the disk is full");
        await store.ended(...end);
      },
    };
    await store.append(fresh("a"), 0);
    const { sent, warnings } = await queued(store, () => 200, { log });
    await expect.poll(() => backlogOf(store)).toMatchObject({ events: 0 });
    expect(sent).toEqual(["a"]);
    expect(warnings).toEqual(["Acknowledged webhooks wait to be forwarded: the disk is full"]);
  });
});

/** Lehmer's generator, so that a failure can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

describe("are all delivered by two receivers of which some are killed", () => {
  const server = usePostgres();
  it.each([
    ["SQLite", async () => eventsPath(temporaryHome()), openSqlite],
    ["PostgreSQL", () => server().createDatabase(), openPostgres],
  ])(
    "in %s",
    async (_, newPlace, open) => {
      const [events, kills, concurrency] = [120, 3, 4];
      const place = await newPlace();
      const store = open(place);
      for (let index = 0; index < events; index++) await store.append(event(idOf(String(index), AT)), 0);
      const random = createRandom(7);
      const accepted = new Map<string, number>();
      let requests = 0;
      const send: Send = async (request) => {
        requests += 1;
        const fate = random();
        await new Promise((resolve) => setTimeout(resolve, 5 * random()));
        if (fate < 0.1) throw new SendError("reset", true);
        if (fate < 0.15) throw new SendTimeout("no answer", true);
        if (fate < 0.3) return { ...OK, status: 500 };
        accepted.set(nameIn(request), (accepted.get(nameIn(request)) ?? 0) + 1);
        return OK;
      };
      /** A receiver that can be killed: from then on it neither claims, records nor learns an answer, and its claims end. */
      const start = () => {
        let isDead = false;
        const own = open(place);
        const claims: Claim[] = [];
        const alive =
          <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
          async (...args: Args): Promise<T> => {
            const forever = new Promise<never>(() => undefined);
            if (isDead) return forever;
            const result = await work(...args);
            return isDead ? forever : result;
          };
        const forwarder = createQueueForwarder({
          ...forwarderParts(
            { ended: alive(own.ended) },
            alive((request: Parameters<Send>[0]) => send(request)),
          ).parts,
          queue: {
            claim: alive(async (wanted: ClaimRequest) => {
              const claimed = await own.claim(wanted);
              if (isDead) await own.release(claimed);
              claims.push(...claimed);
              return claimed;
            }),
            release: alive(own.release),
          },
          delays: Array.from({ length: 100 }, () => 10),
          concurrency,
          timers: SYSTEM_TIMERS,
          // No claim ends by itself: the machine may stall.
          timeout: 600_000,
        });
        closeAtEnd(forwarder);
        forwarder.start();
        return async () => {
          isDead = true;
          await own.release(claims);
        };
      };
      const running = [start(), start()];
      for (let kill = 1; kill <= kills; kill++) {
        await expect.poll(() => requests).toBeGreaterThan(kill * 30);
        await running[kill % 2]?.();
        running[kill % 2] = start();
      }
      await expect.poll(() => backlogOf(store)).toMatchObject({ events: 0, failed: 0 });
      expect(accepted.size).toBe(events);
      // Only what was under way at a kill goes out again.
      const again = [...accepted.values()].reduce((sum, times) => sum + times - 1, 0);
      expect(again).toBeLessThanOrEqual(kills * concurrency);
    },
    60_000,
  );
});
