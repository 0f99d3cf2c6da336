/** The preview of `paylink bulk`, in process: what is shown of a list, asked and refused before it is sent. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Ask } from "../../src/context.ts";
import { runCommand, type CommandEnd } from "../support/context.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { startLinkService } from "../support/link-service.ts";

/** Answers the one question that bulk asks. */
function answering(answer: boolean) {
  const asked: { message: string; initial: boolean | undefined }[] = [];
  const confirm: Ask["confirm"] = (message, options) => {
    asked.push({ message, initial: options?.initial });
    return Promise.resolve(answer);
  };
  return { asked, ask: { ...fixedAnswers({ interruptAt: "" }).ask, confirm } };
}

const HEADER = "invoiceId,amount,currency,customerName,colour\n";
const LIST = `${HEADER}I1,1000.10,EUR,Ada,red\nI2,0.20,EUR,Bob,\nI3,5,USD,Eve,\nI4,2,EUR,Zoe,\n`;

async function desk(list = LIST, name = "orders.csv") {
  const home = temporaryHome();
  const service = await startLinkService(() => "create");
  const path = join(home, name);
  writeFileSync(path, list);
  const run = (flags: readonly string[] = [], ask?: Ask) =>
    runCommand(["bulk", path, ...flags], { home, env: service.env, ...(ask && { ask }) });
  const results = () => readFileSync(join(home, name.replace(".", ".links.")), "utf8");
  return { home, path, service, run, results, write: (text: string) => writeFileSync(path, text) };
}

