/** The forwarder: what the service gets that waits for the application, and what becomes of events that wait in a store. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { EventStore } from "../../src/store/event-store.ts";
import { type Send, SendError, SendTimeout } from "../../src/http/exchange.ts";
import type { EventLog, Forward, NewEvent } from "../../src/receiver/event.ts";
import { createForwarder, type ForwarderParts, type Queued } from "../../src/receiver/forwarder.ts";
import { createMemoryLog } from "../../src/receiver/memory-log.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { AT, event, idOf } from "../support/stored-events.ts";

const APP = new URL("http://127.0.0.1:3000/hook");
const OK = { status: 200, headers: [], body: new Uint8Array() };

function forwarderOf(log: EventLog, send: Send, parts: Partial<ForwarderParts> = {}) {
  const forwards: Forward[] = [];
  const warnings: string[] = [];
  const forwarder = createForwarder({
    log,
    send,
    now: () => new Date(),
    headers: [],
    insecure: false,
    timeout: 2_000,
    routes: [{ outcome: undefined, url: APP }],
    observe: (_, made) => void forwards.push(made),
    warn: (text) => void warnings.push(text),
    ...parts,
  });
  // An attempt that hangs would keep it open.
  onTestFinished(() => Promise.race([forwarder.close(), new Promise<void>((end) => setTimeout(end, 300))]));
  /** As the receiver does with a verified webhook. */
  const receive = async (received: NewEvent) => {
    const whole = { ...received, repeated: false };
    const plan = forwarder.plan(whole);
    if (plan === undefined) throw new Error("it is not forwarded");
    const stored = await log.append(received, plan.lease);
    return plan.forward(whole, stored);
  };
  return { forwarder, receive, forwards, warnings };
}

const fresh = (id: string, record: Record<string, unknown> = {}): NewEvent => event(id, record, new Date());
const nameOf = ({ body }: { readonly body: Uint8Array }): string =>
  (JSON.parse(Buffer.from(body).toString()) as { uti: string }).uti.replace("uti-", "");

