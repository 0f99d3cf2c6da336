/** What `bulk` remembers: the state of each row after a kill, the list that a run continues, and rows of other lists. */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { WantedList } from "../../src/bulk/claim-list.ts";
import { openMemory, type SentList } from "../../src/bulk/memory.ts";
import { openDatabase, type Value } from "../../src/store/database.ts";
import { claimIn, openIn, sendIn } from "../support/bulk-memory.ts";
import { temporaryHome } from "../support/home.ts";

/** What another program reads in the database now. */
function read(folder: string, sql: string, ...values: readonly Value[]) {
  const database = openDatabase(join(folder, "bulk.db"), [""]);
  try {
    return database.prepare(sql).all(...values);
  } finally {
    database.close();
  }
}

const states = (list: SentList, ...rows: readonly number[]) => rows.map((row) => list.state(row));

describe("a list that was sent", () => {
  it("gives the next run the outcome of each row", async () => {
    const folder = temporaryHome();
    const wanted = { digests: [1, 2, 3, 4, 5] };
    const first = openIn(folder, wanted);
    await Promise.all([0, 1, 2, 3].map((row) => first.intend(row)));
    await first.settle(0, { status: "created", id: "a", url: "https://x/ä" });
    await first.settle(1, { status: "refused", error: "no" });
    await first.settle(3, { status: "not_sent" });
    await first.close();
    const second = openIn(folder, wanted);
    expect(states(second, 0, 1, 2, 3, 4)).toEqual(["created", "refused", "sending", "not_sent", "not_sent"]);
    expect(second.outcome(0)).toEqual({ status: "created", id: "a", url: "https://x/ä" });
    expect(second.outcome(2)).toEqual({
      status: "unknown",
      error: "an earlier run ended during this request; the link may exist",
    });
    expect([0, 1, 2, 3].map((row) => second.isDone(row, false))).toEqual([true, false, true, false]);
    expect([0, 1, 2, 3].map((row) => second.isDone(row, true))).toEqual([true, false, false, false]);
    expect(second.countCreated()).toBe(1);
    await second.close();
  });

  it("keeps the key of a row until its outcome is known", async () => {
    const folder = temporaryHome();
    const key = { header: "Idempotency-Key", value: "key-1", time: 1000 };
    const wanted = { digests: [1, 2, 3, 4] };
    const first = openIn(folder, wanted);
    await Promise.all([0, 1, 2, 3].map((row) => first.intend(row, key)));
    await first.settle(0, { status: "created", id: "a" });
    await first.settle(1, { status: "refused", error: "no" });
    await first.settle(2, { status: "unknown", error: "late" });
    await first.close();
    const second = openIn(folder, wanted);
    const keys = (header: string) => [0, 1, 2, 3].map((row) => second.keyOf(row, header));
    expect(keys("idempotency-key")).toEqual([undefined, undefined, key, key]);
    expect(keys("X-Request-Id")).toEqual([undefined, undefined, undefined, undefined]);
    // The service cannot recognise a request that was sent without the key.
    await second.intend(3);
    expect(second.keyOf(3, "Idempotency-Key")).toBeUndefined();
    await second.close();
  });

  it("has a row on disk before it may be sent", async () => {
    const folder = temporaryHome();
    const list = openIn(folder);
    const intended = list.intend(2);
    const sending = () => read(folder, "SELECT position FROM rows WHERE state = 'sending'");
    expect(sending()).toEqual([]);
    await intended;
    expect(sending()).toEqual([{ position: 2 }]);
    await list.close();
  });

  it("forgets the outcome of a row that asks for something else, and a row that is gone", async () => {
    const folder = temporaryHome();
    const first = openIn(folder, { digests: [100, 101, 102] });
    for (const row of [0, 1]) await first.intend(row);
    await first.settle(0, { status: "created", url: "https://x" });
    await first.settle(1, { status: "refused", error: "no" });
    await first.close();
    await openIn(folder, { digests: [100, 999] }).close();
    const third = openIn(folder, { digests: [100, 999, 102, 103], input: "/renamed.csv", repeats: "skip" });
    expect(states(third, 0, 1, 2, 3)).toEqual(["sent_before", "not_sent", "not_sent", "not_sent"]);
    await third.close();
    const fourth = openIn(folder, { digests: [100, 999] });
    expect(states(fourth, 0, 1)).toEqual(["created", "not_sent"]);
    expect(fourth.outcome(1)).toEqual({ status: "not_sent" });
    await fourth.close();
  });

  it("may be long", async () => {
    const folder = temporaryHome();
    const digests = Array.from({ length: 25_000 }, (_, row) => 2 ** 51 + row);
    await sendIn(folder, { digests }, 0, 24_999);
    const again = openIn(folder, { digests, input: "-" });
    expect(states(again, 0, 9_999, 10_000, 24_999)).toEqual(["created", "not_sent", "not_sent", "created"]);
    await again.close();
  });

  it("is forgotten if no row was sent", async () => {
    const folder = temporaryHome();
    const list = openIn(folder);
    await list.intend(0);
    await list.settle(0, { status: "refused" });
    await list.close();
    expect(read(folder, "SELECT * FROM lists")).toEqual([]);
    expect(read(folder, "SELECT * FROM rows")).toEqual([]);
  });

  it("fails, and keeps what it knows, when the disk is full", async () => {
    const folder = temporaryHome();
    await sendIn(folder, {}, 0);
    const memory = openMemory(folder);
    const list = openIn(folder, {}, memory);
    memory.database.exec("PRAGMA max_page_count=20");
    const long = "x".repeat(1 << 20);
    await expect(list.settle(1, { status: "unknown", error: long })).rejects.toMatchObject({
      code: "file_unwritable",
    });
    expect(list.outcome(0)).toMatchObject({ status: "created" });
    await list.close();
  });

  it("stops when its file is removed: the next run would not find what is written to it", async () => {
    const folder = temporaryHome();
    const list = openIn(folder);
    rmSync(join(folder, "bulk.db"));
    await expect(list.intend(0)).rejects.toMatchObject({ code: "file_unwritable" });
    await list.close();
  });

  it.each([
    ["removed", (path: string) => rmSync(path)],
    ["emptied", (path: string) => writeFileSync(path, "")],
    [
      "replaced by an empty database",
      (path: string) => {
        rmSync(path);
        openDatabase(path, []).close();
      },
    ],
    ["overwritten", (path: string) => writeFileSync(path, "what is this?".repeat(1000))],
  ])("is not sent once more because the file was %s", async (_, harm) => {
    const folder = temporaryHome();
    await sendIn(folder, {}, 0);
    for (const name of readdirSync(folder))
      if (name.startsWith("bulk.db-")) rmSync(join(folder, name), { force: true });
    harm(join(folder, "bulk.db"));
    expect(() => openIn(folder)).toThrow(
      expect.objectContaining({
        code: "file_unreadable",
        hints: [[expect.stringContaining("It records which links were created.")]],
      }),
    );
  });
});

