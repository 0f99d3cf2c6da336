/** Stores of older and newer versions, with made-up steps: what they have survives an upgrade, a kill in the middle, and a full disk. */
import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { LEDGER_STEPS } from "../../src/sandbox/store/schema.ts";
import { POSTGRES, SQLITE } from "../../src/store/dialects.ts";
import { openPostgresEventStore, openPostgresMemory } from "../../src/store/postgres.ts";
import { serverSteps, schemaStepsOf } from "../../src/store/schema.ts";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { openEventStore } from "../../src/store/sqlite/file-store.ts";
import { openPostgres, openSqlite, THREAD } from "../support/event-stores.ts";
import { runCommand } from "../support/context.ts";
import { KEY_ENV } from "../support/keys.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { all, event, idOf, ids, wanted } from "../support/stored-events.ts";

const NAMES = ["1", "2", "3"];
const MANY = 100_000;
/** Copies of an event, without what makes them large. */
const copies = (schema: string, numbers: string) => `
  INSERT INTO ${schema}events (id, uti, received_at, outcome, reference, key, path, currency, amount, card, payment, verdict, head, digest, body, seal)
  SELECT 'copy' || n, uti, received_at, outcome, reference, key, path, currency, amount, card, payment, '', '', 'copy' || n, body, ''
  FROM ${numbers}, (SELECT * FROM ${schema}events LIMIT 1) AS one`;

/** A column of events that is filled, one of deliveries, and an index. */
const later = (schema: string) => [
  `ALTER TABLE ${schema}events ADD COLUMN channel TEXT; CREATE INDEX events_channel ON ${schema}events (channel)`,
  `UPDATE ${schema}events SET channel = path; ALTER TABLE ${schema}deliveries ADD COLUMN note TEXT`,
];

it("changes no step that was released: a change is a step of its own", () => {
  const digests = (steps: readonly string[]) => steps.map((step) => hash("sha256", step).slice(0, 12));
  expect({
    events: digests(schemaStepsOf("events", SQLITE)),
    sentRows: digests(schemaStepsOf("sentRows", SQLITE)),
    server: digests(serverSteps(POSTGRES)),
    ledger: digests(LEDGER_STEPS),
  }).toMatchInlineSnapshot(`
    {
      "events": [
        "07a6dcfbc0d5",
      ],
      "ledger": [
        "8cc34397696b",
      ],
      "sentRows": [
        "83c1776f346c",
      ],
      "server": [
        "5f49a81811d1",
      ],
    }
  `);
});

describe("a store in a file", () => {
  const STEPS = [...schemaStepsOf("events", SQLITE), ...later("")];
  const reader = (path: string, upgrade: boolean) => {
    const store = openEventStore(path, {
      thread: THREAD,
      user: "tester",
      create: false,
      upgrade,
      steps: STEPS,
    });
    onTestFinished(() => store.close());
    return store;
  };
  async function oldStore() {
    const path = join(temporaryHome(), "events.db");
    const store = openSqlite(path);
    for (const name of NAMES) await store.append(event(idOf(name)), 0);
    const database = openEventDatabase(path);
    database.exec(
      copies(
        "",
        `(WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${MANY}) SELECT n FROM n)`,
      ),
    );
    database.close();
    return { path, store };
  }
  /** Reading checks the seal of each event. */
  async function requireAll(path: string, names = NAMES): Promise<void> {
    const store = reader(path, true);
    for (const id of names.map((name) => idOf(name))) expect(await store.findOne(id)).toMatchObject({ id });
    expect(await store.count({}, 2 * MANY)).toBe(MANY + names.length);
    const database = openEventDatabase(path, STEPS);
    onTestFinished(() => database.close());
    expect(database.prepare("SELECT count(*) AS n FROM events WHERE channel = path").get()).toEqual({
      n: MANY + names.length,
    });
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  }

  it("is upgraded by what writes to it, with all that it has, and refused by what only reads", async () => {
    const { path, store } = await oldStore();
    await expect(all(reader(path, false).events())).rejects.toMatchObject({
      code: "file_unreadable",
      message: expect.stringContaining("it has schema 1, and this version reads 3"),
      hints: [[expect.stringContaining("start once: "), expect.anything()]],
    });
    await requireAll(path);
    // The older program is still running: it writes nothing any more, and a new one of its version refuses the store.
    await expect(store.append(event(idOf("9")), 0)).rejects.toThrow("upgraded by a newer paylink");
    await expect(store.claim(wanted())).rejects.toThrow("upgraded by a newer paylink");
    await expect(openSqlite(path).ready()).rejects.toThrow("it has schema 3, and this version knows 1");
    await requireAll(path);
  });

  it("loses nothing to a kill in the middle of a step, and to a full disk", async () => {
    const { path, store } = await oldStore();
    await store.close();
    const child = spawn(
      process.execPath,
      [
        "-e",
        `const { DatabaseSync } = require(process.getBuiltinModule?.("node:sqlite") ? "node:sqlite" : "@photostructure/sqlite");
         const database = new DatabaseSync(process.argv[1]);
         database.exec("PRAGMA cache_size=10; BEGIN IMMEDIATE;" + process.argv[2]);
         process.stdout.write("in the middle");
         setInterval(() => database.isOpen, 1000);`,
        path,
        STEPS.slice(1).join(";"),
      ],
      { cwd: resolve(import.meta.dirname, "../.."), stdio: ["ignore", "pipe", "inherit"] },
    );
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    const { page_count: pages } = openEventDatabase(path).prepare("PRAGMA page_count").get() ?? {};
    expect(() =>
      openEventDatabase(path, [STEPS[0] ?? "", `PRAGMA max_page_count=${Number(pages) + 9}; ${STEPS[1]}`]),
    ).toThrow(
      expect.objectContaining({ code: "file_unwritable", message: expect.stringContaining("is full") }),
    );
    await openSqlite(path).append(event(idOf("4")), 0);
    await requireAll(path, [...NAMES, "4"]);
  });
});