describe("the preview of a list", () => {
  const shown = [
    "4 links, EUR 1,002.30 and USD 5.00\n",
    /no profile · 127\.0\.0\.1:\d+ · LOCAL\n/,
    /amount +customer +order number +expires\n +EUR 1000\.10 +Ada +I1 .*\n +EUR 0\.20 +Bob +I2 .*\n +USD 5\.00 +Eve +I3 /,
    "  and 1 more\n",
    "Copied to the results, and not sent: colour\n",
  ];

  it("is followed by a question, and nothing is sent after a no", async () => {
    const { run, service, home } = await desk();
    const { ask, asked } = answering(false);
    const { exit, stderr } = await run([], ask);
    for (const part of shown) expect(stderr).toMatch(part);
    expect(asked).toEqual([
      { message: `Send 4 links to ${new URL(service.url).host} (LOCAL)?`, initial: false },
    ]);
    expect(exit).toBe(0);
    expect(stderr).toContain("Nothing was done");
    expect(service.arrivals).toEqual([]);
    expect(existsSync(join(home, "orders.links.csv"))).toBe(false);
    // The next run finds no trace of it.
    expect((await run()).exit).toBe(0);
    expect(service.arrivals).toHaveLength(4);
  });

  it("sends nothing that another run has sent while it waits for an answer", async () => {
    const { run, service, results } = await desk();
    const { ask } = answering(true);
    const meanwhile: CommandEnd[] = [];
    const confirm = async (): Promise<boolean> => {
      meanwhile.push(await run(["--yes"]));
      return true;
    };
    expect(await run([], { ...ask, confirm })).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("4 rows: 4 sent before"),
    });
    expect(meanwhile).toMatchObject([{ exit: 0, stdout: expect.stringContaining("4 rows: 4 created") }]);
    expect(service.arrivals).toHaveLength(4);
    expect(results()).toContain("I1,1000.10,EUR,Ada,red,I1.1,https://pay.example/pay?r=I1.1,created,,");
  });

  it("says with --again how many second links it makes, and needs more than Enter", async () => {
    const { run, write, service } = await desk();
    await run(["--yes"]);
    write(`${LIST}I5,7.50,EUR,Max,\n`);
    const { ask, asked } = answering(true);
    expect((await run(["--again", "all"], ask)).exit).toBe(0);
    expect(asked).toEqual([
      {
        message: `Send 5 links to ${new URL(service.url).host} (LOCAL)? --again all sends 4 rows once more, and their earlier links stay as they are.`,
        initial: false,
      },
    ]);
    expect(service.arrivals).toHaveLength(9);
  });

  it("asks nothing about a list from stdin, where nobody can answer", async () => {
    const { home, service } = await desk();
    const { ask, asked } = answering(false);
    const output = ["-o", join(home, "links.csv")];
    const run = await runCommand(["bulk", "-", ...output], { home, env: service.env, stdin: LIST, ask });
    expect({ exit: run.exit, asked }).toEqual({ exit: 0, asked: [] });
    expect(service.arrivals).toHaveLength(4);
  });

  it.each([
    ["--yes", ["--yes"]],
    ["nobody to ask", []],
  ])("is left out with %s", async (_, flags) => {
    const { run, service } = await desk();
    const { ask, asked } = answering(false);
    const { exit, stderr } = await run(flags, flags.length > 0 ? ask : undefined);
    expect({ exit, stderr, asked }).toEqual({
      exit: 0,
      stderr: "Copied to the results, and not sent: colour\n",
      asked: [],
    });
    expect(service.arrivals).toHaveLength(4);
  });

  it("shows only what is left of a list that was sent before, and asks nothing when nothing is left", async () => {
    const { run, write, service } = await desk();
    await run(["--yes"]);
    write(`${LIST}I5,7.50,EUR,Max,\n`);
    const { ask, asked } = answering(true);
    const { stderr } = await run([], ask);
    expect(stderr).toMatch(/^1 link, EUR 7\.50\n/);
    expect(stderr).toContain("4 of 5 rows were sent before: 4 open.");
    expect(asked).toMatchObject([{ message: expect.stringMatching(/^Send 1 link to /) }]);
    expect((await run([], ask)).stderr).toContain("Every row was sent before");
    expect(asked).toHaveLength(1);
    expect(service.arrivals).toHaveLength(5);
  });

  it("is what --dry-run shows, and says what a run would do with a list that was sent", async () => {
    const { run, write, service } = await desk();
    const before = await run(["--dry-run"]);
    expect(before.exit).toBe(0);
    for (const part of shown) expect(before.stdout + before.stderr).toMatch(part);
    expect(before.stdout).toMatch(/\n4 rows, all valid\. Nothing was sent\.\n$/);
    await run(["--yes"]);
    write(`${LIST}I5,7.50,EUR,Max,\n`);
    const grown = await run(["--dry-run"]);
    expect(grown.stdout).toMatch(/^1 link, EUR 7\.50\n/);
    expect(grown.stderr).toContain("4 of 5 rows were sent before: 4 open.");
    expect(service.arrivals).toHaveLength(4);
  });

  it("is one line of JSON with --dry-run --json", async () => {
    const { run, service } = await desk();
    await run(["--yes"]);
    const { exit, stdout } = await run(["--dry-run", "--json", "--again", "all"]);
    expect(exit).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([
      {
        type: "summary",
        profile: null,
        service: service.url,
        rows: 4,
        links: 4,
        sent_before: 0,
        sums: { EUR: "1002.30", USD: "5.00" },
        first: [{ amount: 1000.1, customerName: "Ada" }, { customerName: "Bob" }, { customerName: "Eve" }],
        unsent_columns: ["colour"],
      },
    ]);
    expect(jsonLines((await run(["--dry-run", "--json"])).stdout).at(-1)).toMatchObject({
      links: 0,
      sent_before: 4,
      before: { open: 4 },
    });
    expect(jsonLines((await run(["--json", "--again", "all", "--yes"])).stdout).at(-1)).toMatchObject({
      created: 4,
      sums: { EUR: "1002.30", USD: "5.00" },
      unsent_columns: ["colour"],
    });
  });
});

