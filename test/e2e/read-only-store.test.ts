/** Commands that only read a store: they need no right to write it, change nothing, and create nothing. */
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { inTransaction } from "../../src/store/sqlite/connection.ts";
import { LOG_SIZE } from "../../src/store/sqlite/open.ts";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { event } from "../support/stored-events.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
/** Another user, where this one may become it. */
const AS_NOBODY = IS_ROOT
  ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--inh-caps=-all"]
  : [];

/** What is in a folder, with its bytes. */
const contentOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("base64")]),
  );

/** A folder with a store of one event, that nobody may write. */
async function closedStore(): Promise<{ readonly folder: string; readonly db: string }> {
  const folder = join(temporaryHome(), "store");
  mkdirSync(folder);
  const db = join(folder, "events.db");
  const store = openSqlite(db);
  await store.append(event("a"));
  await store.close();
  return { folder, db };
}

function readOnly(folder: string): void {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o444);
  chmodSync(folder, 0o555);
  onTestFinished(() => chmodSync(folder, 0o755));
}

const READING = [
  ["events", "list", "-q"],
  ["events", "show", "a", "--json"],
  ["events", "stats", "--json"],
];

describe("a store that can only be read", () => {
  it.each([
    ["a backup", (db: string) => openEventDatabase(db).exec(`VACUUM INTO '${db}.backup'`)],
    ["the file alone", (db: string) => cpSync(db, `${db}.backup`)],
  ])("is read, and not changed: %s", async (_, copy) => {
    const { folder, db } = await closedStore();
    copy(db);
    const away = join(openHome(), "backup");
    mkdirSync(away);
    renameSync(`${db}.backup`, join(away, "events.db"));
    readOnly(away);
    const before = contentOf(away);
    for (const argv of READING) {
      const home = nobodysHome();
      const run = await startPaylink([...argv, "--db", join(away, "events.db")], { home, through: AS_NOBODY })
        .ended;
      expect(run).toMatchObject({ code: 0, stderr: "" });
      expect(run.stdout).not.toBe("");
    }
    expect(contentOf(away)).toEqual(before);
    expect(folder).not.toBe(away);
  });

  it("of another user is read while listen writes to it, and a command that would change it is refused", async () => {
    const home = openHome();
    const db = join(home, "events.db");
    const listen = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home), "--db", db], {
      home,
    });
    const url = await readyUrl(listen);
    expect(await post(url, webhook(url, record()))).toBe(200);
    for (const name of readdirSync(home).filter((one) => one.startsWith("events.db")))
      chmodSync(join(home, name), 0o644);
    const asNobody = (...argv: string[]) =>
      startPaylink([...argv, "--db", db], { home: nobodysHome(), through: AS_NOBODY }).ended;
    expect((await asNobody("events", "list", "-q")).stdout.trim().split("\n")).toHaveLength(1);
    if (IS_ROOT)
      expect(await asNobody("events", "prune", "--before", "0s", "--yes")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("cannot be written"),
      });
    expect(await post(url, webhook(url, record()))).toBe(200);
    expect((await asNobody("events", "list", "-q")).stdout.trim().split("\n")).toHaveLength(2);
    await listen.stop("SIGTERM");
  });

  it.each([
    ["a copy with all of its files", ["", "-wal", "-shm"], 0],
    ["a copy without the index of its log", ["", "-wal"], 2],
  ])("is read with what its log has, or the message says what to do: %s", async (_, suffixes, code) => {
    const { db } = await closedStore();
    const writer = openEventDatabase(db);
    onTestFinished(() => writer.close());
    writer.exec("UPDATE events SET id = 'in-the-log'; UPDATE events SET id = 'a'");
    const away = join(openHome(), "backup");
    mkdirSync(away);
    const copy = join(away, "events.db");
    for (const suffix of suffixes) cpSync(db + suffix, copy + suffix);
    readOnly(away);
    const before = contentOf(away);
    const list = (path: string) =>
      startPaylink(["events", "list", "-q", "--db", path], { home: nobodysHome(), through: AS_NOBODY }).ended;
    const run = await list(copy);
    expect(run.code).toBe(code);
    expect(contentOf(away)).toEqual(before);
    if (code === 0) return expect(run.stdout.trim().split("\n")).toHaveLength(1);
    expect(run.stderr).toContain(`${copy}-wal has its last events`);
    expect(run.stderr.replaceAll(/\s+/g, " ")).toContain("to a folder that you may write");
    // As it says.
    const home = nobodysHome();
    for (const suffix of suffixes) cpSync(copy + suffix, join(home, `copy.db${suffix}`));
    expect(await list(join(home, "copy.db"))).toMatchObject({ code: 0 });
  });

  it("that others may not read is reported as such", async () => {
    if (!IS_ROOT) return;
    const { db } = await closedStore();
    chmodSync(join(db, "..", ".."), 0o755);
    chmodSync(join(db, ".."), 0o755);
    const run = await startPaylink(["events", "list", "--db", db], {
      home: nobodysHome(),
      through: AS_NOBODY,
    }).ended;
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining("permission denied") });
  });
});

/** A folder that everybody may enter. */
function openHome(): string {
  const home = temporaryHome();
  chmodSync(home, 0o755);
  return home;
}

/** A home that the other user may write. */
function nobodysHome(): string {
  const home = temporaryHome();
  if (IS_ROOT) chownSync(home, NOBODY, NOBODY);
  return home;
}

it("a store that does not exist yet is empty, and is not created", async () => {
  const home = temporaryHome();
  expect(await runPaylink(["events", "list"], { home })).toMatchObject({ code: 0 });
  expect(await runPaylink(["events", "stats", "--json"], { home })).toMatchObject({ code: 0 });
  const files = readdirSync(home, { recursive: true }).map(String);
  expect(files.filter((name) => name.includes("events"))).toEqual([]);
});

it("a store that was moved away is not recreated by a reader, and is read again once it is back", async () => {
  const { folder, db } = await closedStore();
  const tail = startPaylink(["events", "tail", "--json", "--db", db], { home: temporaryHome() });
  await tail.until(/"type":"ready"/);
  renameSync(db, `${db}.away`);
  await tail.until(/There is no event store at/);
  expect(readdirSync(folder)).toEqual(["events.db.away", "events.db.mark"]);
  renameSync(`${db}.away`, db);
  const store = openSqlite(db);
  await store.append(event("b"));
  await tail.until(/"id":"b"/);
  await tail.stop("SIGTERM");
});

it("a long reader makes the log grow, and it shrinks again without a restart", async () => {
  const { db } = await closedStore();
  const [writer, reader] = [openEventDatabase(db), openEventDatabase(db)];
  reader.exec("BEGIN; SELECT count(*) FROM events");
  reader.prepare("SELECT * FROM events").all();
  const write = (size: number): void =>
    inTransaction(writer, () =>
      writer.exec(`UPDATE facts SET value = hex(randomblob(${size})) WHERE name = 'other'`),
    );
  writer.exec("INSERT INTO facts VALUES ('other', '')");
  for (let written = 0; written < 1.25 * LOG_SIZE; written += 100_000) write(100_000);
  const log = (): number => statSync(`${db}-wal`).size;
  expect(log()).toBeGreaterThan(LOG_SIZE);
  reader.exec("COMMIT");
  for (let time = 0; time < 3; time++) write(10);
  expect(log()).toBeLessThanOrEqual(LOG_SIZE);
  writer.close();
  reader.close();
});
