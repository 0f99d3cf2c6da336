/** What a bookkeeper's lists meet, at two services: no order gets a second payable link unasked. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { runStep } from "../support/context.ts";
import { runPaylink, type Ended } from "../support/paylink.ts";
import { SERVICE_NAMES, startProxiedService } from "../support/proxied-service.ts";
import { ENTER, openScreen } from "../support/screen.ts";

const ROOT = resolve(import.meta.dirname, "../..");

type Rows = Readonly<Record<string, number>>;

const HEADER = "invoiceId,customerName,amount";
const listOf = (rows: Rows): string =>
  `${[HEADER, ...Object.entries(rows).map(([order, amount]) => `${order},Ada,${amount.toFixed(2)}`)].join("\n")}\n`;

/** One machine, with a list and its results. */
function desk(home: string) {
  const path = (name: string): string => join(home, name);
  const run = (args: readonly string[]): Promise<Ended> => runStep(args, { home });
  return {
    home,
    path,
    run,
    send: (rows: Rows, ...flags: string[]): Promise<Ended> => {
      writeFileSync(path("month.csv"), listOf(rows));
      return run(["bulk", path("month.csv"), ...flags]);
    },
    sendText: (name: string, text: string, ...flags: string[]): Promise<Ended> => {
      writeFileSync(path(name), text);
      return run(["bulk", path(name), ...flags]);
    },
    results: (): string => readFileSync(path("month.links.csv"), "utf8"),
  };
}

/** The line of an order in a text. */
const lineOf = (order: string, text: string): string =>
  text.split("\n").find((line) => line.includes(`${order},`) || line.includes(`${order} `)) ?? "";