it.each(["arrivals", "deliveries", "attempts", "actions", "rejections"])(
  "stops listen before it says that it listens where its store takes no row of %s",
  async (table) => {
    const path = join(temporaryHome(), "events.db");
    const database = openEventDatabase(path);
    database.exec(
      `CREATE TRIGGER of_another_program BEFORE INSERT ON ${table} BEGIN SELECT RAISE (ABORT, 'not here'); END`,
    );
    database.close();
    const { exit, stdout, stderr } = await runCommand(["listen", "--port", "0", "--db", path], {
      env: KEY_ENV,
    });
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain("not here");
  },
);

describe("a store on a server", () => {
  const server = usePostgres();
  const STEPS = [...serverSteps(POSTGRES), ...later("paylink.")];
  const opened = (url: string, steps: readonly string[], upgrade = true) => {
    const store = openPostgresEventStore(url, { env: {}, user: "tester", create: false, upgrade, steps });
    onTestFinished(() => store.close());
    return store;
  };
  const counted = async (url: string) =>
    (
      await server().query("SELECT count(*)::int AS n FROM paylink.events", new URL(url).pathname.slice(1))
    )[0]?.["n"];

  it("is upgraded by one of two receivers at once, while an older one stores events", async () => {
    const url = await server().createDatabase();
    const older = openPostgres(url);
    await older.append(event(idOf("first")), 0);
    await server().query(
      copies("paylink.", `generate_series(1, ${MANY}) AS n`),
      new URL(url).pathname.slice(1),
    );
    await expect(all(opened(url, STEPS, false).events())).rejects.toMatchObject({
      code: "database_unusable",
      message: expect.stringContaining("it has schema 1, and this version reads 3"),
    });
    let stored = 1;
    const storing = (async () => {
      for (let number = 0; ; number += 1) {
        await older.append(event(idOf(`old-${number}`)), 0);
        stored += 1;
      }
    })().catch((error: unknown) => error);
    await expect.poll(() => stored).toBeGreaterThan(20);
    const receivers = [opened(url, STEPS), opened(url, STEPS)];
    await Promise.all(receivers.map((one) => one.ready()));
    expect(await storing).toMatchObject({
      code: "database_unusable",
      message: expect.stringContaining("written by a newer paylink"),
    });
    expect(await counted(url)).toBe(MANY + stored);
    for (const [index, receiver] of receivers.entries())
      await receiver.append(event(idOf(`new-${index}`)), 0);
    expect(await counted(url)).toBe(MANY + stored + receivers.length);
    await expect(openPostgresMemory(url, {}).mark()).rejects.toThrow(
      "it has schema 3, and this version knows 1",
    );
  });

  it("loses nothing to a connection that ends in the middle of a step, and to a full disk", async () => {
    const url = await server().createDatabase();
    await openPostgres(url).append(event(idOf("first")), 0);
    const sleeping = opened(url, [STEPS[0] ?? "", `${STEPS[1]}; SELECT pg_sleep(60)`])
      .ready()
      .catch((error: unknown) => error);
    await expect
      .poll(
        async () =>
          (
            await server().query(
              `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND datname = '${new URL(url).pathname.slice(1)}'`,
            )
          ).length,
      )
      .toBe(1);
    expect(await sleeping).toMatchObject({ code: "database_unreachable" });
    const full = `DO $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$`;
    await expect(opened(url, [STEPS[0] ?? "", `${STEPS[1]}; ${full}`]).ready()).rejects.toThrow(
      "no space left",
    );
    const store = opened(url, STEPS);
    await store.ready();
    expect(await ids(store.events())).toEqual([idOf("first")]);
  });
});
