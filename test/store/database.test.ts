/** The SQLite driver of this Node: durable commits, migrations that run once, and newer files refused. */
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { openDatabase, transaction } from "../../src/store/database.ts";
import { temporaryHome } from "../support/home.ts";

it("migrates once and keeps what was written", () => {
  const path = join(temporaryHome(), "deep", "test.db");
  const first = openDatabase(path, ["CREATE TABLE t (a TEXT, b BLOB)"]);
  first.prepare("INSERT INTO t VALUES (?, ?)").run("x", new Uint8Array([1, 2]));
  first.close();
  const second = openDatabase(path, [
    "CREATE TABLE t (a TEXT, b BLOB)",
    "ALTER TABLE t ADD COLUMN c TEXT DEFAULT 'new'",
  ]);
  expect({ ...second.prepare("SELECT a, c FROM t").get() }).toEqual({ a: "x", c: "new" });
  expect(second.prepare("PRAGMA journal_mode").get()?.["journal_mode"]).toBe("wal");
  expect(second.prepare("PRAGMA synchronous").get()?.["synchronous"]).toBe(2);
  second.close();
  expect(() => openDatabase(path, [])).toThrow("newer paylink");
});

it("rolls back a transaction that throws", () => {
  const database = openDatabase(join(temporaryHome(), "test.db"), ["CREATE TABLE t (a TEXT)"]);
  expect(() =>
    transaction(database, () => {
      database.prepare("INSERT INTO t VALUES (?)").run("x");
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(database.prepare("SELECT * FROM t").all()).toEqual([]);
  database.close();
});

it("keeps a database open for as long as one of its statements is in use", async () => {
  const open = () =>
    openDatabase(join(temporaryHome(), "test.db"), ["CREATE TABLE t (a TEXT)"]).prepare("SELECT 1 AS one");
  const statement = open();
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  for (let round = 0; round < 5; round += 1) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect({ ...statement.get() }).toEqual({ one: 1 });
});
