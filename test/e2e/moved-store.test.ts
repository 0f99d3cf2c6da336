/** `listen` while its database is removed, renamed or replaced: what is answered 200 is at the path afterwards. */
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openEventDatabase } from "../../src/events/sqlite-database.ts";
import { jsonLines } from "../support/json-lines.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { keyFile } from "../support/keys.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const LANES = 4;

/** Utis of the events in a database. */
async function stored(home: string, db: string): Promise<string[]> {
  const { code, stdout, stderr } = await runPaylink(["events", "export", "--db", db], { home });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return jsonLines(stdout).map(({ record }) => (record as { uti: string }).uti);
}

/** A database of another listener. */
function otherDatabase(path: string): void {
  const database = openEventDatabase(path);
  database.exec("INSERT INTO claims VALUES ('other', 'other', 0)");
  database.close();
}

const withSuffixes = (path: string, change: (file: string) => void): void =>
  ["", "-wal", "-shm"].map((suffix) => path + suffix).forEach(change);

/** Returns the database that must hold what was acknowledged before, if the change does not delete it. */
type Change = (db: string) => string | void;

const CHANGES: [name: string, change: Change][] = [
  ["the folder is removed", (db) => rmSync(dirname(db), { recursive: true })],
  ["the three files are removed", (db) => withSuffixes(db, (file) => rmSync(file))],
  ["the database alone is removed", (db) => rmSync(db)],
  [
    "the log and its index are removed",
    (db) => {
      rmSync(`${db}-wal`);
      rmSync(`${db}-shm`);
      return db;
    },
  ],
  [
    "the log alone is removed",
    (db) => {
      rmSync(`${db}-wal`);
      return db;
    },
  ],
  [
    "the database alone is renamed",
    (db) => {
      renameSync(db, `${db}.old`);
      return `${db}.old`;
    },
  ],
  [
    "another database is moved into its place",
    (db) => {
      otherDatabase(`${db}.new`);
      renameSync(`${db}.new`, db);
    },
  ],
  [
    "the folder is renamed",
    (db) => {
      renameSync(dirname(db), `${dirname(db)}.old`);
      return join(`${dirname(db)}.old`, "events.db");
    },
  ],
  [
    "the folder is renamed, and another made",
    (db) => {
      renameSync(dirname(db), `${dirname(db)}.old`);
      mkdirSync(dirname(db));
      otherDatabase(db);
      return join(`${dirname(db)}.old`, "events.db");
    },
  ],
];

describe("a store that moves under a running listen", () => {
  it.each(CHANGES)("loses nothing that is acknowledged from then on: %s", async (_, change) => {
    const home = temporaryHome();
    const db = join(home, "store", "events.db");
    mkdirSync(join(home, "store"));
    const listen = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home), "--db", db], {
      home,
    });
    const url = await readyUrl(listen);
    const acknowledged: string[] = [];
    const statuses = new Set<number>();
    const send = async (): Promise<void> => {
      const one = record();
      const status = await post(url, webhook(url, one));
      statuses.add(status);
      if (status === 200) acknowledged.push(String(one["uti"]));
    };
    for (let count = 0; count < 20; count += 1) await send();
    const before = [...acknowledged];

    // Webhooks keep arriving: those that are answered until the change may be in either place.
    const over = new AbortController();
    const lanes = Array.from({ length: LANES }, async () => {
      while (!over.signal.aborted) await send();
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const old = change(db);
    const after = acknowledged.length;
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(after + 5 * LANES), 30_000);
    over.abort();
    await Promise.all(lanes);

    const kept = new Set(await stored(home, db));
    expect(acknowledged.slice(after + LANES).filter((uti) => !kept.has(uti))).toEqual([]);
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    if (old !== undefined) {
      const moved = new Set([...(await stored(home, old)), ...kept]);
      expect(before.filter((uti) => !moved.has(uti))).toEqual([]);
    }
    const { code, stdout } = await listen.stop();
    expect(code).toBe(130);
    expect(jsonLines(stdout).filter(({ type }) => type === "warning")).toHaveLength(1);
  });
});
