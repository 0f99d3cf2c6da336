/** The journals of a machine: which belong to a service, which one a run continues, and when their locks are released. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openJournals, type Journals } from "../../src/bulk/journals.ts";
import { NumberList } from "../../src/bulk/number-list.ts";
import { findOwnJournal, type Repeats } from "../../src/bulk/own-journal.ts";
import { SentBefore } from "../../src/bulk/sent-before.ts";
import { temporaryHome } from "../support/home.ts";

const SERVICE = "http://x";
const PROCESSES = { own: 1, isRunning: (pid: number) => pid === 2 };

const numbers = (...values: number[]): NumberList => {
  const list = new NumberList();
  for (const [index, value] of values.entries()) list.set(index, value);
  return list;
};
const ASKS = numbers(10, 20, 30);

interface Sent {
  readonly id: string;
  readonly input?: string;
  readonly asks?: NumberList;
  readonly repeats?: Repeats;
  readonly begun?: string;
}

const headingOf = ({ id, input = "/orders.csv", repeats = "refuse", begun = id }: Sent) => ({
  service: SERVICE,
  input,
  begun,
  repeats,
});

/** Sends these rows of a list; each gets its link. */
async function send(journals: Journals, sent: Sent, ...rows: number[]): Promise<string> {
  const { path, ledger, close } = journals.begin(sent.id, headingOf(sent), sent.asks ?? ASKS);
  for (const row of rows) {
    await ledger.intend(row);
    await ledger.settle(row, { status: "created", url: `https://pay/${sent.id}/${row}` });
  }
  await close();
  return path;
}

describe("the journals", () => {
  it("of a service are listed, the latest first", async () => {
    const journals = openJournals(temporaryHome(), PROCESSES);
    expect(journals.ofService(SERVICE)).toEqual([]);
    const first = await send(journals, { id: "a", begun: "2026-01-01" }, 0);
    const second = await send(journals, { id: "b", begun: "2026-01-02" }, 0);
    expect(journals.ofService(SERVICE).map(({ path }) => path)).toEqual([second, first]);
    expect(journals.ofService("http://y")).toEqual([]);
  });

  it("are removed if no row was sent", async () => {
    const folder = temporaryHome();
    const journals = openJournals(folder, PROCESSES);
    const { ledger, close } = journals.begin("a", headingOf({ id: "a" }), ASKS);
    await ledger.intend(0);
    await ledger.settle(0, { status: "refused" });
    await close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("are open for one run at a time", async () => {
    const folder = temporaryHome();
    const { path, ledger, close } = openJournals(folder, { ...PROCESSES, own: 2 }).begin(
      "a",
      headingOf({ id: "a" }),
      ASKS,
    );
    await ledger.intend(0);
    const other = openJournals(folder, PROCESSES);
    expect(() => other.open(path)).toThrow("sending this list");
    expect(other.ofService(SERVICE)[0]?.runner).toBe(2);
    await close();
    expect(other.ofService(SERVICE)[0]?.runner).toBeUndefined();
    await other.open(path).close();
  });

  it("leave no lock if they cannot be opened", async () => {
    const journals = openJournals(join(temporaryHome(), "bulk"), PROCESSES);
    const path = await send(journals, { id: "a" }, 0);
    rmSync(path);
    mkdirSync(path);
    for (const open of [() => send(journals, { id: "a" }), async () => journals.open(path)]) {
      await expect(open).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
      expect(existsSync(`${path}.lock`)).toBe(false);
    }
  });
});

describe("the journal that a run continues", () => {
  async function found(
    sent: readonly (Sent & { readonly rows: readonly number[] })[],
    wanted: { readonly input?: string; readonly asks?: NumberList; readonly repeats?: Repeats },
  ) {
    const journals = openJournals(temporaryHome(), PROCESSES);
    const paths = new Map<string, string>();
    for (const one of sent) paths.set(await send(journals, one, ...one.rows), one.id);
    const list = { input: "/orders.csv", asks: ASKS, invalid: new Set<number>(), repeats: "refuse" as const };
    const { own, changed } = findOwnJournal(journals.ofService(SERVICE), { ...list, ...wanted });
    return { own: own && paths.get(own.path), isChanged: changed !== undefined };
  }

  it("has the same rows in the same order, whatever the name", async () => {
    const sent = [{ id: "a", rows: [0, 1] }];
    for (const input of ["/orders.csv", "/renamed.csv", "-"])
      expect(await found(sent, { input })).toEqual({ own: "a", isChanged: false });
    for (const asks of [numbers(30, 20, 10), numbers(10, 20), numbers(10, 20, 30, 40)])
      expect(await found(sent, { input: "/renamed.csv", asks })).toEqual({
        own: undefined,
        isChanged: false,
      });
  });

  it("is that of the file, if only rows without a link have changed", async () => {
    const sent = [{ id: "a", rows: [0, 1] }];
    expect(await found(sent, { asks: numbers(10, 20, 99, 40) })).toEqual({ own: "a", isChanged: false });
    expect(await found(sent, { asks: numbers(10, 99, 30) })).toEqual({ own: undefined, isChanged: true });
  });

  it("with --again is one that was begun with it, and that was interrupted", async () => {
    const again = { repeats: "send" } as const;
    const first = { id: "a", rows: [0] };
    expect((await found([first], again)).own).toBeUndefined();
    expect((await found([first, { id: "b", ...again, rows: [0] }], again)).own).toBe("b");
    expect((await found([first, { id: "b", ...again, rows: [0, 1, 2] }], again)).own).toBeUndefined();
  });
});

describe("the rows that were sent before", () => {
  it("are as many of the identical rows as were sent", async () => {
    const journals = openJournals(temporaryHome(), PROCESSES);
    await send(journals, { id: "a", asks: numbers(7, 7, 8, 9) }, 0, 1, 3);
    await send(journals, { id: "b", asks: numbers(7) }, 0);
    const sent = new SentBefore(numbers(8, 7, 9, 7, 7, 7), (row) => row !== 1);
    for (const { read } of journals.ofService(SERVICE)) sent.add(read());
    expect(sent.count).toBe(4);
    expect(sent.first(10)).toEqual([2, 3, 4, 5]);
    expect(sent.first(1)).toEqual([2]);
    expect(sent.outcome(2)).toMatchObject({ url: "https://pay/a/3" });
    expect([3, 4, 5].map((row) => sent.outcome(row).url)).toEqual([
      "https://pay/b/0",
      "https://pay/a/0",
      "https://pay/a/1",
    ]);
  });
});
