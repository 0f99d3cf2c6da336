/** Results of `paylink bulk` that people have edited and programs have saved, in process: the links in them still count. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { startLinkService, type Fate } from "../support/link-service.ts";

const LIST = "invoiceId,amount,customerName\nA-1,1,Ada\n,2,Bob\n";

/** The results of the list, and how another machine sends it, with results beside it or as the list. */
async function sentOnce(fate: Fate = "create", list = LIST) {
  const service = await startLinkService(() => fate);
  const send = async (text: string | Uint8Array, beside?: string | Uint8Array) => {
    const home = temporaryHome();
    mkdirSync(home, { recursive: true });
    const [path, results] = [join(home, "orders.csv"), join(home, "orders.links.csv")];
    writeFileSync(path, text);
    if (beside !== undefined) writeFileSync(results, beside);
    const ran = await runCommand(["bulk", path, "--currency", "EUR"], { home, env: service.env });
    return { ...ran, results: () => readFileSync(results, "utf8") };
  };
  const results = (await send(list)).results();
  return { service, send, results };
}

/** Without some columns. No cell has a comma. */
function without(text: string, names: readonly string[]): string {
  const rows = text.trim().split("\n");
  const header = rows[0]?.split(",") ?? [];
  const shorter = (row: string): string =>
    row
      .split(",")
      .filter((_, place) => !names.includes(header[place] ?? ""))
      .join(",");
  return `${rows.map(shorter).join("\n")}\n`;
}

const SENT = { exit: 0, stdout: expect.stringContaining("2 rows: 2 sent before") };

describe("results without a column that somebody deleted", () => {
  it.each([
    [["error"]],
    [["status"]],
    [["url"]],
    [["id"]],
    [["status", "error"]],
    [["id", "url"]],
    [["id", "url", "error"]],
    [["service"]],
  ])("have the links of the rows: %j", async (names) => {
    const { service, send, results } = await sentOnce();
    expect(await send(without(results, names))).toMatchObject(SENT);
    if (!names.includes("status") && !names.includes("service"))
      expect(await send(LIST, without(results, names))).toMatchObject(SENT);
    expect(service.arrivals).toHaveLength(2);
  });

  it.each(["status", "service"])("are not overwritten without their %s, and say so", async (name) => {
    const { service, send, results } = await sentOnce();
    const { exit, stderr } = await send(LIST, without(results, [name]));
    expect([exit, stderr]).toEqual([2, expect.stringContaining("does not hold results of bulk")]);
    expect(service.arrivals).toHaveLength(2);
  });

  it("have a link, or none, as the row says", async () => {
    const { service, send, results } = await sentOnce();
    // The second row becomes another order, as the hint for misplaced links says.
    const cleared = results.replace(/^(,2,Bob),[^,]*,[^,]*,created/m, "$1,,,");
    expect((await send(cleared)).stdout).toContain("2 rows: 1 created, 1 sent before");
    expect(service.arrivals).toHaveLength(3);
  });

  it("are no results where the merchant has columns of these names", async () => {
    const list = "id,service,status,amount,customerName\n7,Haircut,open,1,Ada\n";
    const { service, send, results } = await sentOnce("create", list);
    expect(results).toMatch(
      /^id,service,status,amount,customerName,link_id,url,link_status,error,link_service\n7,Haircut,open,1,Ada,/,
    );
    expect((await send(results)).stdout).toContain("1 row: 1 sent before");
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("results that a program has saved otherwise", () => {
  it("have unknown rows in any case", async () => {
    const { service, send, results } = await sentOnce("created and reset");
    const { exit, stdout } = await send(results.replaceAll("unknown", "Unknown"));
    // The link of the row with an order number is found at the service.
    expect([exit, stdout]).toEqual([6, expect.stringContaining("2 rows: 1 sent before, 1 unknown")]);
    expect(service.arrivals).toHaveLength(2);
  });

  it.each([
    ["a quote is open", (text: string) => text.replace("Bob", '"Bob'), "is not valid CSV from line 3 on"],
    [
      "a cell has a quote in it",
      (text: string) => text.replace("Bob", 'B"ob'),
      "is not valid CSV from line 3 on",
    ],
    [
      "their text is in Latin-1",
      (text: string) => Buffer.from(text.replace("Bob", "B\u00F6b"), "latin1"),
      "is not in UTF-8",
    ],
  ])("stop the list beside them where they are damaged: %s", async (_, damage, words) => {
    const { service, send, results } = await sentOnce();
    const { exit, stderr } = await send(LIST, damage(results));
    expect(exit).toBe(2);
    expect(stderr).toMatch(/The results in \S+orders\.links\.csv cannot be read: /);
    expect(stderr).toContain(words);
    expect(stderr).toContain("Nothing was sent.");
    expect(stderr).toContain("Correct that file, or move it away: then the links in it do not count.");
    expect(service.arrivals).toHaveLength(2);
  });

  it("are known as results, whatever the length of a row", async () => {
    const service = await startLinkService(() => "create");
    const home = temporaryHome();
    const path = join(home, "orders.csv");
    mkdirSync(home, { recursive: true });
    writeFileSync(path, `amount,customerName,own\n1,Ada,${"n".repeat(75_000)}\n`);
    const send = () => runCommand(["bulk", path, "--currency", "EUR"], { home, env: service.env });
    expect((await send()).exit).toBe(0);
    expect(await send()).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 row: 1 sent before") });
  });

  it("have the link of a row whose last cell was cut off", async () => {
    const { service, send, results } = await sentOnce();
    expect(await send(results.slice(0, results.lastIndexOf(",http")))).toMatchObject(SENT);
    expect(service.arrivals).toHaveLength(2);
  });

  it("are ignored, with a warning, where they are those of a list with other columns", async () => {
    const { send, results } = await sentOnce();
    const { exit, stderr } = await send(LIST, results.replace("invoiceId", "Total"));
    expect([exit, stderr]).toEqual([
      0,
      expect.stringContaining("cannot be read, and are ignored: The columns cannot be read"),
    ]);
  });
});
