/** The event store: durable before it resolves, each event once, read back byte for byte, within its limits. */
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  eventJson,
  firstDelivery,
  type EventLog,
  type NewEvent,
  type Rejection,
} from "../../src/receiver/events.ts";
import { readContent } from "../../src/receiver/content.ts";
import type { EventStore } from "../../src/receiver/event-store.ts";
import { openDatabase, type Database } from "../../src/store/database.ts";
import { createEventLog } from "../../src/store/events/event-log.ts";
import { EVENT_MIGRATIONS } from "../../src/store/events/event-schema.ts";
import { createEventWriter } from "../../src/store/events/event-writer.ts";
import { openEventStore } from "../../src/store/events/sqlite-event-store.ts";
import { createWriterThread } from "../../src/store/events/writer-thread.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { createGroupCommit } from "../../src/store/group-commit.ts";
import { verify } from "../../src/signatures/verify.ts";
import { temporaryHome } from "../support/home.ts";
import { vectorFile, webhookOptions, webhookRequest, type WebhookCase } from "../support/vectors.ts";

const { vectors } = vectorFile<{ vectors: WebhookCase[] }>("webhook-positive");
const vector = vectors[0] as WebhookCase;
const genuine = webhookRequest(vector);
const verdict = verify(genuine, webhookOptions(vector));
const AT = new Date("2026-11-21T10:00:00.123Z");

/** An event whose uti and bytes differ from those of every other id. */
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

function open(path = eventsPath(temporaryHome()), warnings: string[] = []): EventStore {
  const store = openEventStore(path, {
    thread: THREAD,
    owner: crypto.randomUUID(),
    warn: (text) => void warnings.push(text),
  });
  onTestFinished(() => store.close());
  return store;
}

async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of found) list.push(one);
  return list;
}

const idsOf = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id);
const ids = async (found: AsyncIterable<{ readonly id: string }>): Promise<string[]> =>
  idsOf(await all(found));

