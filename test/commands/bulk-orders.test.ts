/** Lists whose orders have links that the memory of `paylink bulk` does not know, in process: no second payable link is made unasked. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines } from "../support/json-lines.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { startLinkService, type Fate } from "../support/link-service.ts";

const HEADER = "invoiceId,customerName,amount\n";

/** A service, and machines that share nothing but it. */
async function desk(
  fateOf: (before: number) => Fate = () => "create",
  options?: Parameters<typeof startLinkService>[1],
) {
  const service = await startLinkService(({ before }) => fateOf(before), options);
  const machine = () => {
    const home = temporaryHome();
    mkdirSync(home, { recursive: true });
    const run = (...args: string[]) => runCommand(args, { home, env: service.env });
    const bulk = (text: string, ...flags: string[]) => {
      writeFileSync(join(home, "list.csv"), text);
      return run("bulk", join(home, "list.csv"), "--currency", "EUR", "--force", ...flags);
    };
    const results = () => readFileSync(join(home, "list.links.csv"), "utf8").trim().split("\n").slice(1);
    return { home, run, bulk, results };
  };
  const create = (number: string, amount: string) =>
    machine().run(
      "create",
      "--amount",
      amount,
      "--currency",
      "EUR",
      "--invoice-id",
      number,
      "--customer-name",
      "Ada",
    );
  const mark = (id: string, status: string): void => {
    const link = service.created.find((one) => one.id === id);
    if (link === undefined) throw new Error(`There is no link ${id}.`);
    link.status = status;
  };
  /** Those that can be paid: the order, and the amount. */
  const payable = () =>
    service.created
      .filter(({ status }) => !["paid", "cancelled", "expired"].includes(status))
      .map(({ invoiceId, json }) => `${invoiceId} ${String(json["amount"])}`)
      .toSorted();
  return { service, machine, create, mark, payable };
}

describe("an order number that is nearly another one", () => {
  it("is another order, and named with the row or the link that it may be meant for", async () => {
    const { machine, create, payable } = await desk();
    await create("EN-3", "20");
    await create("RE_2026_0007", "30");
    const list = `${HEADER}en-3,Ada,20\nRE-2026-7,Bob,30\nB-1,Cy,5\nb.01,Cy,5\nB-11,Di,5\n`;
    const { bulk } = machine();
    const { exit, stderr } = await bulk(list);
    expect(exit).toBe(0);
    expect(stderr).toContain(
      "3 order numbers are nearly that of another row or link: en-3 (EN-3), RE-2026-7 (RE_2026_0007), b.01 (B-1). Each is an order of its own, and gets a link of its own.",
    );
    expect(payable()).toHaveLength(7);
    // What is not sent again is not named again.
    expect((await bulk(list)).stderr).not.toContain("nearly");
  });

  it("is not its own link, another spelling of it, or one of another terminal", async () => {
    const { machine, create } = await desk();
    await create("EN-3", "20");
    const { bulk } = machine();
    const rows = `EN-3,Ada,20,T-1\nen-3,Ada,20,T-2\nEN-4,Bob,5,T-1\n--,Cy,5,T-1\n//,Cy,5,T-1\n`;
    const { stderr } = await bulk(`invoiceId,customerName,amount,terminalId\n${rows}`, "--dry-run");
    expect(stderr).not.toContain("nearly");
  });
});

