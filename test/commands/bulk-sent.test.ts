/** Rows that `paylink bulk` has sent before, in process: in another order or list, changed, expired, and what holds them. */
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openMemoryToCheck } from "../../src/bulk/memory.ts";
import { openDatabase } from "../../src/store/database.ts";
import { interrupted, runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { startLinkService, type Fate } from "../support/link-service.ts";

const HEADER = "invoiceId,amount,customerName\n";
const rowsOf = (...numbers: number[]): string => numbers.map((row) => `I${row},${row + 1}.50,Ada\n`).join("");
const LIST = HEADER + rowsOf(0, 1, 2, 3);

interface Run {
  readonly name?: string;
  readonly flags?: readonly string[];
  readonly url?: string;
  readonly signal?: AbortSignal;
  readonly now?: () => Date;
}

/** A home, a service, and how to send a list. */
async function desk(fateOf: (before: number) => Fate = () => "create") {
  const home = temporaryHome();
  const service = await startLinkService(({ before }) => fateOf(before));
  return {
    home,
    service,
    folder: join(home, "data", "bulk"),
    database: join(home, "data", "bulk", "bulk.db"),
    links: () => [...service.links.values()],
    send: (text: string, { name = "orders.csv", flags = [], url = service.url, signal, now }: Run = {}) => {
      const path = name === "-" ? "-" : join(home, name);
      if (name !== "-") writeFileSync(path, text);
      const args = ["bulk", path, "--currency", "EUR", "-o", join(home, "out.csv"), ...flags];
      const env = { ...service.env, PAYLINK_BASE_URL: url };
      return runCommand(args, { home, env, stdin: text, ...(signal && { signal }), ...(now && { now }) });
    },
    results: () => readFileSync(join(home, "out.csv"), "utf8").trim().split("\n").slice(1),
  };
}

describe("a row that was sent", () => {
  it.each([
    ["of the same list", {}, LIST, 0],
    ["renamed", { name: "other.csv" }, LIST, 0],
    ["from stdin", { name: "-" }, LIST, 0],
    ["sorted", { name: "other.csv" }, HEADER + rowsOf(3, 2, 1, 0), 0],
    ["a part of it", { name: "other.csv" }, HEADER + rowsOf(1, 2), 0],
    ["grown", { name: "other.csv" }, HEADER + rowsOf(9, 0, 1, 2, 3), 1],
    ["written otherwise", {}, "customerName;Amount;invoice id\nEve;9;I9\nAda;1.50;I0\n", 1],
    ["with a default as a column", {}, "currency,amount,customerName,invoiceId\neur,1.5,Ada,I0\n", 0],
    ["in JSON lines", { name: "a.jsonl" }, '{"invoiceId":"I0","amount":1.5,"customerName":"Ada"}\n', 0],
  ])("is not sent again: %s", async (_, run, text, created) => {
    const { send, links } = await desk();
    await send(LIST);
    const again = await send(text, run);
    expect(again.exit).toBe(0);
    const rows = text.trim().split("\n").length - (text.startsWith("{") ? 0 : 1);
    expect(again.stderr).toContain(
      created === 0
        ? "Every row was sent before, so nothing is sent"
        : `${rows - created} of ${rows} rows ${rows - created === 1 ? "was" : "were"} sent before: `,
    );
    expect(links()).toEqual(Array.from({ length: 4 + created }, () => 1));
  });

  it("keeps its link in the results, in the order of the list", async () => {
    const { send, results } = await desk();
    await send(LIST);
    await send(HEADER + rowsOf(9, 1, 0));
    expect(results().map((line) => line.split(",").slice(3))).toEqual([
      ["I9.1", "https://pay.example/pay?r=I9.1", "created", ""],
      ["I1.1", "https://pay.example/pay?r=I1.1", "created", ""],
      ["I0.1", "https://pay.example/pay?r=I0.1", "created", ""],
    ]);
  });

  it("is known at every spelling of the service's address, and at no other service", async () => {
    const { send, service, links } = await desk();
    await send(LIST);
    const { port } = new URL(service.url);
    const spellings = [`${service.url}/`, `HTTP://127.0.0.1:${port}`, `http://LocalHost:${port}/`];
    for (const url of spellings)
      expect((await send(LIST, { url })).stdout).toContain("4 rows: 4 sent before");
    expect(links()).toEqual([1, 1, 1, 1]);
    const other = await startLinkService(() => "create");
    expect((await send(LIST, { url: other.url })).stdout).toContain("4 rows: 4 created");
  });

  it("is sent as often as the list has it", async () => {
    const { send, results, service } = await desk();
    const flags = ["--allow-duplicates"];
    await send(HEADER + rowsOf(0, 1, 1), { flags });
    const run = await send(HEADER + rowsOf(1, 5, 1, 1, 0), { flags });
    expect(run.stdout).toContain("5 rows: 2 created, 3 sent before");
    expect(service.arrivals.toSorted()).toEqual(["I0", "I1", "I1", "I1", "I5"]);
    expect(new Set(results().map((line) => line.split(",")[3]))).toEqual(
      new Set(["I1.1", "I5.1", "I1.2", "I1.3", "I0.1"]),
    );
  });

  it("is another row with another expiry or callback, and the same at another time", async () => {
    const { send, links } = await desk();
    const list = "amount,customerName\n1,Ada\n";
    const at = (hour: number) => () => new Date(Date.UTC(2026, 0, 31, hour));
    await send(list, { flags: ["--expires", "1d"], now: at(1) });
    await send(list, { flags: ["--expires", "1d"], now: at(5) });
    expect(links()).toEqual([1]);
    await send(list, { flags: ["--expires", "2d"], now: at(5) });
    await send(list, { flags: ["--expires", "1d", "--callback-url", "https://x.example/"], now: at(5) });
    expect(links()).toEqual([3]);
  });

  it("is forgotten once its link has expired", async () => {
    const { send, links, database, folder } = await desk();
    const [flags, noon] = [["--expires", "1h"], Date.UTC(2026, 0, 31, 12)];
    const at = (minutes: number) => ({ flags, now: () => new Date(noon + minutes * 60_000) });
    await send(LIST, at(0));
    expect((await send(LIST, at(59))).stdout).toContain("4 sent before");
    expect((await send(LIST, at(60))).stdout).toContain("4 created");
    expect(links()).toEqual([2, 2, 2, 2]);
    await send("amount,customerName\n1,Ada\n", at(200));
    expect(existsSync(database)).toBe(true);
    const memory = openMemoryToCheck(folder);
    expect(memory.prepare("SELECT count(*) AS rows FROM rows").get()).toEqual({ rows: 1 });
    memory.close();
  });
});

describe("an order number that was sent with other values", () => {
  it("stops the list before anything is sent, and names both rows and what differs", async () => {
    const { send, service } = await desk();
    await send(LIST);
    const changed = `${HEADER}${rowsOf(7)}I1,20,Bob\n${rowsOf(3)}`;
    const { exit, stderr } = await send(changed, { flags: ["--skip-invalid"] });
    expect(exit).toBe(2);
    expect(stderr).toContain("Some order numbers were sent before with other values. Nothing was sent.");
    expect(stderr).toMatch(
      /line 3 {2}I1: amount 20, was 2\.50; customerName Bob, was Ada\. The row sent on 2\d{3}-.* has the link https:\/\/pay\.example\/pay\?r=I1\.1\n/,
    );
    expect(service.arrivals).toHaveLength(4);
    expect((await send(changed, { flags: ["--dry-run"] })).exit).toBe(2);
    expect((await send(changed, { flags: ["--again", "--yes"] })).exit).toBe(0);
    expect(service.arrivals.slice(4).toSorted()).toEqual(["I1", "I3", "I7"]);
  });

  it("names ten rows; one of an unknown outcome may have a link", async () => {
    const { send } = await desk((before) => (before === 0 ? "created and reset" : "create"));
    const many = Array.from({ length: 15 }, (_, row) => row);
    await send(HEADER + rowsOf(...many), { flags: ["--concurrency", "1"] });
    const { stderr } = await send(HEADER + rowsOf(...many).replaceAll("Ada", "Eve"));
    expect(stderr).toMatch(/line 2 {3}I0: customerName Eve, was Ada\. The row sent on .* may have a link\n/);
    expect(stderr.match(/was Ada/g)).toHaveLength(10);
  });

  it("is free again after the row was refused, for the same values too", async () => {
    for (const again of [rowsOf(0), "I0,9,Ada\n"]) {
      const { send, links } = await desk((before) => (before === 0 ? { status: 422 } : "create"));
      await send(HEADER + rowsOf(0));
      expect((await send(HEADER + again)).exit).toBe(0);
      expect(links()).toEqual([1]);
    }
  });
});

describe("--again", () => {
  it("needs a yes where nobody can be asked, if it creates second links", async () => {
    const { send, links } = await desk();
    expect((await send(LIST, { flags: ["--again"] })).exit).toBe(0);
    const refused = await send(LIST + rowsOf(4), { flags: ["--again"] });
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain("--again would create 4 second links. Nothing was sent.");
    expect(links()).toEqual([1, 1, 1, 1]);
    expect((await send(LIST + rowsOf(4), { flags: ["--again", "--yes"] })).exit).toBe(0);
    expect(links()).toEqual([2, 2, 2, 2, 1]);
  });

  it("sends each row once, however often the run is interrupted", async () => {
    const control = new AbortController();
    const { send, links, service } = await desk((before) => {
      if (before === 5) control.abort(interrupted());
      return "create";
    });
    await send(LIST);
    const again = ["--again", "--yes"];
    const slow = [...again, "--concurrency", "1", "--rate", "1"];
    expect((await send(LIST, { flags: slow, signal: control.signal })).exit).toBe(130);
    expect(service.arrivals).toHaveLength(6);
    // Without the flag, every row still has a link.
    expect((await send(LIST)).stdout).toContain("4 sent before");
    const rest = await send(LIST, { flags: again });
    expect(rest.stderr).toContain("An earlier run with --again was stopped. This one sends the rest of it.");
    expect(links()).toEqual([2, 2, 2, 2]);
    expect((await send(LIST)).stdout).toContain("4 sent before");
    expect((await send(LIST, { flags: again })).exit).toBe(0);
    expect(links()).toEqual([3, 3, 3, 3]);
  });

  it.each<[string, Fate, number]>([
    ["stops", "create", 130],
    ["is refused", { status: 422 }, 4],
  ])("leaves the first links known where it %s", async (_, fate, exit) => {
    const control = new AbortController();
    const rows = Array.from({ length: 40 }, (_, row) => row);
    const list = HEADER + rowsOf(...rows);
    const { send, service } = await desk((before) => {
      if (before === 45 && exit === 130) control.abort(interrupted());
      return before < 40 ? "create" : fate;
    });
    await send(list);
    const again = await send(list, { flags: ["--again", "--yes"], signal: control.signal });
    expect(again.exit).toBe(exit);
    const { length } = service.arrivals;
    // Without the flag, every row still has a link.
    expect((await send(list)).stdout).toContain("40 rows: 40 sent before");
    expect(service.arrivals).toHaveLength(length);
  });

  it("after --retry-unknown sends every row", async () => {
    const { send, links } = await desk((before) => (before === 0 ? "created and reset" : "create"));
    await send(LIST, { flags: ["--concurrency", "1"] });
    const control = new AbortController();
    control.abort(interrupted());
    await send(LIST, { flags: ["--retry-unknown"], signal: control.signal });
    await send(LIST, { flags: ["--again", "--yes"] });
    expect(links()).toEqual([2, 2, 2, 2]);
  });
});

describe("the memory of what was sent", () => {
  it.each<[string, (path: string) => void, RegExp]>([
    ["lost", (path) => rmSync(path), /bulk\.db is missing or empty\. Nothing was sent\./],
    ["emptied", (path) => writeFileSync(path, ""), /bulk\.db is missing or empty\. Nothing was sent\./],
    ["replaced by an empty database", replaceByEmpty, /bulk\.db is empty\. Nothing was sent\./],
    [
      "damaged",
      (path) => writeFileSync(path, "x".repeat(9000)),
      /bulk\.db is damaged: .* Nothing was sent\./,
    ],
    ["damaged inside", damageInside, /bulk\.db is damaged: .* Nothing was sent\./],
  ])("stops every run once it is %s, and says what to restore", async (_, damage, words) => {
    const { send, service, database } = await desk();
    await send(LIST);
    writeLog(database);
    damage(database);
    for (const flags of [[], ["--dry-run"], ["--again", "--yes"]]) {
      const { exit, stderr } = await send(LIST, { flags });
      expect([exit, stderr]).toEqual([2, expect.stringMatching(words)]);
      expect(stderr).toContain("restore it from a backup");
    }
    expect(service.arrivals).toHaveLength(4);
  });

  it("is as it was once it is restored", async () => {
    const { send, database } = await desk();
    await send(LIST);
    writeLog(database);
    renameSync(database, `${database}.saved`);
    expect((await send(LIST)).exit).toBe(2);
    renameSync(`${database}.saved`, database);
    expect((await send(LIST)).stdout).toContain("4 sent before");
  });

  it("leaves no trace of a dry run", async () => {
    const { send, folder } = await desk();
    await send(LIST, { flags: ["--dry-run"] });
    expect(existsSync(folder)).toBe(false);
  });

  it("ends the run when it is removed", async () => {
    let remove = (): void => undefined;
    const { send, service, database, results } = await desk((before) => {
      if (before === 1) remove();
      return "create";
    });
    remove = () => rmSync(database);
    const { exit, stdout, stderr } = await send(LIST, { flags: ["--concurrency", "1"] });
    expect(exit).toBe(2);
    expect(stderr).toContain("was removed or replaced during this run");
    expect(service.arrivals).toEqual(["I0", "I1"]);
    // Nothing that the service answered is lost.
    expect(stdout).toMatch(/^4 rows: 2 created, 2 not sent\n2 links: EUR 4\.00\n/);
    expect(results()[1]).toMatch(/,I1\.1,https:\S+,created,$/);
    expect(stderr).toContain("These results have them: keep a copy.");
  });
});

/** Leaves the database in one file: the driver of Node 20 does so only when the process ends. */
function writeLog(path: string): void {
  const database = openDatabase(path, "");
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  for (const log of ["-wal", "-shm"]) rmSync(path + log, { force: true });
}

/** With the size of a database, and nothing in it. */
function replaceByEmpty(path: string): void {
  rmSync(path);
  openDatabase(path, "", { version: 0 }).close();
  expect(statSync(path).size).toBeGreaterThan(0);
}

/** The pages after the first. */
function damageInside(path: string): void {
  const bytes = readFileSync(path);
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 7)]));
}
