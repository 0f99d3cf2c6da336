/** Two forwarders on one store, at an application that fails and hangs at random, while forwarders are killed. */
import { describe, expect, it, onTestFinished } from "vitest";
import { SendError, SendTimeout, type Send } from "../../src/http/exchange.ts";
import type { EventStore, ForwardQueue } from "../../src/receiver/event-store.ts";
import { createQueueForwarder } from "../../src/receiver/queue-forwarder.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { event } from "../support/stored-events.ts";

const APP = new URL("http://127.0.0.1:3000/hook");
const REFERENCES = 30;
const EACH = 4;
const KILLS = 3;
/** Requests before each kill. */
const LIFE = 40;
const forever = new Promise<never>(() => undefined);
const sleep = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** Lehmer's generator, so that a failure can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** Notes the order of the first requests of each reference, and how often it accepted each event. */
function createApplication(random: () => number) {
  const firsts = new Map<string, string[]>();
  const accepted = new Map<string, number>();
  let requests = 0;
  const send: Send = async ({ body }) => {
    const { uti, reference } = JSON.parse(Buffer.from(body).toString()) as { uti: string; reference: string };
    requests += 1;
    const seen = firsts.get(reference) ?? [];
    if (!seen.includes(uti)) firsts.set(reference, [...seen, uti]);
    const fate = random();
    await sleep(5 * random());
    if (fate < 0.1) throw new SendError("reset", true);
    if (fate < 0.15) {
      await sleep(100);
      throw new SendTimeout("no answer within 100 ms", true);
    }
    const status = fate < 0.3 ? 500 : 200;
    if (status === 200) accepted.set(uti, (accepted.get(uti) ?? 0) + 1);
    return { status, headers: [], body: new Uint8Array() };
  };
  return { send, firsts, accepted, requests: () => requests };
}

/** A forwarder that can be killed: from then on it neither claims, records nor learns an answer. */
function startForwarder({ queue }: EventStore, send: Send) {
  let isDead = false;
  const alive = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isDead) return forever;
    const result = await work();
    return isDead ? forever : result;
  };
  const mortal: ForwardQueue = {
    claim: (wanted) => alive(() => queue.claim(wanted)),
    attempted: (...made) => alive(() => queue.attempted(...made)),
    backlog: () => queue.backlog(),
  };
  const forwarder = createQueueForwarder({
    now: () => new Date(),
    pause: (milliseconds, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
        if (signal.aborted) resolve();
      }),
    send: (request, options) => alive(() => send(request, options)),
    headers: [],
    insecure: false,
    concurrency: 8,
    timeout: 8_000,
    queue: mortal,
    forwards: () => true,
    routes: [{ outcome: undefined, url: APP }],
    delays: Array.from({ length: 100 }, () => 10),
    observe: () => undefined,
    warn: () => undefined,
    claim: 1_500,
  });
  forwarder.start();
  return { kill: () => void (isDead = true), close: async () => (isDead ? undefined : forwarder.close()) };
}

/** Resolves with the most deliveries of one event that were accepted. */
async function deliverEverything(open: () => EventStore): Promise<number> {
  const store = open();
  const expected = new Map<string, string[]>();
  for (let nth = 0; nth < EACH; nth++)
    await Promise.all(
      Array.from({ length: REFERENCES }, (_, index) => {
        const id = `${index}-${nth}`;
        expected.set(`R${index}`, [...(expected.get(`R${index}`) ?? []), `uti-${id}`]);
        return store.append(event(id, { reference: `R${index}` }), "queue");
      }),
    );
  const { send, firsts, accepted, requests } = createApplication(createRandom(7));
  const start = () => startForwarder(open(), send);
  const running = [start(), start()];
  onTestFinished(async () => void (await Promise.all(running.map(({ close }) => close()))));
  for (let kill = 1; kill <= KILLS; kill++) {
    await expect.poll(requests).toBeGreaterThan(kill * LIFE);
    running[kill % 2]?.kill();
    running[kill % 2] = start();
  }
  await expect.poll(() => store.queue.backlog()).toMatchObject({ events: 0, failed: 0 });
  expect(firsts).toEqual(expected);
  expect(accepted.size).toBe(REFERENCES * EACH);
  // Only what was under way at a kill goes out again.
  const again = [...accepted.values()].reduce((sum, times) => sum + times - 1, 0);
  expect(again).toBeLessThanOrEqual(KILLS * 8);
  return Math.max(...accepted.values());
}

describe("two forwarders, of which some are killed, deliver everything in order", () => {
  it("on SQLite", async () => {
    const path = eventsPath(temporaryHome());
    expect(await deliverEverything(() => openSqlite(path))).toBeLessThanOrEqual(1 + KILLS);
  });

  const server = usePostgres();
  it("on PostgreSQL", async () => {
    const url = await server().createDatabase();
    expect(await deliverEverything(() => openPostgres(url))).toBeLessThanOrEqual(1 + KILLS);
  });
});
