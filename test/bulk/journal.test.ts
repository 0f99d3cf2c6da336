/** The journal: what it remembers after a kill, and how two runs on one list find each other out. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Ledger } from "../../src/bulk/row-ledger.ts";
import { NumberList } from "../../src/bulk/number-list.ts";
import { beginJournal, readHeading } from "../../src/store/journal.ts";
import { takeLock } from "../../src/store/run-lock.ts";
import { temporaryHome } from "../support/home.ts";

const HEADING = {
  service: "http://x",
  input: "/orders.csv",
  content: "c",
  begun: "2026-01-01T00:00:00.000Z",
};

function newJournal(): string {
  const path = join(temporaryHome(), "bulk", "a.journal");
  beginJournal(path, HEADING);
  return path;
}

function opened(path: string): Ledger {
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
  it("tells the next run what became of each row", async () => {
    const path = newJournal();
    const first = opened(path);
    await Promise.all([0, 1, 2, 3].map((row) => first.intend(row, row * 10)));
    await first.settle(0, { status: "created", id: "a", url: "https://x/ä" });
    await first.settle(1, { status: "refused", error: "no" });
    await first.settle(3, { status: "not_sent" });
    await first.close();
    const second = opened(path);
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

  it("has a row on disk before it may be sent", async () => {
    const path = newJournal();
    const ledger = opened(path);
    const intended = ledger.intend(7, 70);
    expect(readFileSync(path, "utf8")).not.toContain('"row":7');
    await intended;
    expect(readFileSync(path, "utf8")).toContain('{"row":7,"asks":70}\n');
    await ledger.close();
  });

  it("goes on after a line that a kill cut short", async () => {
    const path = newJournal();
    const first = opened(path);
    await first.intend(0, 1);
    await first.settle(0, { status: "created", id: "a" });
    await first.close();
    appendFileSync(path, '{"row":1,"as');
    const second = opened(path);
    expect(second.standing(0)).toBe("created");
    expect(second.standing(1)).toBe("not_sent");
    await second.intend(1, 2);
    await second.settle(1, { status: "created", id: "b" });
    await second.close();
    const third = opened(path);
    expect([third.outcome(0).id, third.outcome(1).id]).toEqual(["a", "b"]);
    await third.close();
  });

  it("refuses to guess where somebody else wrote into it", () => {
    const path = newJournal();
    appendFileSync(path, "what is this?\n");
    expect(() => opened(path)).toThrow("not what paylink wrote");
  });

  it("notices the rows that ask for something else, or are gone", async () => {
    const ledger = opened(newJournal());
    for (const row of [0, 1, 2, 3]) await ledger.intend(row, row + 100);
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

  it("lets neither of two runs send once both write", async () => {
    const path = newJournal();
    const one = opened(path);
    const other = opened(path);
    await one.intend(0, 1);
    await expect(other.intend(0, 1)).rejects.toMatchObject({ code: "already_running" });
    await expect(one.intend(1, 1)).rejects.toMatchObject({ code: "already_running" });
    await expect(one.close()).rejects.toMatchObject({ code: "already_running" });
  });
});

describe("the lock", () => {
  const running = (...pids: number[]) => ({ own: 1, isRunning: (pid: number) => pids.includes(pid) });

  it("keeps a second run away while the first is at work", () => {
    const path = join(temporaryHome(), "a.lock");
    const release = takeLock(path, { ...running(), own: 7 });
    expect(() => takeLock(path, running(7))).toThrow("Process 7 is sending this list right now");
    release();
    takeLock(path, running(7))();
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    ["of a run that was killed", "7"],
    ["of a process that had our own id", "1"],
    ["that holds no id", "x"],
  ])("is taken over where it is one %s", (_, text) => {
    const path = join(temporaryHome(), "a.lock");
    writeFileSync(path, text);
    takeLock(path, running(1))();
    expect(existsSync(path)).toBe(false);
  });
});
