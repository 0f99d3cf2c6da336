/** The event store in SQLite: its size, the thread that writes, and disks that fail. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { DATABASE_FILES, type Database, driver } from "../../src/store/sqlite/connection.ts";
import { SQLITE } from "../../src/store/dialects.ts";
import {
  createSqliteWriter,
  openEventDatabase,
  statementsOf,
  transactionsOf,
} from "../../src/store/sqlite/event-file.ts";
import { sql } from "../../src/store/sql.ts";
import { createGroupWriter } from "../../src/store/write-group.ts";
import { UNITS } from "../../src/values/time.ts";
import { type EventStore, createEventStore } from "../../src/store/event-store.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { createWriterThread } from "../../src/store/sqlite/file-store.ts";
import { THREAD, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { event, forward, ids, rejection } from "../support/stored-events.ts";

describe("an event store in a file", () => {
  it("stores nothing after it was moved, until another store is opened", async () => {
    const path = eventsPath(temporaryHome());
    const store = openSqlite(path);
    await store.append(event("a"));
    for (const ending of DATABASE_FILES) renameSync(path + ending, `${path}.moved${ending}`);
    const words = "was removed, renamed, replaced or emptied: restart listen";
    await expect(store.append(event("b"))).rejects.toThrow(words);
    await expect(store.ready()).rejects.toThrow(words);
    await expect(store.append(event("b"))).rejects.toThrow(words);
    expect(await openSqlite(path).append(event("b"))).toMatchObject({ repeated: false });
  });

  it("keeps the delays of a clock that was set where the first commit after that fails", async () => {
    const path = eventsPath(temporaryHome());
    await openSqlite(path).append(event("a"), 0);
    const database = openEventDatabase(path);
    onTestFinished(() => database.close());
    const ahead = Date.now() + 3 * UNITS.d;
    database.exec(`UPDATE deliveries SET set_at = ${ahead}, due = ${ahead + UNITS.m}`);
    const transact = transactionsOf(database);
    let isFull = true;
    const write = createGroupWriter({
      transact: (work) =>
        transact(async (session) => {
          const result = await work(session);
          if (isFull) throw new Error("the disk is full");
          return result;
        }),
      isOfOne: () => false,
    });
    expect(await write([{ type: "backlog" }])).toMatchObject([{ status: "rejected" }]);
    isFull = false;
    expect(await write([{ type: "backlog" }])).toMatchObject([{ status: "fulfilled" }]);
    const [delivery] = await statementsOf(database)(sql`SELECT due FROM deliveries`);
    expect(delivery?.["due"]).toBeLessThan(ahead);
  });

  it("keeps at most 2 MiB of junk rejections waiting, half of the room", async () => {
    const store = openSqlite(eventsPath(temporaryHome()));
    const large = Array.from({ length: 100 }, (_, index) =>
      store.reject(rejection(String(index), 64 * 1024)),
    );
    const results = await Promise.allSettled(large);
    const stored = results.filter(({ status }) => status === "fulfilled").length;
    expect(stored).toBeGreaterThan(25);
    expect(stored).toBeLessThan(33);
    await store.reject(rejection("later"));
  });

  it("needs at most 3 KB for an event of usual size, with its key, its seal and what it is found by", async () => {
    const path = eventsPath(temporaryHome());
    const store = openSqlite(path);
    // In no order, as those of a service, and the same in each run: how full the pages are depends on them.
    const utiOf = (number: number): string => hash("sha256", String(number)).slice(0, 36);
    const events = Array.from({ length: 2000 }, (_, number) =>
      event(`0000mf8k-${number}`, { uti: utiOf(number), filler: "x".repeat(900) }),
    );
    const { request } = event("a", { uti: utiOf(0), filler: "x".repeat(900) });
    expect(JSON.stringify(request.headers).length + request.body.length).toBeGreaterThan(1600);
    await Promise.all(events.map((one) => store.append(one)));
    await store.close();
    const files = DATABASE_FILES.map(
      (suffix) => statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0,
    );
    expect(files.reduce((sum, size) => sum + size) / events.length).toBeLessThan(3000);
  });

  it("is read as empty while another program creates it, and is not called damaged", async () => {
    const path = join(temporaryHome(), "events.db");
    const created = new (driver().DatabaseSync)(path);
    onTestFinished(() => created.close());
    created.exec("PRAGMA journal_mode=WAL");
    expect(statSync(path).size).toBeGreaterThan(0);
    const store = openSqlite(path);
    expect(await ids(store.events())).toEqual([]);
    await openSqlite(path).append(event("a"));
    expect(await ids(store.events())).toEqual(["a"]);
  });

  it.runIf(existsSync("/proc/self/fd"))("keeps no file open once it is closed", async () => {
    const path = join(temporaryHome(), "events.db");
    const store = openSqlite(path);
    await store.append(event("a"));
    const isOpen = (): boolean =>
      readdirSync("/proc/self/fd").some((one) => {
        const link = `/proc/self/fd/${one}`;
        return existsSync(link) && readlinkSync(link).startsWith(path);
      });
    expect(await ids(store.events())).toEqual(["a"]);
    expect(isOpen()).toBe(true);
    await store.close();
    // A driver that finalizes no statements leaves this to the collector.
    setFlagsFromString("--expose-gc");
    const collect: unknown = runInNewContext("gc");
    await vi.waitFor(() => {
      if (typeof collect === "function") collect();
      expect(isOpen()).toBe(false);
    });
    expect(await ids(openSqlite(path).events())).toEqual(["a"]);
  });

  it("shows a long reader what programs stored that began and ended between two looks", async () => {
    const path = join(temporaryHome(), "events.db");
    const add = async (...added: string[]): Promise<void> => {
      const writer = openSqlite(path);
      for (const id of added) await writer.append(event(id));
      await writer.close();
    };
    await add("a");
    const reader = openSqlite(path);
    expect(await ids(reader.events())).toEqual(["a"]);
    await add("b");
    expect(await ids(reader.events())).toEqual(["a", "b"]);
    await add("c", "d");
    expect(await ids(reader.events())).toEqual(["a", "b", "c", "d"]);
  });

  it("reports why it cannot be opened", async () => {
    const store = openSqlite(temporaryHome());
    await expect(store.ready()).rejects.toThrow(/cannot be opened/);
    await expect(store.find("a")).rejects.toMatchObject({ code: "file_unreadable" });
  });
});

describe("the writing thread", () => {
  it("rejects its group when it ends, and is replaced by another thread", async () => {
    const home = temporaryHome();
    const missing = join(home, "folder");
    const thread = createWriterThread(THREAD, join(missing, "events.db"));
    writeFileSync(missing, "no folder");
    await expect(thread.write([])).rejects.toThrow("cannot be written: something else has this name");
    rmSync(missing);
    await thread.write([]);
    await thread.close();
  });
});

describe("a disk that fails", () => {
  const openLog = (sql: string): { database: Database; log: EventStore } => {
    const database = openEventDatabase(join(temporaryHome(), "events.db"));
    const store = createEventStore(
      {
        dialect: SQLITE,
        place: "events.db",
        all: statementsOf(database),
        write: createSqliteWriter(database),
        ready: async () => undefined,
        hurry: () => undefined,
        close: async () => database.close(),
      },
      "tester",
    );
    onTestFinished(() => store.close());
    database.exec(sql);
    return { database, log: store };
  };

  it("rejects the events that cannot be stored and stores the others", async () => {
    const { database: full, log } = openLog("PRAGMA max_page_count=80");
    const big = event("big", { filler: "x".repeat(600_000) });
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

  it("stores all of an event's writes or none", async () => {
    const { database, log } = openLog(
      `CREATE TRIGGER refuse BEFORE INSERT ON arrivals WHEN NEW.id = 'repeat'
       BEGIN SELECT RAISE(ABORT, 'no arrival'); END;
       CREATE TRIGGER log AFTER INSERT ON events BEGIN INSERT INTO arrivals (event, id, received_at) VALUES (NEW.id, NEW.uti, 0); END;
       CREATE TRIGGER refuse_log BEFORE INSERT ON arrivals WHEN NEW.id = 'uti-b'
       BEGIN SELECT RAISE(ABORT, 'no log'); END`,
    );
    const results = await Promise.allSettled([
      log.append(event("a")),
      log.append(event("b")),
      log.append({ ...event("a"), id: "repeat" }),
      log.replayed("a", forward(200), false),
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
    expect(column("SELECT id FROM arrivals ORDER BY seq")).toEqual(["uti-a", "uti-c"]);
    expect(column("SELECT event AS id FROM attempts")).toEqual(["a"]);
  });

  it("waits once, not once for each event, while another process holds the lock", async () => {
    const { database, log } = openLog("PRAGMA busy_timeout=200");
    const [{ file = "" } = {}] = database.prepare("PRAGMA database_list").all();
    const other = openEventDatabase(String(file));
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    const begins = vi.spyOn(database, "exec");
    const refused = await Promise.allSettled(["a", "b", "c"].map((id) => log.append(event(id))));
    expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(begins.mock.calls.filter(([sql]) => sql === "BEGIN IMMEDIATE")).toHaveLength(1);
    other.exec("ROLLBACK");
    expect(await log.append(event("a"))).toMatchObject({ repeated: false });
  });
});