describe.each(SERVICE_NAMES)("at %s", (name) => {
  it("leaves the orders that have another link, and corrects those that it is told to", async () => {
    const service = await startProxiedService(name);
    const { behaviour, payable, linkOf } = service;
    const mine = desk(service.machine());
    const month = {
      "EN-1": 20,
      "EN-2": 21,
      "EX-1": 7,
      "CA-1": 8,
      "RE-1": 99.9,
      "PA-1": 30,
      "OP-1": 9,
      "OP-2": 10,
      "OP-3": 11,
      "HA-1": 14,
      "HA-2": 15,
    };
    expect((await mine.send(month)).stdout).toContain("11 rows: 11 created");
    const stale = mine.results();

    // By hand, two orders get links that the memory does not know; one link expires, one customer has cancelled.
    await service.expire("EN-2", "EX-1");
    for (const order of ["EN-1", "CA-1"]) await service.cancel(order);
    await service.create("EN-1", 18);
    await service.create("EN-2", 19);
    const expired = await mine.send(month, "--again", "expired", "--yes");
    expect(expired.stdout).toContain("11 rows: 1 created, 8 sent before, 2 left as before");
    expect(expired.stderr).toMatch(/EN-2 {2}left {2}Its link \S+ \(EUR 19\.00\) can still be paid/);
    expect(await payable()).toMatchObject({ "EN-1": [18], "EN-2": [19], "EX-1": [7] });
    expect(await payable()).not.toHaveProperty("CA-1");
    const ended = await mine.send(month, "--again", "ended", "--yes");
    expect(ended.stdout).toContain("1 created, 8 sent before, 2 left as before");
    expect(ended.stderr).toMatch(/EN-1 {2}left {2}Its link \S+ \(EUR 18\.00\) can still be paid/);
    expect(lineOf("EN-1", mine.results())).toContain(await linkOf("EN-1"));
    expect(await payable()).toMatchObject({ "EN-1": [18], "EN-2": [19], "CA-1": [8] });

    // A correction: one link was paid meanwhile, three cannot be cancelled, and two rows get no new one.
    await service.pay("PA-1");
    const [op1, op2, op3] = [await linkOf("OP-1"), await linkOf("OP-2"), await linkOf("OP-3")];
    const isCreation = (request: string): boolean => /^POST \S+payment-links$/.test(request);
    behaviour.answer = (request, body) => {
      if (request.includes(`${op1}/cancel`)) return { status: 503 };
      if (request.includes(`${op2}/cancel`)) return { status: 403 };
      if (request.includes(`${op3}/cancel`)) return "lost";
      if (isCreation(request) && body.includes("HA-1")) return { status: 400 };
      return isCreation(request) && body.includes("HA-2")
        ? { status: 503, page: "<p>Try later</p>" }
        : undefined;
    };
    const corrected = {
      ...month,
      "EN-1": 18,
      "EN-2": 19,
      "RE-1": 91.3,
      "PA-1": 33,
      "OP-1": 9.5,
      "OP-2": 10.5,
      "OP-3": 11.5,
      "HA-1": 14.5,
      "HA-2": 15.5,
    };
    const changed = await mine.send(corrected, "--again", "changed", "--yes");
    behaviour.answer = undefined;
    expect(changed.code).toBe(6);
    expect(changed.stdout).toContain("2 created, 4 sent before, 1 refused, 1 unknown, 3 left as before");
    expect(changed.stderr).toMatch(/PA-1 {2}left {2}Its link \S+ \(EUR 30\.00 one-time SALE\) is paid/);
    for (const order of ["OP-1", "OP-2"])
      expect(changed.stderr).toMatch(new RegExp(`${order} {2}left {2}The earlier link \\S+ is left`));
    expect(changed.stderr).toMatch(/1 customer has no link that can be paid now, since .*: HA-1\./);
    expect(changed.stderr).toMatch(/1 customer may have no link that can be paid now, since .*: HA-2\./);
    expect(lineOf("HA-1", mine.results())).toContain("This customer has no link that can be paid now");
    expect(lineOf("HA-2", mine.results())).toContain("This customer may have no link that can be paid now");
    expect(await payable()).toMatchObject({ "RE-1": [91.3], "OP-1": [9], "OP-2": [10], "OP-3": [11.5] });
    const next = await mine.send(corrected);
    expect(next).toMatchObject({ code: 2, stderr: expect.stringContaining("no link that can be paid") });

    // The earlier links stay open beside the new ones where that is asked for, and the results name them.
    const { "RE-1": only } = corrected;
    await mine.send({ "RE-1": only }, "--again", "all", "--yes");
    expect(lineOf("RE-1", mine.results())).toMatch(
      /Another link of this order can still be paid: \S+ \(EUR 91\.30/,
    );
    expect((await payable())["RE-1"]).toEqual([91.3, 91.3]);

    // A colleague knows nothing of it; then he has the results of before the correction, beside a list of another name too.
    const theirs = desk(service.machine());
    const open = await payable();
    expect(
      (await theirs.send({ ...month, "RE-1": 91.3 }, "--again", "expired", "--yes")).stdout,
    ).not.toContain("created");
    writeFileSync(theirs.path("month.links.csv"), stale);
    for (const flags of [[], ["--again", "ended", "--yes"]]) await theirs.send(month, ...flags);
    await theirs.sendText("corrected.csv", listOf(month));
    const { "EN-1": en1, "OP-1": op, "OP-2": other } = open;
    expect(await payable()).toMatchObject({ "EN-1": en1, "OP-1": op, "OP-2": other, "RE-1": [91.3, 91.3] });
    await theirs.send({ "RE-1": 99.9 }, "--again", "changed", "--yes");
    expect(await payable()).toMatchObject({ "RE-1": [99.9] });

    // What `links list` prints is a list of links that exist.
    for (const [format, file] of [
      ["--json", "zz.jsonl"],
      ["--csv", "zz.csv"],
    ] as const) {
      const { stdout } = await theirs.run(["links", "list", format, "--since", "2026-01-01"]);
      const before = await payable();
      const read = await theirs.sendText(file, stdout, "--force");
      expect([read.code, read.stdout]).toEqual([0, expect.stringContaining("sent before")]);
      expect(read.stdout).not.toContain("created");
      expect(await payable()).toEqual(before);
    }
  });

  it("advises nothing that makes a second link, and knows its own results", async () => {
    const service = await startProxiedService(name);
    const { behaviour, payable } = service;
    const mine = desk(service.machine());
    // Rows that repeat each other, before anything was sent and after.
    const repeated = await mine.sendText(
      "twice.csv",
      `${HEADER}\nTW-1,Ada,45\nTW-1,Ada,45\nTW-2,Bob,1\nTW-3,Eve,2\n`,
    );
    expect(repeated).toMatchObject({ code: 2, stderr: expect.stringContaining("Some rows repeat others.") });
    expect(repeated.stderr).not.toMatch(/--again|--allow-duplicates|sent before/);
    await mine.send({ "TW-2": 1 });
    const later = await mine.sendText(
      "twice.csv",
      `${HEADER}\nTW-1,Ada,45\nTW-1,Ada,46\nTW-2,Ada,1\nTW-3,Eve,2\n`,
    );
    expect(later.stderr).not.toMatch(/--again|--allow-duplicates/);
    const unnamed = await mine.sendText("unnamed.csv", "customerName,amount\nAda,3\nAda,3\n");
    expect(unnamed.stderr).toContain("--allow-duplicates");
    expect(unnamed.stderr).not.toContain("--again");
    expect(await payable()).toEqual({ "TW-2": [1] });

    // Results whose first record is long, or whose header is.
    const long = "n".repeat(70_000);
    const rows = [{ invoiceId: "LO-1", customerName: "Ada", amount: 5, own: long }];
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    const wide = `invoiceId,customerName,amount,${"n".repeat(75_000)}\nLO-2,Ada,6,x\n`;
    for (const [file, text] of [
      ["long.jsonl", lines],
      ["wide.csv", wide],
    ] as const) {
      expect((await mine.sendText(file, text)).stdout).toContain("1 row: 1 created");
      expect(await mine.sendText(file, text)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("1 sent before"),
      });
    }

    // A part of the program is damaged: nothing was sent, and nothing is stuck. Node 20 has no SQLite of its own.
    for (const folder of ["bin", "dist"])
      cpSync(join(ROOT, folder), mine.path(`program/${folder}`), { recursive: true });
    writeFileSync(mine.path("program/package.json"), '{"type":"commonjs"}');
    symlinkSync(join(ROOT, "node_modules"), mine.path("program/node_modules"));
    const agent = mine.path("program/dist/agent.js");
    const whole = readFileSync(agent, "utf8");
    writeFileSync(agent, `${whole.slice(0, whole.length / 2)}(`);
    writeFileSync(mine.path("stuck.csv"), "customerName,amount\nAda,71\nBob,72\n");
    const program = [process.execPath, mine.path("program/bin/paylink.js")];
    const damaged = await runPaylink(["bulk", mine.path("stuck.csv")], { home: mine.home, program });
    expect(damaged).toMatchObject({ code: 1, stdout: expect.stringContaining("2 rows: 2 not sent") });
    // Then one answer is lost: such a row cannot be looked for.
    behaviour.answer = (request, body) =>
      request.startsWith("POST") && body.includes("72") ? "lost" : undefined;
    const lost = await mine.run(["bulk", mine.path("stuck.csv")]);
    behaviour.answer = undefined;
    expect(lost).toMatchObject({ code: 6, stdout: expect.stringContaining("2 rows: 1 created, 1 unknown") });
    expect(lost.stderr).toContain("give it an order number");
    expect(lost.stderr).not.toContain("--again");

    // A no is a no.
    writeFileSync(mine.path("no.csv"), listOf({ "NO-1": 4 }));
    const screen = openScreen(["bulk", mine.path("no.csv")], { home: mine.home });
    await screen.until(/Send 1 link to /);
    screen.type(`n${ENTER}`);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain("Nothing was done.");
    expect(screen.text()).not.toContain("Nothing was sent");

    // A service with words of its own: the dates say what has ended.
    const words = { "UN-1": 61, "UN-2": 62, "UN-3": 63 };
    await mine.send(words);
    await service.expire("UN-1");
    await service.cancel("UN-2");
    await service.pay("UN-3");
    behaviour.rewritten = [/"status":"(?:active|expired|cancelled|paid)"/g, '"status":"lapsed"'];
    const again = await mine.send(words, "--again", "ended", "--yes");
    behaviour.rewritten = undefined;
    expect(again.stdout).toContain("3 rows: 2 created, 1 sent before");
    expect(await payable()).toMatchObject({ "TW-2": [1], "UN-1": [61], "UN-2": [62] });
  });
});
