/** The event store: kept before it is acknowledged, each event once, read back byte for byte, bounded where it must be. */
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { eventJson, type NewEvent, type Rejection } from "../../src/receiver/events.ts";
import { readContent } from "../../src/receiver/content.ts";
import { openDatabase, type Database } from "../../src/store/database.ts";
import { createBatchWriter } from "../../src/store/events/event-batch.ts";
import { EVENT_MIGRATIONS } from "../../src/store/events/event-schema.ts";
import { createEventWriter, type EventWriter } from "../../src/store/events/event-writes.ts";
import { eventsPath, openEventStore, type EventStore } from "../../src/store/events/sqlite-event-store.ts";
import { createWriterThread } from "../../src/store/events/writer-thread.ts";
import { verify } from "../../src/signatures/verify.ts";
import { temporaryHome } from "../support/home.ts";
import { vectorFile, webhookOptions, webhookRequest, type WebhookCase } from "../support/vectors.ts";

const { vectors } = vectorFile<{ vectors: WebhookCase[] }>("webhook-positive");
const vector = vectors[0] as WebhookCase;
const genuine = webhookRequest(vector);
const verdict = verify(genuine, webhookOptions(vector));
const AT = new Date("2026-11-21T10:00:00.123Z");

/** An event of its own: the uti and the bytes are unlike any other's. */
function event(id: string, record: Record<string, unknown> = {}, receivedAt = AT): NewEvent {
  const body = Buffer.from(
    JSON.stringify({
      uti: `uti-${id}`,
      transApproved: true,
      transCancelled: false,
      reference: "INV-1",
      ...record,
    }),
  );
  const request = { ...genuine, body };
  const json = eventJson(verdict, request);
  return { type: "event", id, receivedAt, verdict, request, json, ...readContent(request, 1e6) };
}

const rejection = (id: string, size = 10): Rejection => ({
  type: "rejected",
  id,
  receivedAt: AT,
  code: "signature_invalid",
  status: 401,
  detail: "no",
  checks: [{ check: "signature-value", ok: false, detail: "no" }],
  request: { ...genuine, body: Buffer.alloc(size, 1) },
});

const forward = (status: number) => ({
  at: AT,
  target: "http://127.0.0.1:3000/",
  status,
  ms: 12,
  detail: "",
});

const THREAD = resolve(import.meta.dirname, "../../dist/event-thread.js");

function opener(thread?: string): (path?: string) => EventStore {
  return (path = eventsPath(temporaryHome())) => {
    const store = openEventStore(path, thread);
    onTestFinished(() => store.close());
    return store;
  };
}

const ids = (found: Iterable<{ readonly id: string }>): string[] => [...found].map(({ id }) => id);

