/** The forwarder of the queue, on a real store with a clock of its own: order, retries, failures of the store, takeover. */
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { SendError, type Send } from "../../src/http/exchange.ts";
import type { EventStore, ForwardQueue } from "../../src/receiver/event-store.ts";
import { createQueueForwarder, type QueueForwarderParts } from "../../src/receiver/queue-forwarder.ts";
import { openEventDatabase } from "../../src/events/sqlite-database.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { all, event, ids, idsOf, wanted } from "../support/stored-events.ts";

const START = new Date("2026-11-21T12:00:00Z").getTime();
const APP = new URL("http://127.0.0.1:3000/hook");

type Work = Promise<unknown>;

/** A clock that jumps to the next end of a pause once the queue has done all it was asked and everything had its turn. */
function createClock() {
  let time = START;
  const pauses = new Set<{ until: number; readonly end: () => void }>();
  const asked = new Set<Work>();
  const pause: QueueForwarderParts["pause"] = (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const one = { until: time + milliseconds, end: () => (pauses.delete(one), resolve()) };
      pauses.add(one);
      signal.addEventListener("abort", one.end, { once: true });
    });
  const tracked =
    <Args extends unknown[], T>(ask: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> => {
      const answer = ask(...args);
      const work: Work = answer.catch(() => undefined).then(() => asked.delete(work));
      asked.add(work);
      return answer;
    };
  /** The queue, for whose answers the clock waits: the thread of SQLite takes real time. */
  const track = (queue: ForwardQueue): ForwardQueue => ({
    claim: tracked((wanted) => queue.claim(wanted)),
    attempted: tracked((...made) => queue.attempted(...made)),
    backlog: tracked(() => queue.backlog()),
  });
  const settled = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns++) {
      await turn();
      if (asked.size === 0) continue;
      await Promise.all(asked);
      turns = 0;
    }
  };
  /** Advances until the condition holds. */
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    for (let step = 0; step < 20_000; step++) {
      await settled();
      if (await condition()) return;
      const [next] = [...pauses].toSorted((one, other) => one.until - other.until);
      if (next === undefined) continue;
      time = Math.max(time, next.until);
      next.end();
    }
    throw new Error("it never happened");
  };
  /** Sets the time back. Pauses end after as long as before. */
  const setBack = (milliseconds: number): void => {
    time -= milliseconds;
    for (const one of pauses) one.until -= milliseconds;
  };
  const seconds = (): number => (time - START) / 1000;
  return { now: () => new Date(time), pause, track, until, setBack, seconds, pauses };
}

type Answer = (id: string, attempt: number) => number | "reset" | Promise<number | "reset">;

function startForwarder(
  store: { readonly queue: ForwardQueue },
  clock: Pick<QueueForwarderParts, "now" | "pause"> & { track?: (queue: ForwardQueue) => ForwardQueue },
  answer: Answer,
  parts: Partial<QueueForwarderParts> = {},
) {
  const sent: string[] = [];
  const shown: string[] = [];
  const warnings: string[] = [];
  const send: Send = async ({ body }) => {
    const id = (JSON.parse(Buffer.from(body).toString()) as { uti: string }).uti.replace("uti-", "");
    sent.push(id);
    const status = await answer(id, sent.filter((other) => other === id).length);
    if (status === "reset") throw new SendError("reset", true);
    return { status, headers: [], body: new Uint8Array() };
  };
  const { now, pause, track = (queue) => queue } = clock;
  const forwarder = createQueueForwarder({
    now,
    pause,
    send,
    headers: [],
    insecure: false,
    concurrency: 8,
    timeout: 8_000,
    queue: track(store.queue),
    forwards: () => true,
    routes: [{ outcome: undefined, url: APP }],
    delays: [5_000, 30_000],
    observe: ({ id }, { status }, { attempt, state }) =>
      void shown.push(`${id} ${attempt} ${status} ${state}`),
    warn: (text) => void warnings.push(text),
    ...parts,
  });
  forwarder.start();
  onTestFinished(() => forwarder.close());
  return { forwarder, sent, shown, warnings };
}

