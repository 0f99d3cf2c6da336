/** The journal: what a later run reads back after a kill, and how two runs of one list notice each other. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { declarations } from "../../src/bulk/declarations.ts";
import { Ledger } from "../../src/bulk/row-ledger.ts";
import { NumberList } from "../../src/bulk/number-list.ts";
import { beginJournal, readHeading } from "../../src/store/journal/journal.ts";
import { openJournal } from "../../src/store/journal/journal-writer.ts";
import { takeLock } from "../../src/store/journal/run-lock.ts";
import { temporaryHome } from "../support/home.ts";

const HEADING = {
  service: "http://x",
  input: "/orders.csv",
  begun: "2026-01-01T00:00:00.000Z",
  repeats: "refuse",
} as const;

function newJournal(asks = numbers()): string {
  const path = join(temporaryHome(), "bulk", "a.journal");
  beginJournal(path, HEADING, declarations(asks));
  return path;
}

function openedLedger(path: string): Ledger {
  const ledger = new Ledger(path);
  ledger.open();
  return ledger;
}

const numbers = (...values: number[]): NumberList => {
  const list = new NumberList();
  for (const [index, value] of values.entries()) list.set(index, value);
  return list;
};

describe("the journal", () => {
  it("gives the next run the outcome of each row", async () => {
    const path = newJournal();
    const first = openedLedger(path);
    await Promise.all([0, 1, 2, 3].map((row) => first.intend(row)));
    await first.settle(0, { status: "created", id: "a", url: "https://x/ä" });
    await first.settle(1, { status: "refused", error: "no" });
    await first.settle(3, { status: "not_sent" });
    await first.close();
    const second = openedLedger(path);
    expect([0, 1, 2, 3, 4].map((row) => second.outcome(row).status)).toEqual([
      "created",
      "refused",
      "unknown",
      "not_sent",
      "not_sent",
    ]);
    expect(second.outcome(0)).toMatchObject({ id: "a", url: "https://x/ä" });
    expect([0, 1, 2, 3].map((row) => second.isDone(row, false))).toEqual([true, false, true, false]);
    expect([0, 1, 2, 3].map((row) => second.isDone(row, true))).toEqual([true, false, false, false]);
    await second.close();
    expect(readHeading(path)).toMatchObject(HEADING);
  });

  it("keeps the key of a row until its outcome is known", async () => {
    const path = newJournal();
    const key = { header: "Idempotency-Key", value: "key-1", time: 1000 };
    const first = openedLedger(path);
    await Promise.all([0, 1, 2, 3].map((row) => first.intend(row, key)));
    expect(readFileSync(path, "utf8")).toContain('"value":"key-1"');
    await first.settle(0, { status: "created", id: "a" });
    await first.settle(1, { status: "refused", error: "no" });
    await first.settle(2, { status: "unknown", error: "late" });
    await first.close();
    const second = openedLedger(path);
    const keys = (header: string) => [0, 1, 2, 3].map((row) => second.keyOf(row, header));
    expect(keys("idempotency-key")).toEqual([undefined, undefined, key, key]);
    expect(keys("X-Request-Id")).toEqual([undefined, undefined, undefined, undefined]);
    // The service cannot recognise a request that was sent without the key.
    await second.intend(3);
    expect(second.keyOf(3, "Idempotency-Key")).toBeUndefined();
    await second.close();
  });

  it("has a row on disk before it may be sent", async () => {
    const path = newJournal();
    const ledger = openedLedger(path);
    const intended = ledger.intend(7);
    expect(readFileSync(path, "utf8")).not.toContain('"row":7');
    await intended;
    expect(readFileSync(path, "utf8")).toContain('{"row":7}\n');
    await ledger.close();
  });

  it("continues after a line that a kill cut short", async () => {
    const path = newJournal();
    const first = openedLedger(path);
    await first.intend(0);
    await first.settle(0, { status: "created", id: "a" });
    await first.close();
    appendFileSync(path, '{"row":1,"sta');
    const second = openedLedger(path);
    expect(second.standing(0)).toBe("created");
    expect(second.standing(1)).toBe("not_sent");
    await second.intend(1);
    await second.settle(1, { status: "created", id: "b" });
    await second.close();
    const third = openedLedger(path);
    expect([third.outcome(0).id, third.outcome(1).id]).toEqual(["a", "b"]);
    await third.close();
  });

  it("refuses a file that holds a line of another program", () => {
    const path = newJournal();
    appendFileSync(path, "what is this?\n");
    expect(() => openedLedger(path)).toThrow("damaged");
  });

  it("keeps every line before one that cannot be written, and writes none after it", async () => {
    const path = newJournal();
    const ledger = openedLedger(path);
    await ledger.intend(0);
    const first = ledger.settle(0, { status: "created", id: "a" });
    // JSON has no such number: the line is refused before it reaches the file.
    expect(() => ledger.intend(Object(1n))).toThrow("BigInt");
    const last = ledger.settle(2, { status: "created", id: "c" });
    await Promise.all([first, last]);
    expect([ledger.outcome(0).id, ledger.outcome(2).id]).toEqual(["a", "c"]);
    await ledger.close();
    const again = openedLedger(path);
    expect([again.outcome(0).id, again.outcome(2).id]).toEqual(["a", "c"]);
    await again.close();
  });

  it.skipIf(!existsSync("/dev/full"))("rejects every line once the disk has refused one", async () => {
    const journal = openJournal("/dev/full", 0);
    const lines = [0, 1].map((row) => journal.append({ row }).durable);
    const results = await Promise.allSettled(lines);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(journal.append({ row: 2 }).durable).rejects.toMatchObject({
      code: "file_unwritable",
    });
    await expect(journal.close()).rejects.toMatchObject({ code: "file_unwritable" });
  });

  it("counts as missing when a kill left it without a heading", () => {
    const path = newJournal();
    writeFileSync(path, '{"paylink":"bulk jour');
    expect(readHeading(path)).toBeUndefined();
    beginJournal(path, HEADING, []);
    expect(readHeading(path)).toMatchObject(HEADING);
    writeFileSync(path, '{"row":0}\n');
    expect(() => openedLedger(path)).toThrow("damaged");
  });

  it("notices the rows that ask for something else, or are missing", async () => {
    const ledger = openedLedger(newJournal(numbers(100, 101, 102, 103)));
    for (const row of [0, 1, 2, 3]) await ledger.intend(row);
    await ledger.settle(0, { status: "created", url: "https://x" });
    await ledger.settle(1, { status: "refused" });
    await ledger.settle(3, { status: "unknown" });
    expect(ledger.changes(numbers(100, 101, 102, 103, 104), 10).count).toBe(0);
    expect(ledger.changes(numbers(100, 999, 102, 103), 10).count).toBe(0);
    expect(ledger.changes(numbers(999, 101, 102), 1)).toEqual({
      count: 2,
      first: [{ row: 0, outcome: expect.objectContaining({ url: "https://x" }) }],
    });
    await ledger.close();
  });

  it("keeps what each row asks for, and forgets the outcome of a row that asks for something else", async () => {
    const path = newJournal(numbers(100, 101, 102));
    const first = openedLedger(path);
    for (const row of [0, 1]) await first.intend(row);
    await first.settle(0, { status: "created", url: "https://x" });
    await first.settle(1, { status: "refused" });
    expect(first.isOf(numbers(100, 101, 102))).toBe(true);
    await first.declare(numbers(100, 999, 102, 103));
    await first.close();
    const second = new Ledger(path);
    second.read();
    expect(second.isOf(numbers(100, 999, 102, 103))).toBe(true);
    expect(second.isOf(numbers(100, 999, 102))).toBe(false);
    expect([0, 1, 2, 3].map((row) => second.standing(row))).toEqual([
      "created",
      "not_sent",
      "not_sent",
      "not_sent",
    ]);
    expect(second.outcome(0)).toMatchObject({ url: "https://x" });
  });

  it("holds more rows than one line", () => {
    const many = numbers(...Array.from({ length: 10_000 }, (_, row) => row + 1));
    const ledger = new Ledger(newJournal(many));
    ledger.read();
    expect(ledger.isOf(many)).toBe(true);
  });

  it("stops both of two runs that write to it", async () => {
    const path = newJournal();
    const one = openedLedger(path);
    const other = openedLedger(path);
    await one.intend(0);
    await expect(other.intend(0)).rejects.toMatchObject({ code: "already_running" });
    await expect(one.intend(1)).rejects.toMatchObject({ code: "already_running" });
    await expect(one.close()).rejects.toMatchObject({ code: "already_running" });
  });
});

describe("the lock", () => {
  const running = (...pids: number[]) => ({ own: 1, isRunning: (pid: number) => pids.includes(pid) });

  it("refuses a second run while the first is running", () => {
    const path = join(temporaryHome(), "a.lock");
    const release = takeLock(path, { ...running(), own: 7 });
    expect(() => takeLock(path, running(7))).toThrow("Process 7 is sending this list now");
    release();
    takeLock(path, running(7))();
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    ["of a killed run", "7"],
    ["of an earlier process with the same id", "1"],
    ["without a process id", "x"],
  ])("is replaced if it is one %s", (_, text) => {
    const path = join(temporaryHome(), "a.lock");
    writeFileSync(path, text);
    takeLock(path, running(1))();
    expect(existsSync(path)).toBe(false);
  });
});