describe("columns that mean a field", () => {
  const UNCLEAR = "Invoice,customer,Amount (EUR),Colour\n1,Ada,10,red\n";

  it("are all refused, with the flag that maps them", async () => {
    const { run, service } = await desk(UNCLEAR);
    const { exit, stderr } = await run(["--currency", "EUR"]);
    expect(exit).toBe(2);
    expect(stderr).toContain(
      "line 1, Invoice       is not a field: did you mean invoiceId? (--map Invoice=invoiceId, or --map Invoice= to leave it out)",
    );
    expect(stderr).toContain("line 1, customer      is not a field: did you mean customerName?");
    expect(service.arrivals).toEqual([]);
  });

  it("are sent as --map says, and keep their names in the results", async () => {
    const { run, results, service } = await desk(UNCLEAR);
    const map = ["--map", "invoice=", "--map", "customer=customerName", "--map", "Amount (EUR)=amount"];
    const { exit, stderr } = await run(["--currency", "EUR", "--invoice-id", "I9", ...map]);
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: "Copied to the results, and not sent: Invoice, Colour\n",
    });
    expect(service.arrivals).toEqual(["I9"]);
    expect(results()).toMatch(
      /^Invoice,customer,Amount \(EUR\),Colour,id,url,status,error,service\n1,Ada,10,red,I9\.1,/,
    );
  });

  it("are refused in JSON lines too, in one line, and mapped", async () => {
    const row = (number: number) => `{"Invoice":"I${number}","customer":{"name":"Ada"},"amount":${number}}\n`;
    const list = Array.from({ length: 50 }, (_, at) => row(at + 1)).join("");
    const { run, results, service } = await desk(list, "orders.jsonl");
    const refused = await run(["--currency", "EUR"]);
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toMatch(
      /^ {2}lines 1, 2, 3 and 47 more, Invoice {2}is not a field: did you mean invoiceId\? .*\n {2}lines 1, 2, 3 and 47 more, customer\.name {2}is not a field: did you mean customerName\? .*\n✗ 50 rows/,
    );
    expect(refused.stderr).toContain("--map");
    const map = ["--map", "Invoice=invoiceId", "--map", "customer.name=customerName"];
    expect((await run(["--currency", "EUR", ...map, "--map", "nobody="])).stderr).toContain(
      "names a column that the list does not have",
    );
    expect((await run(["--currency", "EUR", ...map])).exit).toBe(0);
    expect(service.links.size).toBe(50);
    expect(jsonLines(results())[0]).toMatchObject({ Invoice: "I1", customer: { name: "Ada" }, id: "I1.1" });
  });

  it("cannot be two columns for one field, nor mapped twice", async () => {
    const { run } = await desk("amount,Price,customer,name\n1,2,Ada,Bob\n");
    const refused = await run(["--map", "Price=amount", "--map", "name=customerName"]);
    expect(refused.stderr).toContain("line 1, amount    must be one column");
    const twice = await run(["--map", "Price=amount", "--map", "Price="]);
    expect(twice.stderr).toContain("--map  names the column Price twice");
    expect([refused.exit, twice.exit]).toEqual([2, 2]);
  });
});

describe("rows that repeat others", () => {
  const REPEATED = `${HEADER}I1,1,EUR,Ada,\nI2,2,EUR,Bob,\nI1,1.00,EUR,Ada,red\n`;

  it("are refused with their lines, and sent once each with --allow-duplicates, however often it runs", async () => {
    const { run, service } = await desk(REPEATED);
    const { exit, stderr } = await run();
    expect(exit).toBe(2);
    expect(stderr).toContain("Some rows repeat others. Nothing was sent.");
    expect(stderr).toContain("lines 2 and 4  ask for the same payment");
    // It would make two links of one order.
    expect(stderr).not.toContain("--allow-duplicates");
    expect(stderr).not.toContain("--again");
    expect((await run(["--dry-run"])).exit).toBe(2);
    expect((await run(["--skip-invalid"])).exit).toBe(2);
    expect(service.arrivals).toEqual([]);
    for (let again = 0; again < 2; again++) expect((await run(["--allow-duplicates"])).exit).toBe(0);
    expect([...service.links]).toEqual([
      ["I1", 2],
      ["I2", 1],
    ]);
  });

  it("are refused too if only their order number is the same", async () => {
    const { run, service } = await desk(`${HEADER}I1,1,EUR,Ada,\nI2,2,EUR,Bob,\nI1,3,EUR,Ada,\n`);
    const { exit, stderr } = await run();
    expect(exit).toBe(2);
    expect(stderr).toContain("lines 2 and 4  have the order number I1, and ask for different payments");
    expect(service.arrivals).toEqual([]);
    // Killed in between, the list would find its own rows.
    for (let again = 0; again < 2; again++) expect((await run(["--allow-duplicates"])).exit).toBe(0);
    expect(service.arrivals).toHaveLength(3);
  });

  it.each([
    ["a space at the end", "A-1 ", '"A-1" and "A-1 "'],
    ["a no-break space", "A-1\u00A0", String.raw`"A-1" and "A-1\u{a0}"`],
    ["a zero-width space", "A\u200B-1", String.raw`"A-1" and "A\u{200b}-1"`],
    ["a soft hyphen", "A-\u00AD1", String.raw`"A-1" and "A-\u{ad}1"`],
    ["a mark of direction", "\u200EA-1", String.raw`"A-1" and "\u{200e}A-1"`],
    ["a word joiner", "A-1\u2060", String.raw`"A-1" and "A-1\u{2060}"`],
    ["a filler", "A-1\u3164", String.raw`"A-1" and "A-1\u{3164}"`],
  ])("are refused if they look the same, with what cannot be seen: %s", async (_, spelled, shown) => {
    const { run, service } = await desk(`${HEADER}A-1,1,EUR,Ada,\n${spelled},1,EUR,Ada,\n`);
    const { exit, stderr } = await run();
    expect(exit).toBe(2);
    expect(stderr.replaceAll(/\s*\n\s*/g, " ")).toContain(
      `lines 2 and 3  ask for the same payment, and differ only in what cannot be seen: invoiceId is ${shown}`,
    );
    expect(service.arrivals).toEqual([]);
  });

  it("are different rows if they differ visibly", async () => {
    const numbers = ["A-1", "a-1", "A\u20111", "\uFF21-1", "A-\uFF11", "A1", "A- 1"];
    const { run } = await desk(HEADER + numbers.map((number) => `${number},1,EUR,Ada,\n`).join(""));
    const { exit, stdout } = await run(["--dry-run"]);
    expect([exit, stdout]).toEqual([0, expect.stringContaining("7 links, EUR 7.00")]);
  });
});