describe.each([
  ["the event store", opener()],
  ["the event store with a thread of its own", opener(THREAD)],
])("%s", (_, open) => {
  it("gives back the very bytes, lines, verdict and moment", async () => {
    const store = open();
    await store.append({ ...event("a"), request: { ...genuine, trailers: [["X", "y"]] } });
    const [kept] = [...store.events()];
    expect(kept).toMatchObject({ id: "a", receivedAt: AT, verdict, repeats: 0, taken: false });
    expect(kept?.request).toEqual({
      ...genuine,
      trailers: [["X", "y"]],
      body: new Uint8Array(genuine.body),
    });
  });

  it("keeps a record once, however often and in whatever company it comes", async () => {
    const store = open();
    const again = { ...event("c"), request: event("a").request, record: event("a").record };
    const kept = await Promise.all([event("a"), event("b"), again].map((one) => store.append(one)));
    expect(kept).toEqual([
      { repeated: false, first: "a", taken: false },
      { repeated: false, first: "b", taken: false },
      { repeated: true, first: "a", taken: false },
    ]);
    expect(ids(store.events())).toEqual(["a", "b"]);
    expect(store.arrivals("a")).toEqual([{ id: "c", receivedAt: AT }]);
    expect([...store.events()].map(({ repeats }) => repeats)).toEqual([1, 0]);
  });

  it("takes the same uti with another body for another event", async () => {
    const store = open();
    await store.append(event("a", { uti: "same" }));
    const other = await store.append(event("b", { uti: "same", amountTrans: 9 }));
    expect(other.repeated).toBe(false);
    expect(ids(store.find("same"))).toEqual(["b", "a"]);
  });

  it("knows what the application has taken, and what it refused", async () => {
    const store = open();
    const again = async (id: string): Promise<boolean> => (await store.append({ ...event("a"), id })).taken;
    await store.append(event("a"));
    await store.forwarded("a", forward(500));
    expect(await again("b")).toBe(false);
    await store.forwarded("a", forward(204));
    expect(await again("c")).toBe(true);
    expect(store.forwards("a").map(({ status }) => status)).toEqual([500, 204]);
  });

  it("finds by the beginning of a uti or of an id, with wildcards meaning nothing", async () => {
    const store = open();
    for (const id of ["a1", "a2", "b1"]) await store.append(event(id));
    expect(ids(store.find("uti-a"))).toEqual(["a2", "a1"]);
    expect(ids(store.find("b"))).toEqual(["b1"]);
    expect(store.find("uti-%")).toEqual([]);
  });

  it("lists by outcome, reference and time, the newest so many in order of arrival", async () => {
    const store = open();
    const later = new Date(AT.getTime() + 60_000);
    await store.append(event("a"));
    await store.append(event("b", { transApproved: false, reference: "INV-2-ABCDEFGHI" }));
    await store.append(event("c", {}, later));
    expect(ids(store.events({ outcome: "DECLINED" }))).toEqual(["b"]);
    expect(ids(store.events({ reference: "INV-1" }))).toEqual(["a", "c"]);
    expect(ids(store.events({ since: later }))).toEqual(["c"]);
    expect(ids(store.events({ until: later }))).toEqual(["a", "b"]);
    expect(ids(store.events({ limit: 2 }))).toEqual(["b", "c"]);
  });

  it("gives more than it holds in memory, though others write and forget meanwhile", async () => {
    const path = eventsPath(temporaryHome());
    const store = open(path);
    const names = Array.from({ length: 350 }, (_, index) => String(index).padStart(3, "0"));
    const after = (milliseconds: number): Date => new Date(AT.getTime() + milliseconds);
    for (const name of names) void store.append(event(name, {}, after(Number(name))));
    await store.append(event("350", { transApproved: false }, after(350)));
    const seen: string[] = [];
    for (const { id } of store.events({ outcome: "APPROVED" })) {
      // Time for the garbage collector too: what is read from must last as long as the reading.
      await new Promise((resolve) => setImmediate(resolve));
      if (seen.push(id) === 50) {
        await store.append(event("351", {}, after(351)));
        open(path).prune(after(250));
      }
    }
    // The first page was in memory by then.
    expect(seen).toEqual([...names.slice(0, 100), ...names.slice(250)]);
    expect(ids(store.events({ outcome: "APPROVED", limit: 100 }))).toEqual([...names.slice(251), "351"]);
    expect(ids(store.events({ limit: 1000 }))).toHaveLength(102);
  });

  it("keeps rejections by number and by size, the newest of them", async () => {
    const home = temporaryHome();
    const store = open(join(home, "events.db"));
    for (let round = 0; round < 6; round++) {
      for (let index = 0; index < 250; index++) store.reject(rejection(`${round}-${index}`));
      await store.append(event(String(round)));
    }
    expect(ids(store.rejections())).toHaveLength(1000);
    expect(ids(store.rejections()).at(-1)).toBe("5-249");
    expect(store.find("5-249")).toMatchObject([
      { type: "rejected", request: { body: new Uint8Array(10).fill(1) } },
    ]);
    for (let index = 0; index < 5; index++) store.reject(rejection(`big-${index}`, 8 * 1024 * 1024));
    await store.append(event("last"));
    expect(ids(store.rejections())).toEqual(["big-1", "big-2", "big-3", "big-4"]);
  });

  it("forgets what is older than asked, with all that belongs to it", async () => {
    const store = open();
    const later = new Date(AT.getTime() + 1);
    await store.append(event("a"));
    await store.append({ ...event("a"), id: "a2" });
    await store.forwarded("a", forward(200));
    await store.append(event("b", {}, later));
    store.reject(rejection("r"));
    await store.append(event("c", {}, later));
    expect(store.prune(later)).toEqual({ events: 1, rejections: 1 });
    expect(ids(store.events())).toEqual(["b", "c"]);
    expect([store.arrivals("a"), store.forwards("a")]).toEqual([[], []]);
  });

  it("serves several processes' worth of connections, each event once", async () => {
    const path = eventsPath(temporaryHome());
    const stores = [open(path), open(path)] as const;
    const kept = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? stores[0] : stores[1]).append({
          ...event(`same-${index >> 1}`),
          id: `id-${index}`,
        }),
      ),
    );
    expect(kept.filter(({ repeated }) => !repeated)).toHaveLength(25);
    expect(ids(open(path).events())).toHaveLength(25);
  });

  it("writes what is left when it is closed", async () => {
    const path = eventsPath(temporaryHome());
    const store = open(path);
    const appended = store.append(event("a"));
    await store.close();
    await store.close();
    expect(await appended).toMatchObject({ repeated: false });
    expect(ids(open(path).events())).toEqual(["a"]);
  });

  it("says what is wrong where it cannot be opened", () => {
    const home = temporaryHome();
    expect(() => openEventStore(home)).toThrow(/Events cannot be kept in/);
  });
});