describe("the service that waits for the application", () => {
  const answerTo = (send: Send) => forwarderOf(createMemoryLog(), send).receive(fresh("a"));

  it("gets its status, content and Retry-After, and nothing else; any 2xx is a 200", async () => {
    const headers = [
      ["Content-Type", "text/plain"],
      ["Set-Cookie", "session=1"],
      ["Retry-After", "120"],
    ] as const;
    const body = new TextEncoder().encode("later");
    expect(await answerTo(async () => ({ status: 503, headers, body }))).toEqual({
      status: 503,
      headers: [
        ["Content-Type", "text/plain"],
        ["Retry-After", "120"],
        ["Proxy-Status", "paylink; received-status=503"],
      ],
      body,
    });
    expect(await answerTo(async () => ({ ...OK, status: 204 }))).toMatchObject({ status: 200 });
    const cut = (keep = Infinity): Uint8Array => new Uint8Array(1e6).subarray(0, keep);
    const long = await answerTo(async (_, { keep } = {}) => ({ status: 500, headers, body: cut(keep) }));
    expect(long.body.length).toBe(64 * 1024);
  });

  it.each([
    [new SendTimeout("no answer", true), 504, "http_response_timeout"],
    [new SendError("the connection to 10.1.2.3 was closed", true), 502, "connection_terminated"],
    [new SendError("connect ECONNREFUSED 10.1.2.3:3000", false), 502, "destination_unavailable"],
  ])(
    "gets an error of RFC 9209 if there is no answer, without the address: %s",
    async (error, status, name) => {
      const answer = await answerTo(async () => {
        throw error;
      });
      expect(answer).toEqual({
        status,
        headers: [["Proxy-Status", `paylink; error=${name}`]],
        body: new Uint8Array(),
      });
    },
  );

  it("does not wait for others, however many of them hang", async () => {
    const { receive } = forwarderOf(createMemoryLog(), (request) =>
      nameOf(request) === "last" ? Promise.resolve(OK) : new Promise(() => undefined),
    );
    for (let index = 0; index < 50; index++) void receive(fresh(String(index)));
    expect(await receive(fresh("last"))).toMatchObject({ status: 200 });
  });
});

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
    parts: Partial<Queued & Pick<ForwarderParts, "routes" | "send" | "log">> = {},
  ) {
    const sent: string[] = [];
    const send: Send = async (request) => {
      const id = nameOf(request);
      sent.push(id);
      const status = await answer(id);
      if (status === "reset") throw new SendError("reset", true);
      return { ...OK, status };
    };
    const made = forwarderOf(store, send, {
      ...parts,
      queued: { queue: store, delays: [50, 100], concurrency: 8, ...parts },
    });
    made.forwarder.start();
    return { ...made, sent };
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
    await expect.poll(() => sent.length, { timeout: 5_000 }).toBe(20);
    expect([sent, most]).toEqual([names, 1]);
  });

  it("are failed after the last delay, and go on with a new plan when they are retried", async () => {
    const store = await storeWith("a");
    let isUp = false;
    const { sent } = await queued(store, () => (isUp ? 200 : 500), { delays: [10] });
    await expect.poll(() => store.backlog(), { timeout: 5_000 }).toMatchObject({ events: 0, failed: 1 });
    expect(sent).toHaveLength(2);
    isUp = true;
    await store.order("retry", { ids: ["a"] });
    await expect.poll(() => store.backlog(), { timeout: 5_000 }).toMatchObject({ events: 0, failed: 0 });
  });

  it("are not held up by one that hangs", async () => {
    const store = await storeWith(...numbers(40));
    const { sent } = await queued(store, (id) => (id === "3" ? new Promise<never>(() => undefined) : 200));
    await expect.poll(() => new Set(sent).size, { timeout: 5_000 }).toBe(40);
  }, 20_000);

  it("wait while the application is down: one probe at a time, and no attempt of the others is used up", async () => {
    const store = await storeWith(...numbers(50));
    let [isUp, open, most, requests] = [false, 0, 0, 0];
    const { sent, warnings } = await queued(
      store,
      async () => {
        open += 1;
        if (++requests > 8) most = Math.max(most, open);
        await new Promise((resolve) => setTimeout(resolve, 5));
        open -= 1;
        return isUp ? 200 : "reset";
      },
      { delays: Array.from({ length: 10 }, () => 100) },
    );
    await expect.poll(() => sent.length, { timeout: 5_000 }).toBeGreaterThan(11);
    expect(most).toBeLessThanOrEqual(1);
    expect(warnings).toEqual([expect.stringContaining("does not answer; next try in")]);
    isUp = true;
    await expect.poll(() => store.backlog(), { timeout: 10_000 }).toMatchObject({ events: 0, failed: 0 });
    // Only what was sent to it while it was down has had an attempt.
    expect(sent.length).toBeLessThan(50 + 40);
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
    await expect.poll(() => times.length, { timeout: 5_000 }).toBe(3);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it("of a target that is up are not delayed by another one that hangs", async () => {
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
      send: async (request, _, target) => {
        sent.push(nameOf(request));
        return target?.href === other.href ? OK : new Promise<never>(() => undefined);
      },
    });
    await expect.poll(() => sent.filter((name) => name.startsWith("up")).length, { timeout: 5_000 }).toBe(20);
    expect(sent.filter((name) => name.startsWith("down")).length).toBeLessThanOrEqual(8);
  });

  it("that are damaged are set aside, and said to be", async () => {
    const store = await storeWith("a", "b");
    const damaged: Queued["queue"] = {
      ...store,
      claim: async (wanted) =>
        (await store.claim(wanted)).map((one) =>
          one.id === "a" ? { ...one, event: { damage: "it has no valid head" } } : one,
        ),
    };
    const { sent, warnings } = await queued(store, () => 200, { queue: damaged });
    await expect.poll(() => sent).toEqual(["b"]);
    await expect.poll(() => store.backlog()).toMatchObject({ events: 0, failed: 1 });
    expect(warnings).toEqual([
      expect.stringContaining("The stored event a is damaged (it has no valid head)"),
    ]);
  });

  it("are finished when it is closed, and given back to others where no attempt has begun", async () => {
    const path = eventsPath(temporaryHome());
    const [store, other] = [openSqlite(path), openSqlite(path)];
    for (let index = 0; index < 20; index++) await store.append(event(idOf(String(index))), 0);
    let hold = (): void => undefined;
    const held = new Promise<number>((resolve) => (hold = () => resolve(200)));
    const { sent, forwarder } = await queued(store, () => held, { concurrency: 4 });
    await expect.poll(() => sent.length).toBe(4);
    const closed = forwarder.close();
    hold();
    await closed;
    expect(sent).toHaveLength(4);
    const left = await other.claim({ limit: 20, outcomes: ["APPROVED"], lease: 1_000 });
    expect(left).toHaveLength(16);
    expect(left.map(({ made }) => made)).toEqual(Array.from({ length: 16 }, () => 0));
  });

  it("are not attempted again because the end of an attempt could not be written", async () => {
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
    await expect.poll(() => store.backlog(), { timeout: 10_000 }).toMatchObject({ events: 0 });
    expect(sent).toEqual(["a"]);
    expect(warnings).toEqual(["Acknowledged webhooks wait to be forwarded: the disk is full"]);
  });
});

/** Lehmer's generator, so that a failure can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

describe("two receivers, of which some are killed, deliver everything", () => {
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
        accepted.set(nameOf(request), (accepted.get(nameOf(request)) ?? 0) + 1);
        return OK;
      };
      /** A receiver that can be killed: from then on it neither claims, records nor learns an answer. */
      const start = () => {
        let isDead = false;
        const own = open(place);
        const alive =
          <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
          async (...args: Args): Promise<T> => {
            const forever = new Promise<never>(() => undefined);
            if (isDead) return forever;
            const result = await work(...args);
            return isDead ? forever : result;
          };
        const { forwarder } = forwarderOf(own, send, {
          queued: {
            queue: { claim: alive(own.claim), release: alive(own.release) },
            delays: Array.from({ length: 100 }, () => 10),
            concurrency,
          },
          log: { ended: alive(own.ended) },
          send: alive((request: Parameters<Send>[0]) => send(request)),
          timeout: 500,
          margin: 1_000,
        });
        forwarder.start();
        return () => void (isDead = true);
      };
      const running = [start(), start()];
      for (let kill = 1; kill <= kills; kill++) {
        await expect.poll(() => requests, { timeout: 10_000 }).toBeGreaterThan(kill * 30);
        running[kill % 2]?.();
        running[kill % 2] = start();
      }
      await expect.poll(() => store.backlog(), { timeout: 20_000 }).toMatchObject({ events: 0, failed: 0 });
      expect(accepted.size).toBe(events);
      // Only what was under way at a kill goes out again.
      const again = [...accepted.values()].reduce((sum, times) => sum + times - 1, 0);
      expect(again).toBeLessThanOrEqual(kills * concurrency);
    },
    60_000,
  );
});