const append = async (store: EventStore, ...names: string[]): Promise<void> => {
  for (const name of names) await store.append(event(name), "queue");
};

describe("the forwarder", () => {
  it("makes first attempts in order of arrival, past one that fails, and retries that one by itself", async () => {
    const clock = createClock();
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    await append(store, "a", "b", "c");
    const times: number[] = [];
    const { sent, shown } = startForwarder(store, clock, (id, attempt) => {
      if (id === "b") times.push(clock.seconds());
      return id === "b" && attempt < 3 ? (attempt === 1 ? 500 : "reset") : 200;
    });
    await clock.until(() => sent.length === 5);
    expect(sent).toEqual(["a", "b", "c", "b", "b"]);
    await clock.until(() => shown.length === 5);
    expect(shown).toEqual([
      "a 1 200 delivered",
      "b 1 500 pending",
      "c 1 200 delivered",
      "b 2 null pending",
      "b 3 200 delivered",
    ]);
    const [first = NaN, second = NaN, third = NaN] = times;
    expect(second - first).toBeGreaterThanOrEqual(5);
    expect(third - second).toBeGreaterThanOrEqual(30);
    expect(await store.queue.backlog()).toMatchObject({ events: 0, oldest: undefined, failed: 0 });
  });

  it("gives an event up after n delays and n + 1 attempts", async () => {
    const clock = createClock();
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    await append(store, "a");
    const { sent, shown } = startForwarder(store, clock, () => 503);
    await clock.until(() => shown.length === 3);
    expect(shown.at(-1)).toBe("a 3 503 failed");
    const end = clock.seconds() + 120;
    await clock.until(() => clock.seconds() > end);
    expect(sent).toHaveLength(3);
    expect(await ids(store.events({ failed: true }))).toEqual(["a"]);
  });

  it.each(["runs on", "starts again"])(
    "retries soon if the clock is set back a day and it %s",
    async (then) => {
      const clock = createClock();
      const store = openSqlite(eventsPath(temporaryHome()), clock.now);
      await append(store, "a");
      const { sent, shown, forwarder } = startForwarder(store, clock, () => 503);
      await clock.until(() => shown.length === 1);
      let later = sent;
      if (then === "starts again") {
        await forwarder.close();
        clock.setBack(86_400_000);
        ({ sent: later } = startForwarder(store, clock, () => 200));
      } else clock.setBack(86_400_000);
      const before = clock.seconds();
      const goal = later.length + 1;
      await clock.until(() => later.length === goal);
      expect(clock.seconds() - before).toBeLessThanOrEqual(10);
    },
  );

  it("forwards at once what this receiver stores, and by looking what others store", async () => {
    const clock = createClock();
    const path = eventsPath(temporaryHome());
    const store = openSqlite(path, clock.now);
    const { sent, forwarder } = startForwarder(store, clock, () => 200);
    await clock.until(() => clock.pauses.size === 1);
    await append(store, "own");
    const before = clock.seconds();
    const one = { ...event("own"), repeated: false };
    expect(forwarder.plan(one)).toBe("queue");
    const stored = {
      repeated: false,
      first: "own",
      accepted: false,
      claimedElsewhere: false,
      answered: undefined,
    };
    expect(await forwarder.forward(one, stored)).toMatchObject({
      status: 200,
      headers: [["Proxy-Status", 'paylink; details="stored; the answer of the application comes later"']],
    });
    await expect.poll(() => sent).toEqual(["own"]);
    expect(clock.seconds()).toBe(before);
    await append(openSqlite(path, clock.now), "other");
    await clock.until(() => sent.length === 2);
    expect(sent).toEqual(["own", "other"]);
  });

  it("does not send an event again because its attempt cannot be recorded, and says so once", async () => {
    const clock = createClock();
    let failures = 0;
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    await append(store, "a", "b");
    const broken: ForwardQueue = {
      ...store.queue,
      attempted: async (...attempt) => {
        if (failures++ < 3) throw new Error("the disk is full");
        return store.queue.attempted(...attempt);
      },
    };
    const { sent, warnings } = startForwarder({ queue: broken }, clock, () => 200);
    await clock.until(async () => (await store.queue.backlog()).events === 0);
    expect(sent).toEqual(["a", "b"]);
    expect(warnings).toEqual(["Acknowledged webhooks wait to be forwarded: the disk is full"]);
  });

  it("sets a damaged event aside, names it, and forwards those behind it", async () => {
    const clock = createClock();
    const path = eventsPath(temporaryHome());
    const store = openSqlite(path, clock.now);
    await append(store, "a", "b", "c");
    const database = openEventDatabase(path);
    database.exec("UPDATE events SET headers = '' WHERE id = 'a'");
    database.close();
    const { sent, shown, warnings } = startForwarder(store, clock, (_, attempt) => (attempt < 2 ? 500 : 200));
    await clock.until(() => shown.length === 5);
    expect(sent).toEqual(["b", "c", "b", "c"]);
    expect(shown[0]).toBe("a 1 null failed");
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The stored event a is damaged \(.*JSON.*\)\. It was not forwarded, is marked as failed, .*: paylink transaction uti-a$/,
      ),
    ]);
    expect(await store.forwards("a")).toMatchObject([
      { status: null, detail: expect.stringMatching(/^not sent: the stored event is damaged: /) },
    ]);
  });

  it("counts an event without a target as not sent", async () => {
    const clock = createClock();
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    await append(store, "a");
    const { sent, shown } = startForwarder(store, clock, () => 200, {
      routes: [{ outcome: "DECLINED", url: APP }],
      delays: [],
    });
    await clock.until(() => shown.length === 1);
    expect([sent, shown]).toEqual([[], ["a 1 null failed"]]);
    expect(await store.forwards("a")).toMatchObject([
      { status: null, detail: "not sent: --forward-to names no target for APPROVED" },
    ]);
  });

  it("finishes the attempt under way when it is closed, and leaves the rest to another", async () => {
    const clock = createClock();
    const path = eventsPath(temporaryHome());
    const store = openSqlite(path, clock.now);
    await append(store, "a", "b");
    let answer = (): void => undefined;
    const answered = new Promise<number>((resolve) => (answer = () => resolve(200)));
    const { sent, shown, forwarder } = startForwarder(store, clock, () => answered);
    await clock.until(() => sent.length === 1);
    const closed = forwarder.close();
    const start = clock.seconds();
    // The claim is renewed for as long as the attempt takes.
    await clock.until(() => clock.seconds() > start + 60);
    const other = openSqlite(path, clock.now);
    const claimed = async () => idsOf((await other.queue.claim(wanted({ duration: 1_000 }))).events);
    expect(await claimed()).toEqual([]);
    answer();
    await closed;
    expect([sent, shown]).toEqual([["a"], ["a 1 200 delivered"]]);
    expect(await claimed()).toEqual(["b"]);
    expect(await other.queue.backlog()).toMatchObject({ events: 1 });
  });

  it("sends one at a time to an application that does not answer, in pauses that grow, until it answers", async () => {
    const clock = createClock();
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    const names = Array.from({ length: 30 }, (_, index) => String(index).padStart(2, "0"));
    for (const name of names) await store.append(event(name, { reference: name }), "queue");
    let isUp = false;
    let [open, most] = [0, 0];
    const times: number[] = [];
    const { sent, shown, warnings } = startForwarder(
      store,
      clock,
      async () => {
        times.push(clock.seconds());
        open += 1;
        if (sent.length > 8) most = Math.max(most, open);
        await turn();
        open -= 1;
        return isUp ? 200 : "reset";
      },
      { delays: [5_000, 30_000, 120_000, 600_000, 3_600_000] },
    );
    await clock.until(() => shown.length === 30);
    // First attempts go on, so that one event which the application refuses holds up no other.
    expect(sent).toEqual(names);
    expect(times.at(-1)).toBe(0);
    await clock.until(() => clock.seconds() > 190);
    expect(most).toBe(1);
    expect(times.slice(30).map(Math.round)).toEqual([5, 35, 95, 155]);
    expect(warnings).toEqual([
      "The application at http://127.0.0.1:3000/hook does not answer; next try in 30 s. Until it answers, new webhooks go out one at a time, and retries wait.",
    ]);
    // Retries that waited have had no attempt, and go out in their order.
    isUp = true;
    await clock.until(async () => (await store.queue.backlog()).events === 0);
    expect(clock.seconds()).toBeLessThan(2_000);
    expect(shown.filter((line) => line.endsWith("delivered"))).toHaveLength(30);
    expect(shown.filter((line) => line.endsWith(" 2 200 delivered")).length).toBeGreaterThan(25);
  });

  it("sends a new webhook at once to an application that is back, and then what waits", async () => {
    const clock = createClock();
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    await append(store, "a");
    let isUp = false;
    const { sent, shown } = startForwarder(store, clock, () => (isUp ? 200 : 502), {
      delays: [40_000, 40_000],
    });
    await clock.until(() => clock.seconds() > 41);
    expect(sent).toEqual(["a", "a"]);
    isUp = true;
    await append(store, "b");
    await clock.until(() => shown.length === 3);
    expect(shown.at(-1)).toBe("b 1 200 delivered");
    expect(clock.seconds()).toBeLessThan(45);
  });

  it.each([
    ["120", 120],
    ["999999", 600],
  ])("leaves an application alone for as long as it asks (Retry-After: %s)", async (asked, seconds) => {
    const clock = createClock();
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    await append(store, "a");
    const times: number[] = [];
    const { now, pause, track } = clock;
    startForwarder(store, { now, pause, track }, () => 200, {
      send: async () => {
        times.push(clock.seconds());
        const headers = times.length === 1 ? [["Retry-After", asked] as const] : [];
        return { status: times.length === 1 ? 503 : 200, headers, body: new Uint8Array() };
      },
    });
    await clock.until(() => times.length === 1);
    await append(store, "b");
    await clock.until(() => times.length === 3);
    expect(times.map(Math.round)).toEqual([0, seconds, seconds]);
  });

  it.each(["hangs", "refuses connections", "asks to be left alone"])(
    "delays no event of a target that is up while another one %s, and delivers those when it is back",
    async (how) => {
      const clock = createClock();
      const store = openSqlite(eventsPath(temporaryHome()), clock.now);
      const declined = { transApproved: false };
      for (let index = 0; index < 20; index++) {
        await store.append(event(`down ${index}`, { ...declined, reference: `down ${index}` }), "queue");
        await store.append(event(`up ${index}`, { reference: `up ${index}` }), "queue");
      }
      let isUp = false;
      const other = new URL("http://127.0.0.1:3001/");
      const times = new Map<string, number>();
      const { now, pause, track } = clock;
      const { shown } = startForwarder(store, { now, pause, track }, () => 200, {
        routes: [
          { outcome: "DECLINED", url: APP },
          { outcome: undefined, url: other },
        ],
        concurrency: 4,
        send: async ({ body }, _, target) => {
          const { uti } = JSON.parse(Buffer.from(body).toString()) as { uti: string };
          const good = { status: 200, headers: [], body: new Uint8Array() };
          if (target?.href === other.href || isUp) {
            times.set(uti, clock.seconds());
            return good;
          }
          if (how === "refuses connections") throw new SendError("refused", false);
          if (how === "hangs") await pause(8_000, new AbortController().signal);
          return { ...good, status: 503, headers: [["Retry-After", "60"]] };
        },
      });
      const delivered = (name: string) =>
        shown.filter((line) => line.startsWith(name) && line.endsWith("delivered")).length;
      await clock.until(() => delivered("up") === 20);
      expect(clock.seconds()).toBe(0);
      expect(delivered("down")).toBe(0);
      await clock.until(() => clock.seconds() > 300);
      await store.append(event("up late", { reference: "up late" }), "queue");
      const appended = clock.seconds();
      await clock.until(() => times.has("uti-up late"));
      // By the next look.
      expect(clock.seconds() - appended).toBeLessThanOrEqual(1);
      isUp = true;
      const back = clock.seconds();
      await store.order("retry", await ids(store.events({ pending: true })));
      await clock.until(() => [...times.keys()].filter((uti) => uti.startsWith("uti-down")).length === 20);
      expect(clock.seconds() - back).toBeLessThan(70);
    },
  );

  it("gives what it claimed ahead to another forwarder when its application begins to hang", async () => {
    const clock = createClock();
    const path = eventsPath(temporaryHome());
    const [store, other] = [openSqlite(path, clock.now), openSqlite(path, clock.now)];
    for (let index = 0; index < 40; index++)
      await store.append(event(String(index), { reference: String(index) }), "queue");
    let hold = (): void => undefined;
    const held = new Promise<number>((resolve) => (hold = () => resolve(200)));
    const { sent } = startForwarder(store, clock, () => (sent.length > 12 ? held : 200), { concurrency: 4 });
    await clock.until(() => clock.seconds() > 3);
    const begun = sent.length;
    expect(begun).toBe(16);
    const { events } = await other.queue.claim(wanted({ limit: 40 }));
    expect(events).toHaveLength(40 - begun);
    hold();
  });

  it("gives what it claimed ahead back when it is closed", async () => {
    const clock = createClock();
    const path = eventsPath(temporaryHome());
    const [store, other] = [openSqlite(path, clock.now), openSqlite(path, clock.now)];
    for (let index = 0; index < 20; index++)
      await store.append(event(String(index), { reference: String(index) }), "queue");
    let hold = (): void => undefined;
    const held = new Promise<number>((resolve) => (hold = () => resolve(200)));
    const { sent, forwarder } = startForwarder(store, clock, () => (sent.length > 6 ? held : 200), {
      concurrency: 4,
    });
    await clock.until(() => sent.length === 10);
    const closed = forwarder.close();
    hold();
    await closed;
    expect(sent).toHaveLength(10);
    expect((await other.queue.claim(wanted({ limit: 20 }))).events).toHaveLength(10);
  });

  it("holds what waits to other delays after a restart", async () => {
    const clock = createClock();
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    for (const name of ["a", "b"]) await store.append(event(name, { reference: name }), "queue");
    const first = startForwarder(store, clock, (id) => (id === "a" ? 500 : 400), {
      delays: [1_000, 3_600_000],
    });
    await clock.until(() => first.shown.length === 4);
    await first.forwarder.close();
    await append(store, "c");
    const { sent, shown, forwarder } = startForwarder(store, clock, () => 400, { delays: [1_000, 2_000] });
    const before = clock.seconds();
    await clock.until(() => sent.length >= 3);
    expect(clock.seconds() - before).toBeLessThan(5);
    expect(sent.slice(0, 3).toSorted()).toEqual(["a", "b", "c"]);
    await clock.until(() => shown.length === 3);
    await forwarder.close();
    const { warnings, sent: more } = startForwarder(store, clock, () => 200, { delays: [] });
    await clock.until(() => warnings.length === 1);
    expect(warnings[0]).toMatch(/^1 webhook has failed: it has had all attempts that --retry allows now\./);
    expect(more).toEqual([]);
    expect(await ids(store.events({ failed: true }))).toHaveLength(3);
  });

  it("keeps no more bytes in memory than it may, with however many attempts at the same time", async () => {
    const clock = createClock();
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    const padding = "x".repeat(9 * 1024 * 1024);
    for (const name of ["a", "b", "c", "d", "e"])
      await store.append(event(name, { reference: name, padding }), "queue");
    let answer = (): void => undefined;
    const answered = new Promise<number>((resolve) => (answer = () => resolve(200)));
    const { sent, shown } = startForwarder(store, clock, () => answered, { concurrency: 1000 });
    await clock.until(() => sent.length >= 3);
    await clock.until(() => clock.seconds() > 5);
    expect(sent).toHaveLength(4);
    answer();
    await clock.until(() => shown.length === 5);
  });

  it("makes no busy loop while the application is down and a backlog waits", async () => {
    const clock = createClock();
    const store = openSqlite(eventsPath(temporaryHome()), clock.now);
    let looks = 0;
    const counted: ForwardQueue = {
      ...store.queue,
      claim: (wanted) => ((looks += 1), store.queue.claim(wanted)),
    };
    await append(store, "a", "b", "c");
    const { shown } = startForwarder({ queue: counted }, clock, () => "reset", { delays: [6 * 3_600_000] });
    await clock.until(() => shown.length === 3);
    const [before, start] = [looks, clock.seconds()];
    await clock.until(() => clock.seconds() > start + 600);
    // One look a second.
    expect(looks - before).toBeLessThan(650);
  });
});

