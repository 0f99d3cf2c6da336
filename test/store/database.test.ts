/** The SQLite driver of this Node: durable commits, tables that are created once, and newer files refused. */
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { inTransaction } from "../../src/store/sqlite/connection.ts";
import { openDatabase } from "../../src/store/sqlite/open.ts";
import { temporaryHome } from "../support/home.ts";

it("creates its tables once, keeps what was written, and refuses newer tables with both versions", () => {
  const path = join(temporaryHome(), "deep", "test.db");
  const tables = "CREATE TABLE t (a TEXT, b BLOB)";
  const first = openDatabase(path, [tables, ""]);
  first.prepare("INSERT INTO t VALUES (?, ?)").run("x", new Uint8Array([1, 2]));
  first.close();
  const second = openDatabase(path, [tables, ""]);
  expect({ ...second.prepare("SELECT a FROM t").get() }).toEqual({ a: "x" });
  expect(second.prepare("PRAGMA journal_mode").get()?.["journal_mode"]).toBe("wal");
  expect(second.prepare("PRAGMA synchronous").get()?.["synchronous"]).toBe(2);
  second.close();
  expect(() => openDatabase(path, [tables])).toThrow("it has schema 2, and this version knows 1");
});

it("opens for a reader at once while another program writes", () => {
  const path = join(temporaryHome(), "test.db");
  const schema = "CREATE TABLE t (a TEXT)";
  const writer = openDatabase(path, [schema]);
  onTestFinished(() => writer.close());
  writer.exec("BEGIN IMMEDIATE; INSERT INTO t VALUES ('x')");
  // With a write among what opening does, it would wait for 10 s and fail.
  const reader = openDatabase(path, [schema]);
  expect(reader.prepare("SELECT * FROM t").all()).toEqual([]);
  reader.close();
});

it("waits for another program that has opened the new file at the same moment", async () => {
  const path = join(temporaryHome(), "test.db");
  const other = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     const { DatabaseSync } = require(process.getBuiltinModule("node:sqlite") ? "node:sqlite" : "@photostructure/sqlite");
     const database = new DatabaseSync(workerData);
     database.exec("CREATE TABLE other (a TEXT); BEGIN IMMEDIATE");
     parentPort.postMessage("locked");
     setTimeout(() => database.exec("COMMIT"), 200);`,
    { eval: true, workerData: path },
  );
  await once(other, "message");
  const database = openDatabase(path, ["CREATE TABLE t (a TEXT)"]);
  onTestFinished(() => database.close());
  expect(database.prepare("SELECT * FROM t").all()).toEqual([]);
});

it("rolls back a transaction that throws", () => {
  const database = openDatabase(join(temporaryHome(), "test.db"), ["CREATE TABLE t (a TEXT)"]);
  expect(() =>
    inTransaction(database, () => {
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

it("names the file where another program wrote it", () => {
  const path = join(temporaryHome(), "test.db");
  openDatabase(path, ["CREATE TABLE other (a TEXT)"]).close();
  const other = openDatabase(path, ["CREATE TABLE t (a TEXT)"]);
  onTestFinished(() => other.close());
  expect(() => other.prepare("SELECT * FROM t")).toThrow(
    expect.objectContaining({ code: "file_unreadable", message: expect.stringContaining(path) }),
  );
});

it("creates the target of a symbolic link for its owner only, and uses it until the link points elsewhere", () => {
  const folder = temporaryHome();
  const real = join(folder, "real");
  mkdirSync(real);
  const link = join(folder, "link.db");
  symlinkSync(join(real, "one.db"), link);
  const database = openDatabase(link, ["CREATE TABLE t (a TEXT)"]);
  onTestFinished(() => database.close());
  const modes = readdirSync(real).map((file) => statSync(join(real, file)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
  expect(database.isInPlace()).toBe(true);
  rmSync(link);
  symlinkSync(join(real, "two.db"), link);
  expect(database.isInPlace()).toBe(false);
});
