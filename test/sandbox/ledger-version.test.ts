/** A ledger that a newer paylink has made, and a file that is none. */
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runCommand } from "../support/context.ts";
import { LEDGER_STEPS } from "../../src/sandbox/store/schema.ts";
import { openLedger } from "../../src/sandbox/store/ledger.ts";
import { openDatabase } from "../../src/store/sqlite/open.ts";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { startSandboxCommand } from "../support/background-command.ts";
import { digestsOf } from "../support/schema-digests.ts";
import { temporaryHome } from "../support/home.ts";

/** Tables of the same names with other columns. */
const OTHER = `
  CREATE TABLE links (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, request TEXT NOT NULL);
  CREATE TABLE payments (seq INTEGER PRIMARY KEY, uti TEXT NOT NULL UNIQUE, record TEXT NOT NULL);
  CREATE TABLE deliveries (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, due INTEGER NOT NULL);
  CREATE INDEX deliveries_due ON deliveries (due, seq);
  CREATE TABLE attempts (deliveryId TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (deliveryId, number)) WITHOUT ROWID;
  CREATE TABLE clock (ahead INTEGER NOT NULL);
  INSERT INTO links (id, request) VALUES ('A', '{}');
  INSERT INTO clock VALUES (3600000)`;
const NEWER = [OTHER, ...Array.from({ length: 98 }, () => "")];

it("refuses the ledger of a newer version, leaves it as it is, and starts empty with --reset", async () => {
  const home = temporaryHome();
  const file = join(home, "sandbox.db");
  openDatabase(file, NEWER).close();
  const refused = await runCommand(["sandbox", "--port", "0", "--db", file], { home });
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toContain("written by a newer paylink: it has schema 99");
  const kept = openDatabase(file, NEWER);
  expect(kept.prepare("SELECT id FROM links").all()).toEqual([{ id: "A" }]);
  kept.close();
  const started = await startSandboxCommand(home, "--db", file, "--reset");
  await started.stop();
  const ledger = openLedger(file);
  onTestFinished(() => ledger.close());
  expect(ledger.links({ limit: 9, now: new Date() }).rows).toEqual([]);
  expect(ledger.clockAhead()).toBe(0);
});

it("refuses an event store, and deletes nothing in it with --reset", async () => {
  const home = temporaryHome();
  const file = join(home, "events.db");
  openEventDatabase(file).close();
  for (const flags of [[], ["--reset"]]) {
    const refused = await runCommand(["sandbox", "--port", "0", "--db", file, ...flags], { home });
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain("is a database, but not one of the sandbox");
  }
  const events = openEventDatabase(file);
  onTestFinished(() => events.close());
  expect(events.prepare("SELECT count(*) AS n FROM deliveries").get()).toEqual({ n: 0 });
});

/** One line a step. A ledger that was made before has run the steps above the last line: never change these, add one. */
const DIGESTS = ["6d628f1adfef4af3"];

it("makes its tables by steps that never change", () => {
  expect(digestsOf(LEDGER_STEPS)).toEqual(DIGESTS);
});