describe("a column of currencies that is not sent", () => {
  const LISTED =
    "invoiceId,amount,currency,customerName,Coin\nI1,1,EUR,Ada,EUR\nI2,1,EUR,Ada,usd\nI3,1,EUR,Ada,\n";

  it("stops the list, until --map says what it is", async () => {
    const { run, service } = await desk(LISTED);
    const { exit, stderr } = await run();
    expect(exit).toBe(2);
    expect(stderr).toContain("The column Coin is not sent, and looks like the currency. Nothing was sent.");
    expect(stderr).toContain("--map Coin= to leave it out");
    expect(service.arrivals).toEqual([]);
    expect((await run(["--map", "Coin="])).exit).toBe(0);
  });

  it.each([
    ["EUR", "red"],
    ["INV", "INV 2"],
    ["", ""],
  ])("is not found with %j and %j", async (one, two) => {
    const { run } = await desk(`amount,currency,customerName,own\n1,EUR,Ada,${one}\n2,EUR,Ada,${two}\n`);
    expect((await run(["--dry-run"])).exit).toBe(0);
  });
});

describe("amounts and dates of a spreadsheet", () => {
  const rows = Array.from({ length: 509 }, (_, at) => `I${at},"${at + 1},50",Ada,2099-12-31\n`).join("");
  const COMMAS = `invoiceId,amount,customerName,expirationDate\n${rows}`;

  it("give one message for a mistake in all rows, which names the flag", async () => {
    const { run, service } = await desk(COMMAS);
    const { exit, stderr } = await run(["--currency", "EUR"]);
    expect(exit).toBe(2);
    expect(stderr.split("\n")).toHaveLength(4);
    expect(stderr).toMatch(/^ {2}lines 2, 3, 4 and 506 more, amount {2}has a comma: .*--decimal-comma/);
    expect(service.arrivals).toEqual([]);
  });

  it("are read with --decimal-comma, and a date as the end of that day", async () => {
    const { run } = await desk(COMMAS);
    const { exit, stdout } = await run(["--currency", "EUR", "--decimal-comma", "--dry-run", "--json"]);
    expect(exit).toBe(0);
    const end = new Date(2099, 11, 31, 23, 59, 59).toISOString().replace(".000", "");
    expect(jsonLines(stdout).at(-1)).toMatchObject({
      sums: { EUR: "130049.50" },
      first: [{ amount: 1.5, expirationDate: end }, {}, {}],
    });
  });

  it.each([
    [
      ["--currency", "CHF"],
      ["1,150.00", "1'150.00", "1\u202F150", "1150"],
    ],
    [
      ["--currency", "EUR", "--decimal-comma"],
      ["1.150,00", "1 150,00", "1\u00A0150", "1150"],
    ],
  ])("are read in groups of thousands with %j", async (flags, amounts) => {
    const rows = amounts.map((amount, at) => `"${amount}",Ada ${at}\n`).join("");
    const { run } = await desk(`amount,customerName\n${rows}`);
    const { exit, stdout } = await run([...flags, "--dry-run", "--json"]);
    expect([exit, jsonLines(stdout).at(-1)]).toMatchObject([0, { sums: { [flags[1] ?? ""]: "4600.00" } }]);
  });

  it("are refused where they are not plain", async () => {
    const { run } = await desk('amount,customerName,expirationDate\n"1.234",Ada,03/04/2099\n10.50,Bob,\n');
    const { exit, stderr } = await run(["--currency", "EUR", "--decimal-comma"]);
    expect(exit).toBe(2);
    expect(stderr).toContain("lines 2, 3, amount  must be a plain decimal of 0 or more, such as 10,50");
    expect(stderr).toMatch(/line 2, expirationDate {2}must be a date \(\d{4}-\d\d-\d\d\)/);
  });
});