describe("the event store", () => {
  it("returns the same bytes, header lines, verdict and time", async () => {
    const store = open();
    await store.append({ ...event("a"), request: { ...genuine, trailers: [["X", "y"]] } });
    const [stored] = await all(store.events());
    expect(stored).toMatchObject({ id: "a", receivedAt: AT, verdict, repeats: 0, accepted: false });
    expect(stored?.request).toEqual({
      ...genuine,
      trailers: [["X", "y"]],
      body: new Uint8Array(genuine.body),
    });
  });

  it("stores a record once, however often and beside whichever others it is delivered", async () => {
    const store = open();
    const again = { ...event("c"), request: event("a").request, record: event("a").record };
    const results = await Promise.all([event("a"), event("b"), again].map((one) => store.append(one)));
    expect(results).toEqual([
      firstDelivery("a"),
      firstDelivery("b"),
      { ...firstDelivery("a"), repeated: true },
    ]);
    expect(await ids(store.events())).toEqual(["a", "b"]);
    expect(await store.arrivals("a")).toEqual([{ id: "c", receivedAt: AT }]);
    expect((await all(store.events())).map(({ repeats }) => repeats)).toEqual([1, 0]);
  });

  it("stores the same uti with another body as another event", async () => {
    const store = open();
    await store.append(event("a", { uti: "same" }));
    const other = await store.append(event("b", { uti: "same", amountTrans: 9 }));
    expect(other.repeated).toBe(false);
    expect(idsOf(await store.find("same"))).toEqual(["b", "a"]);
  });

  it("knows which events the application has accepted and which it has refused", async () => {
    const store = open();
    const again = async (id: string): Promise<boolean> =>
      (await store.append({ ...event("a"), id })).accepted;
    await store.append(event("a"));
    await store.forwarded("a", forward(500));
    expect(await again("b")).toBe(false);
    await store.forwarded("a", forward(204));
    expect(await again("c")).toBe(true);
    expect((await store.forwards("a")).map(({ status }) => status)).toEqual([500, 204]);
  });

  it("finds by the beginning of a uti or an id, and takes wildcards literally", async () => {
    const store = open();
    for (const id of ["a1", "a2", "b1"]) await store.append(event(id));
    expect(idsOf(await store.find("uti-a"))).toEqual(["a2", "a1"]);
    expect(idsOf(await store.find("b"))).toEqual(["b1"]);
    expect(await store.find("uti-%")).toEqual([]);
  });

  it("filters by outcome, reference, time and count, in order of arrival", async () => {
    const store = open();
    const later = new Date(AT.getTime() + 60_000);
    await store.append(event("a"));
    await store.append(event("b", { transApproved: false, reference: "INV-2-ABCDEFGHI" }));
    await store.append(event("c", {}, later));
    expect(await ids(store.events({ outcome: "DECLINED" }))).toEqual(["b"]);
    expect(await ids(store.events({ reference: "INV-1" }))).toEqual(["a", "c"]);
    expect(await ids(store.events({ since: later }))).toEqual(["c"]);
    expect(await ids(store.events({ until: later }))).toEqual(["a", "b"]);
    expect(await ids(store.events({ limit: 2 }))).toEqual(["b", "c"]);
  });

  it("reads more than one page while others write and prune", async () => {
    const path = eventsPath(temporaryHome());
    const store = open(path);
    const names = Array.from({ length: 350 }, (_, index) => String(index).padStart(3, "0"));
    const after = (milliseconds: number): Date => new Date(AT.getTime() + milliseconds);
    for (const name of names) void store.append(event(name, {}, after(Number(name))));
    await store.append(event("350", { transApproved: false }, after(350)));
    const seen: string[] = [];
    for await (const { id } of store.events({ outcome: "APPROVED" })) {
      // On Node 20, garbage collection must not close the database while it is read.
      await new Promise((resolve) => setImmediate(resolve));
      if (seen.push(id) === 50) {
        await store.append(event("351", {}, after(351)));
        await open(path).prune(after(250));
      }
    }
    // The first page was in memory by then.
    expect(seen).toEqual([...names.slice(0, 100), ...names.slice(250)]);
    expect(await ids(store.events({ outcome: "APPROVED", limit: 100 }))).toEqual([
      ...names.slice(251),
      "351",
    ]);
    expect(await ids(store.events({ limit: 1000 }))).toHaveLength(102);
  });

  it("stores the newest rejections, limited by count and by size", async () => {
    const home = temporaryHome();
    const store = open(join(home, "events.db"));
    for (let round = 0; round < 6; round++) {
      for (let index = 0; index < 250; index++) void store.reject(rejection(`${round}-${index}`));
      await store.append(event(String(round)));
    }
    expect(await ids(store.rejections())).toHaveLength(1000);
    expect((await ids(store.rejections())).at(-1)).toBe("5-249");
    expect(await store.find("5-249")).toMatchObject([
      { type: "rejected", request: { body: new Uint8Array(10).fill(1) } },
    ]);
    for (let index = 0; index < 5; index++) void store.reject(rejection(`big-${index}`, 8 * 1024 * 1024));
    await store.append(event("last"));
    expect(await ids(store.rejections())).toEqual(["big-1", "big-2", "big-3", "big-4"]);
  });

  it("filters rejections by time and count", async () => {
    const store = open();
    const later = new Date(AT.getTime() + 60_000);
    for (const one of [rejection("a"), rejection("b"), { ...rejection("c"), receivedAt: later }])
      void store.reject(one);
    await store.append(event("event"));
    expect(await ids(store.rejections())).toEqual(["a", "b", "c"]);
    expect(await ids(store.rejections({ since: later }))).toEqual(["c"]);
    expect(await ids(store.rejections({ until: later, limit: 1 }))).toEqual(["b"]);
  });

  it("prunes events with their arrivals and forwards", async () => {
    const store = open();
    const later = new Date(AT.getTime() + 1);
    await store.append(event("a"));
    await store.append({ ...event("a"), id: "a2" });
    await store.forwarded("a", forward(200));
    await store.append(event("b", {}, later));
    void store.reject(rejection("r"));
    await store.append(event("c", {}, later));
    expect(await store.prune(later)).toEqual({ events: 1, rejections: 1 });
    expect(await ids(store.events())).toEqual(["b", "c"]);
    expect([await store.arrivals("a"), await store.forwards("a")]).toEqual([[], []]);
  });

  it("stores each event once when several stores write to one file", async () => {
    const path = eventsPath(temporaryHome());
    const stores = [open(path), open(path)] as const;
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? stores[0] : stores[1]).append({
          ...event(`same-${index >> 1}`),
          id: `id-${index}`,
        }),
      ),
    );
    expect(results.filter(({ repeated }) => !repeated)).toHaveLength(25);
    expect(await ids(open(path).events())).toHaveLength(25);
  });

  it("writes what is queued before it closes", async () => {
    const path = eventsPath(temporaryHome());
    const store = open(path);
    const appended = store.append(event("a"));
    await store.close();
    await store.close();
    expect(await appended).toMatchObject({ repeated: false });
    expect(await ids(open(path).events())).toEqual(["a"]);
  });

  it("reports why it cannot be opened", async () => {
    const store = open(temporaryHome());
    await expect(store.ready()).rejects.toThrow(/cannot be opened/);
    await expect(store.find("a")).rejects.toMatchObject({ code: "file_unreadable" });
  });
});

