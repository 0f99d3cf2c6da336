/** The sandbox's ledger on disk: a payment and its webhook are stored together or not at all. */
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Ledger } from "../../src/sandbox/store/ledger.ts";
import type { Payment } from "../../src/sandbox/store/rows.ts";
import { openDatabase, type Database } from "../../src/store/database.ts";
import { createUnits, openLedger } from "../../src/sandbox/store/ledger.ts";
import { temporaryHome } from "../support/home.ts";

const payment = (uti: string): Payment => ({
  uti,
  linkId: "link",
  record: { uti, reference: `ref-${uti}`, transApproved: true, transCancelled: false },
  customer: {},
  form: null,
});

const delivery = (uti: string) =>
  ({
    id: `delivery-${uti}`,
    linkId: "link",
    uti,
    url: "http://127.0.0.1:4000/",
    body: new Uint8Array([1]),
    state: "waiting",
    attempts: 0,
    tries: 0,
    due: 0,
  }) as const;

async function reopened(path: string, ledger: Ledger): Promise<Ledger> {
  await ledger.close();
  const again = openLedger(path);
  onTestFinished(() => again.close());
  return again;
}

it("stores a unit whole or not at all, whatever is written in the same turn", async () => {
  const path = join(temporaryHome(), "sandbox.db");
  const ledger = openLedger(path);
  const pay = (uti: string): Promise<void> =>
    ledger.write(() => {
      ledger.addDelivery(delivery(uti));
      ledger.addPayment(payment(uti));
    });
  await pay("a");
  const results = await Promise.allSettled([
    pay("b"),
    // The delivery is new, and the payment is not.
    ledger.write(() => {
      ledger.addDelivery(delivery("again"));
      ledger.addPayment(payment("a"));
    }),
    ledger.write(() => {
      ledger.addDelivery(delivery("stopped"));
      throw new Error("stopped");
    }),
    pay("c"),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
  const stored = await reopened(path, ledger);
  expect(stored.payments({ limit: 9, now: new Date(0) }).rows.map(({ uti }) => uti)).toEqual(["c", "b", "a"]);
  expect(stored.deliveries({ limit: 9, now: new Date(0) }).rows.map(({ uti }) => uti)).toEqual([
    "c",
    "b",
    "a",
  ]);
});

it("stores the next unit after one that failed alone", async () => {
  const path = join(temporaryHome(), "sandbox.db");
  const ledger = openLedger(path);
  const failed = ledger.write(() => {
    ledger.addPayment(payment("a"));
    throw new Error("stopped");
  });
  await expect(failed).rejects.toThrow("stopped");
  await ledger.write(() => ledger.addPayment(payment("b")));
  const stored = await reopened(path, ledger);
  expect(stored.payments({ limit: 9, now: new Date(0) }).rows.map(({ uti }) => uti)).toEqual(["b"]);
});

function openUnits(): { database: Database; add: (value: string) => Promise<void>; values: () => unknown[] } {
  const database = openDatabase(join(temporaryHome(), "test.db"), "CREATE TABLE t (a TEXT)");
  onTestFinished(() => database.close());
  const units = createUnits(database);
  const insert = database.prepare("INSERT INTO t VALUES (?)");
  return {
    database,
    add: (value) =>
      units.write(() => {
        if (value === "rolled back") {
          // As SQLite itself does when the disk is full.
          database.exec("ROLLBACK");
          throw new Error("disk full");
        }
        insert.run(value);
      }),
    values: () =>
      database
        .prepare("SELECT a FROM t")
        .all()
        .map(({ a }) => a),
  };
}

it("stores none of a group that SQLite has rolled back, and says so to each", async () => {
  const { add, values } = openUnits();
  const results = await Promise.allSettled(["a", "rolled back", "b"].map(add));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await add("c");
  expect(values()).toEqual(["c"]);
});

it("rejects every unit of a commit that fails", async () => {
  const { database, add, values } = openUnits();
  database.exec("PRAGMA foreign_keys=ON; CREATE TABLE child (a TEXT PRIMARY KEY)");
  database.exec("CREATE TABLE strict (a TEXT REFERENCES child DEFERRABLE INITIALLY DEFERRED)");
  database.exec(
    "CREATE TRIGGER defer AFTER INSERT ON t WHEN NEW.a = 'bad' BEGIN INSERT INTO strict VALUES ('none'); END",
  );
  const results = await Promise.allSettled(["a", "bad"].map(add));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await add("b");
  expect(values()).toEqual(["b"]);
});
