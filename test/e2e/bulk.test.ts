/** `paylink bulk`, the real binary: against the sandbox, on a terminal, at a full disk, and killed. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { bulkLists, expectExactlyOnce, listOfRows } from "../support/bulk-list.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { type Fate, startLinkService } from "../support/link-service.ts";
import { CTRL_C, ENTER, openScreen } from "../support/screen.ts";
import { openShell } from "../support/shell.ts";
import { runPaylink, startPaylink, startSandbox } from "../support/paylink.ts";

const listOf = bulkLists(runStep);

describe("bulk", () => {
  it("creates one link for each row at the sandbox, in order, ready to mail-merge", async () => {
    const home = temporaryHome();
    await startSandbox(home);
    const path = join(home, "orders.csv");
    writeFileSync(path, '\uFEFFAmount;Customer Name;Colour\r\n10;Ada;=1+1\r\n20;"Bob; Sons";\r\n');
    const ended = await runPaylink(["bulk", path], { home });
    // A line of progress follows if the run takes long.
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Copied to the results, and not sent: Colour\n/),
    });
    expect(ended.stdout).toContain("2 rows: 2 created\n2 links: EUR 30.00\nResults in ");
    expect(readFileSync(join(home, "orders.links.csv"), "utf8")).toMatch(
      /^\uFEFFAmount;Customer Name;Colour;id;url;status;error;service\n10;Ada;'=1\+1;[\w-]+;http:\/\/127\S+r=[\w-]+;created;;http:\S+ \d+\n20;"Bob; Sons";;[\w-]+;http:\S+;created;;http:\S+ \d+\n$/,
    );
  });

  it("shows a list on a terminal, sends nothing after a no, and everything after a yes", async () => {
    const home = temporaryHome();
    await startSandbox(home);
    const path = join(home, "orders.csv");
    writeFileSync(path, "sep=;\nRechnung;Amount;Client\nR1;10,50;Ada\nR2;1.000,00;Bob\n");
    const unclear = openScreen(["bulk", path], { home });
    expect(await unclear.ended).toBe(2);
    expect(unclear.text().replaceAll("\n", " ")).toMatch(
      /Client +is not a field: did you mean customerName\?/,
    );
    const args = [
      "bulk",
      path,
      "--decimal-comma",
      "--map",
      "Client=customerName",
      "--map",
      "Rechnung=invoiceId",
    ];
    const refused = openScreen(args, { home });
    await refused.until(/Send 2 links to \S+ \(sandbox\)\? \(Y\/n\)/);
    expect(refused.text()).toMatch(/^2 links, EUR 1,010\.50\nprofile sandbox · 127\.0\.0\.1:\d+ · sandbox\n/);
    expect(refused.text()).toMatch(/EUR 10\.50 +Ada +R1 .*\n +EUR 1000\.00 +Bob +R2 /);
    refused.type(`n${ENTER}`);
    expect(await refused.ended).toBe(0);
    expect(refused.text()).toContain("Nothing was done.");
    const sent = openScreen(args, { home });
    await sent.until(/Send 2 links to /);
    sent.type(ENTER);
    expect(await sent.ended).toBe(0);
    expect(sent.text()).toMatch(/2 rows: 2 created\n2 links: EUR 1,010\.50\n/);
    expect(readFileSync(join(home, "orders.links.csv"), "utf8")).toMatch(
      /^sep=;\nRechnung;Amount;Client;id;url;status;error;service\nR1;10,50;Ada;\S+;created;;/,
    );
  });

  /** A service that answers so many requests, and the next ones when it is told to. */
  async function pausingService(...after: readonly number[]) {
    const goOn: (() => void)[] = [];
    const pauses = after.map((count) => ({
      count,
      over: new Promise<void>((resolve) => goOn.push(resolve)),
    }));
    const service = await startLinkService(async ({ before }): Promise<Fate> => {
      for (const { count, over } of pauses) if (before >= count) await over;
      return "create";
    });
    return { service, goOn };
  }

  it("draws a bar on a terminal, and removes it at the end", async () => {
    const { service, goOn } = await pausingService(30);
    const watched = listOf(listOfRows(60), service);
    const screen = openScreen([...watched.args, "--rate", "40", "--yes"], watched);
    await screen.until(/█+░+ {2}30 of 60 \(50%\) {2}[\d.]+\/s {2}\d+ seconds? left/);
    goOn[0]?.();
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(
      /^Copied to the results, and not sent: colour\n60 rows: 60 created\n60 links: EUR 1,860\.00\nResults in \S+\nno profile · 127\.0\.0\.1:\d+ · LOCAL\nTo see/,
    );
  });

  it("draws the bar after a yes, from the first request on, and never before", async () => {
    const { service, goOn } = await pausingService(5, 50);
    const asked = listOf(listOfRows(60), service);
    const screen = openScreen([...asked.args, "--rate", "40"], asked);
    await screen.until(/Send 60 links to \S+ \(LOCAL\)\? \(y\/N\)/i);
    expect(screen.text()).not.toMatch(/of 60 \(/);
    screen.type(`y${ENTER}`);
    await screen.until(/░+ {2}5 of 60 \(8%\)/);
    goOn[0]?.();
    await screen.until(/█+░+ {2}50 of 60 \(83%\) {2}[\d.]+\/s {2}\d+ seconds? left/);
    goOn[1]?.();
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/60 rows: 60 created\n/);
    expect(screen.text()).not.toMatch(/of 60 \(/);
  });

  it("recognises a list in another time zone, with dates and without", async () => {
    const service = await startLinkService(() => "create");
    const sent = listOf(
      "amount,customerName,expirationDate\n1,Ada,2099-12-30\n2,Ada,2099-12-30T23:30:00Z\n3,Bob,\n",
      service,
    );
    const inZone = (TZ: string) =>
      runPaylink([...sent.args, "--expires", "2099-12-31", "-o", join(sent.home, `${TZ.length}.csv`)], {
        home: sent.home,
        env: { ...sent.env, TZ },
      });
    expect(await inZone("UTC")).toMatchObject({ code: 0, stdout: expect.stringContaining("3 created") });
    for (const zone of ["America/New_York", "Pacific/Kiritimati"])
      expect(await inZone(zone)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^3 rows: 3 sent before\n/),
      });
    expect(service.arrivals).toHaveLength(3);
  });

  it("sends nothing that it cannot remember, and can be run again", async () => {
    const service = await startLinkService(() => "create");
    const small = listOf(listOfRows(1), service);
    // A file may have 4,096 bytes, or 8,192, as the shell counts: too few for the database.
    const ended = await runPaylink(small.args, {
      ...small,
      through: ["sh", "-c", 'ulimit -S -f 8; exec "$@"', "sh"],
    });
    expect(ended.code).not.toBe(0);
    expect(service.arrivals).toEqual([]);
    expect((await small.send()).code).toBe(0);
    expect(service.arrivals).toEqual(["I0"]);
  });

  it("stops where the disk of its memory becomes full during the run, and continues once there is room", async () => {
    const rows = 400;
    const service = await startLinkService(() => "create");
    const list = listOf(listOfRows(rows), service);
    // A file may have 200 KiB, or 400, as the shell counts: the log of the memory reaches that after some rows.
    const stopped = await runPaylink(list.args, {
      ...list,
      through: ["sh", "-c", 'ulimit -S -f 400; exec "$@"', "sh"],
    });
    const { length } = service.arrivals;
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(rows);
    expect(stopped).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/✗ The run was stopped, with \d+ rows not sent\. /),
    });
    expect(stopped.stderr).toContain("Run the same command again to continue: no row is sent twice.");
    const created = list.results().filter((record) => record[6] === "created");
    expect(created).toHaveLength(length);
    const ended = await list.send();
    expect(ended.code).toBe(0);
    expectExactlyOnce(list.results(), service.links, rows);
    // What the memory could not hold is in the results: no link of the rows in flight is lost, though their claims look alive.
    expect(list.results().filter((record) => record[6] === "unknown")).toEqual([]);
  });

  it("sends nothing after Ctrl-C at its question, and leaves no files", async () => {
    const service = await startLinkService(() => "create");
    const list = listOf(listOfRows(3), service);
    const asked = openScreen(list.args, list);
    await asked.until(/Send 3 links to \S+ \(LOCAL\)\? \(y\/N\)/i);
    asked.type(CTRL_C);
    expect(await asked.ended).toBe(130);
    expect(service.arrivals).toEqual([]);
    expect(existsSync(join(list.home, "orders.links.csv"))).toBe(false);
    expect(await list.send()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("3 rows: 3 created"),
    });
  });

  it.each([
    ["what is invisible", "Invoice\u200B No.", true],
    ["a line break", '"Invoice\nNo."', false],
    ["quotes, a dollar and a backslash", `"Invoice ""No'$(x)\\"`, false],
  ])(
    "gives advice about a header with %s that works when pasted, or none to paste",
    async (_, header, isSafe) => {
      const home = temporaryHome();
      const shell = openShell(home);
      writeFileSync(join(shell.cwd, "list.csv"), `${header},amount,customerName\nA-1,10,Ada\n`);
      const command = "paylink bulk list.csv --dry-run --currency EUR --terminal-id 1";
      const refused = await shell.run(command);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean invoiceId?") });
      const [, advised = "", left = ""] =
        /\((--map .+), or\s+(--map .+) to\s+leave it out\)/s.exec(refused.stderr) ?? [];
      // Shells read such words in different ways: the place of the name stands there.
      if (!isSafe)
        return expect([advised, left]).toEqual(['--map "<column>=invoiceId"', '--map "<column>="']);
      expect(await shell.run(`${command} ${advised}`)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/order number.*\n.*A-1/),
      });
      expect(await shell.run(`${command} ${left}`)).toMatchObject({
        code: 0,
        stdout: expect.not.stringContaining("A-1"),
      });
    },
  );
});

it("creates one link for each row through ten kills at any moment", async () => {
  const rows = 300;
  const kills = 10;
  const service = await startLinkService(() => "create");
  const { arrivals } = service;
  const killed = listOf(listOfRows(rows), service);
  for (let after = 1; after <= kills; after++) {
    const target = arrivals.length + after;
    const running = startPaylink([...killed.args, "--json", "--rate", "400"], killed);
    await vi.waitUntil(() => arrivals.length >= target, { interval: 1, timeout: 60_000 });
    await running.stop("SIGKILL");
  }
  const ended = await killed.send();
  expect([0, 6]).toContain(ended.code);
  expect(ended.stderr).toMatch(/^\d+ of 300 rows were sent before: \d+ open/m);
  expectExactlyOnce(killed.results(), service.links, rows);
  const unknown = killed.results().filter((record) => record[6] === "unknown").length;
  // Those in flight: one for each of the eight requests at a time.
  expect(unknown).toBeLessThanOrEqual(kills * 8);
});
