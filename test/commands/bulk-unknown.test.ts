/** Rows of `paylink bulk` whose outcome the memory does not know, in process: what the results and the service know of them. */
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/store/sqlite/open.ts";
import { bulkLists, listOfRows } from "../support/bulk-list.ts";
import { interrupted, runCommand } from "../support/context.ts";
import { startLinkService } from "../support/link-service.ts";

const listOf = bulkLists(runCommand);
const AGAIN = ["--again", "unknown", "--yes"] as const;
const memoryOf = (home: string): string => join(home, "data", "bulk", "bulk.db");

/** The memory that a run leaves which can write no more: its requests were sent, and their outcomes are in the results only. */
function forgetOutcomes(home: string, lease: number): void {
  const database = openDatabase(memoryOf(home), [""]);
  database.exec(
    `UPDATE sent_rows SET state = 'claimed', id = NULL, url = NULL, lease = ${Date.now() + lease}`,
  );
  database.close();
  // The mark was written after them.
  rmSync(`${memoryOf(home)}.mark`);
}

describe("a run that begins right after one whose memory was full", () => {
  it("keeps links that only the results file has", async () => {
    const service = await startLinkService(() => "create");
    const list = listOf(listOfRows(4), service);
    await list.send();
    const links = list.results().map((record) => record.slice(4, 6));
    forgetOutcomes(list.home, 700);
    for (let runs = 0; runs < 2; runs++) {
      expect(await list.send()).toMatchObject({
        exit: 0,
        stdout: expect.stringContaining("4 rows: 4 sent before"),
      });
      expect(list.results().map((record) => record.slice(4, 6))).toEqual(links);
    }
    expect(service.arrivals).toHaveLength(4);
  });

  it("says what a row was sent with that was corrected since", async () => {
    const service = await startLinkService(() => "create");
    const list = listOf("invoiceId,amount,customerName\nI0,1.50,Ada\n", service);
    await list.send();
    forgetOutcomes(list.home, 700);
    const corrected = listOf("invoiceId,amount,customerName\nI0,9,Ada\n", service, list.home);
    const run = await corrected.send("--yes");
    expect(run).toMatchObject({ exit: 4, stdout: expect.stringContaining("1 row: 1 left as before") });
    expect(run.stderr).toContain("Another run has sent it meanwhile, for EUR 1.50");
    expect(list.results()[1]).toContain("I0.1");
    expect(service.arrivals).toHaveLength(1);
  });

  it("keeps them, and claims only what it knows, if it is stopped while it waits", async () => {
    const service = await startLinkService(() => "create");
    const list = listOf(listOfRows(2), service);
    await list.send();
    const results = list.results();
    forgetOutcomes(list.home, 60_000);
    const stopped = async (output: string) => {
      const control = new AbortController();
      setTimeout(() => control.abort(interrupted()), 600);
      const { home, env, args } = list;
      return runCommand([...args, "-o", join(home, output)], { home, env, signal: control.signal });
    };
    expect((await stopped("orders.links.csv")).exit).toBe(130);
    expect(list.results().map(([invoice, , , , id]) => [invoice, id])).toEqual(
      results.map(([invoice, , , , id]) => [invoice, id]),
    );
    const moved = join(list.home, "moved.csv");
    copyFileSync(list.path, moved);
    list.args[1] = moved;
    const { stderr } = await stopped("moved.links.csv");
    expect(stderr).not.toContain("an earlier run ended");
  });
});

describe("--again unknown", () => {
  it("sends a row whose run ended while the clock was a year ahead, if the service has no link of it", async () => {
    const service = await startLinkService(({ before }) => (before === 0 ? "reset" : "create"));
    const list = listOf(listOfRows(1), service);
    await list.send();
    forgetOutcomes(list.home, 365 * 86_400_000);
    expect(await list.send()).toMatchObject({ exit: 6, stdout: expect.stringContaining("1 row: 1 unknown") });
    expect((await list.send(...AGAIN)).stdout).toContain("1 row: 1 created");
    expect([...service.links.values()]).toEqual([1]);
  });

  const TWICE = "invoiceId,amount,customerName\nI0,1.50,Ada\nI0,1.50,Ada\n";

  it.each([
    ["neither", ["reset", "reset"], 2],
    ["one", ["created and reset", "reset"], 1],
    ["the other", ["reset", "created and reset"], 1],
    ["both", ["created and reset", "created and reset"], 0],
  ] as const)("finds the links of both rows with one order number: %s", async (_, fates, sent) => {
    const service = await startLinkService(({ before }) => fates[before] ?? "create");
    const list = listOf(TWICE, service);
    expect((await list.send("--allow-duplicates", "--concurrency", "1")).exit).toBe(6);
    expect(await list.send("--allow-duplicates", ...AGAIN)).toMatchObject({ exit: 0 });
    expect(service.arrivals).toHaveLength(2 + sent);
    expect(service.created).toHaveLength(2);
    const { stdout } = await list.send("--allow-duplicates", ...AGAIN);
    expect(stdout).toContain("2 rows: 2 sent before");
    expect(new Set(list.results().map((record) => record[3]))).toEqual(new Set(["id", "I0.1", "I0.2"]));
  });

  it("finds the first of them if the second has its link", async () => {
    const service = await startLinkService(({ before }) => (before === 0 ? "reset" : "create"));
    const list = listOf(TWICE, service);
    expect((await list.send("--allow-duplicates", "--concurrency", "1")).exit).toBe(6);
    expect((await list.send("--allow-duplicates", ...AGAIN)).stdout).toContain("1 created, 1 sent before");
    expect(service.created).toHaveLength(2);
  });

  it("leaves both if the service has a link that belongs to neither", async () => {
    const service = await startLinkService(({ before }) =>
      before === 0 ? "created and reset" : before === 1 ? "reset" : "create",
    );
    const list = listOf(TWICE, service);
    await list.send("--allow-duplicates", "--concurrency", "1");
    // Somebody made another link of that order by hand.
    service.created.push({
      ...service.created[0],
      id: "by-hand",
      invoiceId: "I0",
      status: "active",
      json: { ...service.created[0]?.json, id: "by-hand", amount: 7 },
    });
    const run = await list.send("--allow-duplicates", ...AGAIN);
    expect(run).toMatchObject({
      exit: 4,
      stdout: expect.stringContaining("1 sent before, 1 left as before"),
    });
    expect(service.arrivals).toHaveLength(2);
  });

  it("remembers a link that it found with another amount, and leaves the row", async () => {
    const service = await startLinkService(({ before }) => (before === 0 ? "created and reset" : "create"));
    const list = listOf("invoiceId,amount,customerName\nI0,1.50,Ada\n", service);
    expect((await list.send()).exit).toBe(6);
    const corrected = listOf("invoiceId,amount,customerName\nI0,9,Ada\n", service, list.home);
    const refused = await corrected.send(...AGAIN);
    expect(refused.exit).toBe(4);
    expect(refused.stderr).toContain(
      "line 2, I0  left  Its link I0.1 (EUR 1.50) can still be paid, and asks for another payment: --again changed cancels it first.",
    );
    expect(await corrected.send("--again", "changed", "--yes")).toMatchObject({ exit: 0 });
    expect(service.created.map(({ id, status }) => [id, status])).toEqual([
      ["I0.1", "cancelled"],
      ["I0.2", "active"],
    ]);
  });
});