describe("a list that is being sent", () => {
  it("is open for one run at a time, also under another name", async () => {
    const folder = temporaryHome();
    const list = openIn(folder, { runner: 7 });
    for (const wanted of [{}, { input: "-" }])
      expect(() => openIn(folder, wanted)).toThrow("Process 7 is sending this list now");
    await list.intend(0);
    await list.close();
    await openIn(folder).close();
  });

  it("lets no other list with its rows begin, and any list at another service", async () => {
    const folder = temporaryHome();
    const list = openIn(folder, { runner: 7 });
    const part = { input: "/part.csv", digests: [30, 40] };
    for (const repeats of ["refuse", "skip", "send"] as const)
      expect(() => openIn(folder, { ...part, repeats })).toThrow(
        "Process 7 is sending rows of this list now",
      );
    await openIn(folder, { ...part, service: "http://y" }).close();
    await openIn(folder, { ...part, digests: [40] }).close();
    await list.close();
    await openIn(folder, part).close();
  });

  it("is free again after its process was killed", async () => {
    const folder = temporaryHome();
    await sendIn(folder, {}, 0);
    read(folder, "UPDATE lists SET runner = 7");
    const list = openIn(folder);
    expect(states(list, 0, 1)).toEqual(["created", "not_sent"]);
    await list.close();
    expect(readdirSync(folder).filter((name) => name.endsWith(".lock"))).toEqual([]);
  });
});