describe("two forwarders on PostgreSQL", () => {
  const server = usePostgres();
  const real: Pick<QueueForwarderParts, "now" | "pause"> = {
    now: () => new Date(),
    pause: (milliseconds, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
        if (signal.aborted) resolve();
      }),
  };
  const claim = 1_500;

  it("forward each event once and in order, while one takes over from the other that hangs", async () => {
    const url = await server().createDatabase();
    const names = Array.from({ length: 30 }, (_, index) => String(index));
    const stores = [openPostgres(url), openPostgres(url)] as const;
    await append(stores[0], ...names);
    const taken: string[] = [];
    const accept: Answer = (id) => (taken.push(id), 200);
    /** As a process that is stopped: neither statements nor attempts go on. */
    let isStopped = false;
    const stopping =
      <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
      (...args: Args): Promise<T> =>
        isStopped ? new Promise(() => undefined) : work(...args);
    const { queue } = stores[0];
    const stoppable: ForwardQueue = {
      ...queue,
      claim: stopping((wanted: Parameters<ForwardQueue["claim"]>[0]) => queue.claim(wanted)),
      attempted: stopping((...made: Parameters<ForwardQueue["attempted"]>) => queue.attempted(...made)),
    };
    const died = createQueueForwarder({
      ...real,
      send: async ({ body }) => {
        const { uti } = JSON.parse(Buffer.from(body).toString()) as { uti: string };
        taken.push(uti.replace("uti-", ""));
        isStopped = taken.length === 10;
        return { status: 200, headers: [], body: new Uint8Array() };
      },
      headers: [],
      insecure: false,
      concurrency: 8,
      timeout: 8_000,
      queue: stoppable,
      forwards: () => true,
      routes: [{ outcome: undefined, url: APP }],
      delays: [],
      observe: () => undefined,
      warn: () => undefined,
      claim,
    });
    died.start();
    await expect.poll(() => taken.length).toBeGreaterThan(0);
    startForwarder(stores[1], real, accept, { claim });
    await expect.poll(() => stores[1].queue.backlog()).toMatchObject({ events: 0 });
    // The attempt whose result was not recorded is repeated: its outcome is unknown.
    expect(taken).toEqual([...names.slice(0, 10), ...names.slice(9)]);
    expect((await all(stores[1].events())).filter(({ accepted }) => accepted)).toHaveLength(30);
  });

  it("pass on at once when one ends", async () => {
    const url = await server().createDatabase();
    const stores = [openPostgres(url), openPostgres(url)] as const;
    const first = startForwarder(stores[0], real, () => 200, { claim: 60_000 });
    await append(stores[0], "a");
    await expect.poll(() => first.sent).toEqual(["a"]);
    const second = startForwarder(stores[1], real, () => 200, { claim: 60_000 });
    await first.forwarder.close();
    await append(stores[0], "b");
    await expect.poll(() => second.sent).toEqual(["b"]);
    expect(first.sent).toEqual(["a"]);
  });
});
