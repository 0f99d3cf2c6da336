/** The SQLite driver that is in use here, whichever it is: durable settings, migrations once, and a refusal to go back. */
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { openDatabase, transaction, type Statement } from "../../src/store/database.ts";
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

const prepared = (sql: string): Statement =>
  openDatabase(join(temporaryHome(), "test.db"), ["CREATE TABLE t (a TEXT)"]).prepare(sql);

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  for (let round = 0; round < 5; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it("keeps a database open for as long as one of its statements is in use", async () => {
  const statement = prepared("SELECT 1 AS one");
  await collectGarbage();
  expect({ ...statement.get() }).toEqual({ one: 1 });
});

it("keeps a statement open for as long as its rows are read", async () => {
  const rows = prepared("VALUES (1), (2)").iterate();
  expect(Object.values(rows.next().value ?? {})).toEqual([1]);
  await collectGarbage();
  expect([...rows].map((row) => Object.values(row))).toEqual([[2]]);
});