describe("the writing thread", () => {
  it("fails what it was given when it ends, and is followed by another", async () => {
    const home = temporaryHome();
    const missing = join(home, "folder");
    const thread = createWriterThread(THREAD, join(missing, "events.db"));
    writeFileSync(missing, "no folder");
    await expect(thread.write({ entries: [], rejections: [] })).rejects.toThrow(
      /EEXIST|ENOTDIR|not a directory/,
    );
    rmSync(missing);
    expect(await thread.write({ entries: [], rejections: [] })).toEqual([]);
    await thread.close();
  });
});

describe("a disk that takes no more", () => {
  const open = (pragma: string): { database: Database; writer: EventWriter } => {
    const path = join(temporaryHome(), "events.db");
    const database = openDatabase(path, EVENT_MIGRATIONS);
    const writer = createEventWriter(createBatchWriter(database));
    onTestFinished(() => writer.settled());
    database.exec(pragma);
    return { database, writer };
  };

  it("rejects what cannot be kept and goes on with what can", async () => {
    const { database: full, writer } = open("PRAGMA max_page_count=60");
    const big = event("big", { filler: "x".repeat(300_000) });
    const [small, refused, other] = await Promise.allSettled(
      [event("a"), big, event("b")].map((one) => writer.append(one)),
    );
    expect(refused).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("full") },
    });
    expect([small?.status, other?.status]).toEqual(["fulfilled", "fulfilled"]);
    full.exec("PRAGMA max_page_count=100000");
    expect(await writer.append(big)).toMatchObject({ repeated: false });
  });

  it("waits once, not for each, while another process holds the lock", async () => {
    const { database, writer } = open("PRAGMA busy_timeout=200");
    const [{ file = "" } = {}] = database.prepare("PRAGMA database_list").all();
    const other = openDatabase(String(file), EVENT_MIGRATIONS);
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    const begins = vi.spyOn(database, "exec");
    const refused = await Promise.allSettled(["a", "b", "c"].map((id) => writer.append(event(id))));
    expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(begins.mock.calls.filter(([sql]) => sql === "BEGIN IMMEDIATE")).toHaveLength(1);
    other.exec("ROLLBACK");
    expect(await writer.append(event("a"))).toMatchObject({ repeated: false });
  });

  it("rejects everything while the file is read-only, and nothing afterwards", async () => {
    const { database: readOnly, writer } = open("PRAGMA query_only=ON");
    writer.reject(rejection("r"));
    await expect(writer.append(event("a"))).rejects.toThrow("readonly");
    readOnly.exec("PRAGMA query_only=OFF");
    expect(await writer.append(event("a"))).toMatchObject({ repeated: false });
  });
});