describe("the writing thread", () => {
  it("rejects a group when it ends, and is replaced by another", async () => {
    const home = temporaryHome();
    const missing = join(home, "folder");
    const thread = createWriterThread(THREAD, join(missing, "events.db"), () => undefined);
    writeFileSync(missing, "no folder");
    await expect(thread.write([])).rejects.toThrow(/EEXIST|ENOTDIR|not a directory/);
    rmSync(missing);
    expect(await thread.write([])).toEqual([]);
    await thread.close();
  });
});

describe("a disk that fails", () => {
  const openLog = (sql: string): { database: Database; log: EventLog } => {
    const database = openDatabase(join(temporaryHome(), "events.db"), EVENT_MIGRATIONS);
    const write = createEventWriter(database);
    const group = createGroupCommit(async (writes: Parameters<typeof write>[0]) => write(writes));
    onTestFinished(() => group.settled());
    database.exec(sql);
    return { database, log: createEventLog(group, "own") };
  };

  it("rejects the events that cannot be stored and stores the others", async () => {
    const { database: full, log } = openLog("PRAGMA max_page_count=60");
    const big = event("big", { filler: "x".repeat(300_000) });
    const [small, refused, other] = await Promise.allSettled(
      [event("a"), big, event("b")].map((one) => log.append(one)),
    );
    expect(refused).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("full") },
    });
    expect([small?.status, other?.status]).toEqual(["fulfilled", "fulfilled"]);
    full.exec("PRAGMA max_page_count=100000");
    expect(await log.append(big)).toMatchObject({ repeated: false });
  });

  it("stores an event's writes all or not at all", async () => {
    const { database, log } = openLog(
      `CREATE TRIGGER refuse BEFORE INSERT ON arrivals WHEN NEW.id = 'repeat'
       BEGIN SELECT RAISE(ABORT, 'no arrival'); END;
       CREATE TRIGGER log AFTER INSERT ON events BEGIN INSERT INTO arrivals VALUES (NEW.id, NEW.uti, 0); END;
       CREATE TRIGGER refuse_log BEFORE INSERT ON arrivals WHEN NEW.id = 'uti-b'
       BEGIN SELECT RAISE(ABORT, 'no log'); END`,
    );
    const results = await Promise.allSettled([
      log.append(event("a")),
      log.append(event("b")),
      log.append({ ...event("a"), id: "repeat" }),
      log.forwarded("a", forward(200)),
      log.append(event("c")),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    const column = (sql: string): unknown[] =>
      database
        .prepare(sql)
        .all()
        .map(({ id }) => id);
    expect(column("SELECT id FROM events ORDER BY seq")).toEqual(["a", "c"]);
    expect(column("SELECT id FROM arrivals ORDER BY rowid")).toEqual(["uti-a", "uti-c"]);
    expect(column("SELECT event AS id FROM forwards")).toEqual(["a"]);
  });

  it("waits once, not once for each event, while another process holds the lock", async () => {
    const { database, log } = openLog("PRAGMA busy_timeout=200");
    const [{ file = "" } = {}] = database.prepare("PRAGMA database_list").all();
    const other = openDatabase(String(file), EVENT_MIGRATIONS);
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    const begins = vi.spyOn(database, "exec");
    const refused = await Promise.allSettled(["a", "b", "c"].map((id) => log.append(event(id))));
    expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(begins.mock.calls.filter(([sql]) => sql === "BEGIN IMMEDIATE")).toHaveLength(1);
    other.exec("ROLLBACK");
    expect(await log.append(event("a"))).toMatchObject({ repeated: false });
  });

  it("rejects events only while the file is read-only", async () => {
    const { database: readOnly, log } = openLog("PRAGMA query_only=ON");
    const writes = await Promise.allSettled([log.reject(rejection("r")), log.append(event("a"))]);
    expect(writes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    readOnly.exec("PRAGMA query_only=OFF");
    expect(await log.append(event("a"))).toMatchObject({ repeated: false });
  });
});