describe("an order with a link that somebody else has made", () => {
  it.each(["ended", "expired", "unknown"])("is left by --again %s, and its link is named", async (form) => {
    const { machine, create, mark, payable } = await desk();
    const { bulk, results } = machine();
    await bulk(`${HEADER}EN-1,Ada,20.00\nEN-2,Bob,30\n`);
    mark("EN-1.1", form === "expired" ? "expired" : "cancelled");
    await create("EN-1", "18");
    const again = await bulk(`${HEADER}EN-1,Ada,20.00\nEN-2,Bob,30\n`, "--again", form, "--yes");
    expect(again.exit).toBe(4);
    expect(again.stderr).toContain("line 2, EN-1  left  Its link EN-1.2 (EUR 18.00) can still be paid");
    expect(results()[0]).toContain("EN-1.2");
    expect(payable()).toEqual(["EN-1 18", "EN-2 30"]);
    // Asked for, it is corrected.
    await bulk(`${HEADER}EN-1,Ada,20.00\nEN-2,Bob,30\n`, "--again", "changed", "--yes");
    expect(payable()).toEqual(["EN-1 20", "EN-2 30"]);
  });

  it.each([
    ["the same amount", "20", 0, "1 sent before", ["EN-1 20", "EN-2 5"]],
    ["another amount", "18", 2, "", ["EN-1 18"]],
  ])("counts on a machine that knows nothing of it: %s", async (_, amount, exit, tally, open) => {
    const { machine, create, payable } = await desk();
    await create("EN-1", amount);
    const run = await machine().bulk(`${HEADER}EN-1,Ada,20.00\nEN-2,Bob,5\n`);
    expect([run.exit, run.stdout]).toEqual([exit, expect.stringContaining(tally)]);
    expect(run.stderr).toContain(
      exit === 0 ? "EN-1: EN-1.1 (EUR 20.00), active" : "was EUR 18.00. It has the link",
    );
    expect(payable()).toEqual(open);
  });

  it("counts where it is paid, cancelled, or spelled otherwise", async () => {
    const { machine, create, mark, service } = await desk();
    for (const number of ["1", "2", "3"]) await create(number, "20");
    mark("1.1", "paid");
    mark("2.1", "cancelled");
    const seen = await machine().bulk(`${HEADER}1,Ada,20\n2,Ada,20\n`);
    expect(seen.stderr).toContain("Every row was sent before, so nothing is sent: 1 paid, 1 cancelled.");
    const respelled = await machine().bulk(`${HEADER}003,Ada,20\n`);
    expect([respelled.exit, respelled.stderr]).toEqual([
      2,
      expect.stringContaining("has the order number 003, and 3 was sent before"),
    ]);
    expect(service.arrivals).toHaveLength(3);
  });

  it("is named in the preview and in the summary, with what was read", async () => {
    const { machine, create } = await desk();
    await create("EN-1", "20");
    await create("OTHER", "20");
    const { bulk } = machine();
    const { stderr } = await bulk(`${HEADER}EN-1,Ada,20\n`, "--dry-run");
    expect(stderr).toMatch(/^2 links of the service read, created since \d{4}-\d\d-\d\d .+\.$/m);
    expect(stderr).toContain("1 row has a link that a colleague or another program made.");
    const summary = await bulk(`${HEADER}EN-1,Ada,20\n`, "--dry-run", "--json");
    expect(JSON.parse(summary.stdout)).toMatchObject({ read: 2, elsewhere: 1, since: expect.any(String) });
    // The memory alone does not know them.
    const trusting = await bulk(`${HEADER}EN-1,Ada,20\n`, "--dry-run", "--json", "--look-back", "0");
    expect(JSON.parse(trusting.stdout)).toMatchObject({ read: 0, elsewhere: 0, since: null, links: 1 });
  });

  it("is no second payment where it only verified a card", async () => {
    const { machine, payable } = await desk();
    await machine().run(
      "create",
      "--subscription",
      "--currency",
      "EUR",
      "--invoice-id",
      "V-1",
      "--customer-name",
      "Ada",
    );
    expect((await machine().bulk(`${HEADER}V-1,Ada,20\n`)).stdout).toContain("1 row: 1 created");
    expect(payable()).toEqual(["V-1 0", "V-1 20"]);
  });
});