describe("the list that a run continues", () => {
  type Sent = Partial<WantedList> & { readonly rows: readonly number[] };

  /** Which of the lists is continued, and what else is known of the rows. */
  async function found(sent: readonly Sent[], wanted: Partial<WantedList>) {
    const folder = temporaryHome();
    for (const { rows, ...list } of sent) await sendIn(folder, list, ...rows);
    const claimed = claimIn(folder, { begun: "z", ...wanted });
    if (claimed.kind !== "claimed") return claimed.kind;
    const [open] = read(folder, "SELECT begun FROM lists WHERE runner IS NOT NULL");
    await claimed.list.close();
    return open?.["begun"];
  }

  const first = { begun: "a", rows: [0, 1] };

  it("has the same rows in the same order, whatever the name", async () => {
    for (const input of ["/orders.csv", "/renamed.csv", "-"])
      expect(await found([first], { input })).toBe("a");
    for (const digests of [
      [30, 20, 10],
      [10, 20],
      [10, 20, 30, 40],
    ])
      expect(await found([first], { input: "/renamed.csv", digests })).toBe("sent before");
  });

  it("is that of the file, if only rows without a link have changed", async () => {
    expect(await found([first], { digests: [10, 20, 99, 40] })).toBe("a");
    expect(await found([first], { digests: [10, 99, 30] })).toBe("changed");
    expect(await found([first], { digests: [10] })).toBe("changed");
    expect(await found([first], { digests: [10, 99, 30], repeats: "skip" })).toBe("z");
  });

  it("is an earlier one with the same rows, if those of the file have changed since", async () => {
    const next = { begun: "b", digests: [70, 80], repeats: "skip" as const, rows: [0, 1] };
    expect(await found([first, next], {})).toBe("a");
  });

  it("with --again is one that was begun with it, and that was interrupted", async () => {
    const again = { repeats: "send" } as const;
    const begun = { begun: "b", ...again };
    expect(await found([first], again)).toBe("z");
    expect(await found([first, { ...begun, rows: [0] }], again)).toBe("b");
    expect(await found([first, { ...begun, rows: [0, 1, 2] }], again)).toBe("z");
    const rest = { ...again, invalid: new Set([2]) };
    expect(await found([first, { ...begun, rows: [0, 1] }], rest)).toBe("z");
    expect(await found([first, { ...begun, rows: [0] }], rest)).toBe("b");
  });

  it("is refused with the rows that have changed or are missing", async () => {
    const folder = temporaryHome();
    const list = openIn(folder, { digests: [100, 101, 102, 103] });
    for (const row of [0, 1, 2, 3]) await list.intend(row);
    await list.settle(0, { status: "created", url: "https://x" });
    await list.settle(1, { status: "refused" });
    await list.settle(3, { status: "unknown" });
    await list.close();
    expect(claimIn(folder, { digests: [999, 998, 102] })).toEqual({
      kind: "changed",
      count: 2,
      first: [
        { row: 0, outcome: { status: "created", url: "https://x" } },
        { row: 3, outcome: { status: "unknown" } },
      ],
    });
  });
});

describe("the rows that were sent before", () => {
  it("are as many of the identical rows as were sent, those of the last list first", async () => {
    const folder = temporaryHome();
    await sendIn(folder, { begun: "a", input: "a", digests: [7, 7, 8, 9] }, 0, 1, 3);
    await sendIn(folder, { begun: "b", input: "b", digests: [7], repeats: "send" }, 0);
    await sendIn(folder, { begun: "c", input: "c", digests: [7], service: "http://y" }, 0);
    const wanted = { begun: "d", digests: [8, 7, 9, 7, 7, 7, 0] };
    expect(claimIn(folder, { ...wanted, repeats: "refuse" })).toMatchObject({
      kind: "sent before",
      count: 4,
      first: [{ row: 1 }, { row: 2 }, { row: 3 }, { row: 4 }],
    });
    const list = openIn(folder, { ...wanted, repeats: "skip" });
    expect([0, 1, 2, 3, 4, 5, 6].map((row) => list.outcome(row).url)).toEqual([
      undefined,
      "https://pay/b/0",
      "https://pay/a/3",
      "https://pay/a/0",
      "https://pay/a/1",
      undefined,
      undefined,
    ]);
    expect(list.outcome(1).status).toBe("sent_before");
    await list.close();
  });

  it("are found anew by each run", async () => {
    const folder = temporaryHome();
    await sendIn(folder, { begun: "a", input: "a", digests: [1] }, 0);
    const wanted = { begun: "b", input: "b", digests: [1, 2, 3], repeats: "skip" as const };
    await sendIn(folder, wanted, 2);
    await sendIn(folder, { begun: "c", input: "c", digests: [2] }, 0);
    const list = openIn(folder, wanted);
    expect(states(list, 0, 1, 2)).toEqual(["sent_before", "sent_before", "created"]);
    expect(list.outcome(1).url).toBe("https://pay/c/0");
    await list.close();
  });

  it("are found by their digests, however many others there are", () => {
    const memory = openMemory(temporaryHome());
    const plan = memory.database
      .prepare(
        "EXPLAIN QUERY PLAN SELECT * FROM rows JOIN lists ON lists.number = rows.list WHERE rows.digest = 7",
      )
      .all();
    expect(plan.map(({ detail }) => detail)).toEqual([
      "SEARCH rows USING INDEX rows_by_digest (digest=?)",
      "SEARCH lists USING INTEGER PRIMARY KEY (rowid=?)",
    ]);
    memory.database.close();
  });
});