describe("a correction that stops half way", () => {
  it("claims no more than that a customer may have no link, where the outcome is not known", async () => {
    const { machine } = await desk((before) => (before === 1 ? "created and reset" : "create"));
    const { bulk, results } = machine();
    await bulk(`${HEADER}RE-1,Ada,10\n`);
    const half = await bulk(`${HEADER}RE-1,Ada,12\n`, "--again", "changed", "--yes");
    expect(half.exit).toBe(6);
    expect(half.stderr).not.toContain("has no link");
    expect(half.stderr).toMatch(/1 customer may have no link that can be paid now, since .*: RE-1\./);
    expect(results()[0]).toContain(
      "This customer may have no link that can be paid now: RE-1.1 was cancelled.",
    );
  });

  it("names those of whom that is not known apart in JSON", async () => {
    const { machine } = await desk((before) => (before === 1 ? "created and reset" : "create"));
    const { bulk } = machine();
    await bulk(`${HEADER}RE-1,Ada,10\n`);
    const half = await bulk(`${HEADER}RE-1,Ada,12\n`, "--again", "changed", "--yes", "--json");
    const { error } = JSON.parse(half.stderr);
    expect(error.details).toMatchObject({ unknown: 1, perhaps_without_link: ["RE-1"] });
    expect(error.details).not.toHaveProperty("without_link");
    expect(jsonLines(half.stdout).at(-1)).toMatchObject({
      without_link: [],
      perhaps_without_link: ["RE-1"],
    });
  });

  it("says who has no link now: in the last lines, in the results, and in the next run", async () => {
    const { machine, payable } = await desk((before) => (before === 2 ? { status: 400 } : "create"));
    const { bulk, results } = machine();
    await bulk(`${HEADER}RE-1,Ada,10\nRE-2,Bob,5\n`);
    const half = await bulk(`${HEADER}RE-1,Ada,12\nRE-2,Bob,5\n`, "--again", "changed", "--yes");
    expect(half.exit).toBe(4);
    expect(half.stderr).toContain(
      "1 customer has no link that can be paid now, since the earlier links have ended: RE-1.",
    );
    expect(results()[0]).toContain("This customer has no link that can be paid now: RE-1.1 was cancelled.");
    const next = await bulk(`${HEADER}RE-1,Ada,12\nRE-2,Bob,5\n`);
    expect(next.exit).toBe(2);
    expect(next.stderr).toContain("is cancelled: this customer has no link that can be paid");
    await bulk(`${HEADER}RE-1,Ada,12\nRE-2,Bob,5\n`, "--again", "changed", "--yes");
    expect(payable()).toEqual(["RE-1 12", "RE-2 5"]);
  });

  it("cancels every open link that differs, and names those that it leaves", async () => {
    const { machine, create, mark, payable } = await desk();
    const { bulk, results } = machine();
    await create("RE-1", "10");
    await create("RE-1", "11");
    await create("RE-2", "20");
    await create("RE-2", "21");
    await create("RE-3", "30");
    mark("RE-3.1", "paid");
    const run = await bulk(`${HEADER}RE-1,Ada,12\nRE-2,Bob,20\nRE-3,Eve,31\n`, "--again", "changed", "--yes");
    expect(run).toMatchObject({
      exit: 4,
      stdout: expect.stringContaining("3 rows: 1 created, 2 left as before"),
    });
    expect(run.stderr).toContain(
      "line 3, RE-2  left  Its link RE-2.1 (EUR 20.00) is as the list says. Another link of this order can still be paid: RE-2.2 (EUR 21.00).",
    );
    expect(run.stderr).toContain(
      "line 4, RE-3  left  Its link RE-3.1 (EUR 30.00) is paid, so no new link was created.",
    );
    expect(payable()).toEqual(["RE-1 12", "RE-2 20", "RE-2 21"]);
    expect(results()[1]).toContain("RE-2.2");
    // A paid row with another amount stops no run.
    const others = await bulk(`${HEADER}RE-3,Eve,31\nRE-4,Zoe,1\n`);
    expect(others).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 created, 1 sent before") });
    expect(others.stderr).toContain("RE-3: EUR 31.00 one-time SALE, was paid with RE-3.1");
  });

  it.each([
    [503, 4, "1 row: 1 left as before", ["RE-1 10"]],
    [403, 4, "1 row: 1 left as before", ["RE-1 10"]],
    [504, 0, "1 row: 1 created", ["RE-1 12"]],
  ])("looks at a link whose cancellation was answered with %d", async (status, exit, tally, open) => {
    const { machine, payable } = await desk(() => "create", { cancelStatus: () => status });
    const { bulk, results } = machine();
    await bulk(`${HEADER}RE-1,Ada,10\n`);
    const run = await bulk(`${HEADER}RE-1,Ada,12\n`, "--again", "changed", "--yes");
    expect([run.exit, run.stdout]).toEqual([exit, expect.stringContaining(tally)]);
    expect(payable()).toEqual(open);
    if (exit === 0) return;
    expect(run.stderr).toContain(
      "line 2, RE-1  left  The earlier link RE-1.1 is left, and no other was created",
    );
    expect(results()[0]).toContain("RE-1.1,https://pay.example/pay?r=RE-1.1,not_sent");
  });
});

describe("advice", () => {
  it("names no form of --again that would make a second payable link", async () => {
    const { machine, mark } = await desk((before) => (before === 3 ? "reset" : "create"));
    const { bulk } = machine();
    const list = `${HEADER}A-1,Ada,1\nA-2,Bob,2\nA-3,Eve,3\n`;
    await bulk(list);
    expect((await bulk(list)).stderr).not.toContain("--again");
    mark("A-1.1", "expired");
    mark("A-2.1", "cancelled");
    const seen = await bulk(list);
    expect(seen.stderr).toContain("To send the 1 row whose link has expired: --again expired");
    const again = await bulk(list, "--again", "expired", "--yes");
    // The outcome of the new request is not known: the row has an order number, so it can be looked for.
    expect(again.stderr).toMatch(/To look for them at the service, .*--again unknown/);
    const unnamed = await machine().bulk("customerName,amount\nAda,1\n");
    expect(unnamed.exit).toBe(0);
  });
});
