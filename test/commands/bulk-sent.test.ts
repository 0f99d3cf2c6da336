/** Rows that `paylink bulk` has sent before, in process: in another order or list, changed, expired, and what holds them. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLocalMemory } from "../../src/bulk/local-memory.ts";
import { openDatabase } from "../../src/store/sqlite/open.ts";
import { interrupted, runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
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
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  readonly output?: string;
}

/** A home, a service, and how to send a list. */
async function desk(
  fateOf: (before: number) => Fate = () => "create",
  options?: Parameters<typeof startLinkService>[1],
) {
  const home = temporaryHome();
  const ownHome = home;
  const service = await startLinkService(({ before }) => fateOf(before), options);
  return {
    home,
    service,
    folder: join(home, "data", "bulk"),
    database: join(home, "data", "bulk", "bulk.db"),
    links: () => [...service.links.values()],
    send: (
      text: string,
      { name = "orders.csv", flags = [], url = service.url, signal, now, output, ...more }: Run = {},
    ) => {
      const home = more.home ?? ownHome;
      const path = name === "-" ? "-" : join(home, name);
      if (name !== "-") writeFileSync(path, text);
      const args = ["bulk", path, "--currency", "EUR", "-o", output ?? join(home, "out.csv"), ...flags];
      const env = { ...service.env, PAYLINK_BASE_URL: url, ...more.env };
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
    expect(results().map((line) => line.split(",").slice(3, 7))).toEqual([
      ["I9.1", "https://pay.example/pay?r=I9.1", "created", ""],
      ["I1.1", "https://pay.example/pay?r=I1.1", "active", ""],
      ["I0.1", "https://pay.example/pay?r=I0.1", "active", ""],
    ]);
  });

  it("is recognised at every spelling of the service's address, and at no other service", async () => {
    const { send, service, links } = await desk();
    await send(LIST);
    const { port } = new URL(service.url);
    const spellings = [`${service.url}/`, `HTTP://127.0.0.1:${port}`, `http://LocalHost:${port}/`];
    for (const url of spellings)
      expect((await send(LIST, { url })).stdout).toContain("4 rows: 4 sent before");
    expect(links()).toEqual([1, 1, 1, 1]);
    const other = await startLinkService(() => "create");
    expect((await send(LIST, { url: other.url, flags: ["--force"] })).stdout).toContain("4 rows: 4 created");
  });

  it("is sent once for each time that the list has it", async () => {
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

  it("is the same row with another expiry, callback, customer of the terminal, or time zone", async () => {
    const { send, service } = await desk();
    const list = "amount,description\n1,Tea\n2,Cake\n";
    const runs: Run[] = [
      { flags: ["--expires", "1d"] },
      { flags: ["--expires", "2d"] },
      { flags: ["--expires", "2099-12-30"] },
      { flags: ["--callback-url", "https://x.example/", "--return-url", "https://y.example/"] },
      { env: { PAYLINK_CALLBACK_URL: "https://z.example/" } },
    ];
    await send("customerName,amount,description\nAda,1,Tea\nAda,2,Cake\n");
    for (const run of runs)
      expect(
        (await send(list, { ...run, flags: [...(run.flags ?? []), "--customer-name", "Ada"] })).stdout,
      ).toContain("2 sent before");
    expect(service.arrivals).toHaveLength(2);
  });

  it("is the same row without an order number, where its type is named that a link without one has", async () => {
    const { send, service } = await desk();
    await send("amount,customerName\n1,Ada\n");
    const named = await send("amount,customerName,transactionType\n1,Ada,SALE\n");
    expect(named.stdout).toContain("1 row: 1 sent before");
    const other = await send("amount,customerName,transactionType\n1,Ada,AUTH\n");
    expect(other.stdout).toContain("1 row: 1 created");
    expect(service.arrivals).toHaveLength(2);
  });

  it("is another row for another profile, unless it has the same service and terminal", async () => {
    const { home, service, links } = await desk();
    const shop = { baseUrl: service.url, token: "t", currency: "EUR" };
    storeProfiles(home, {
      shopA: { ...shop, terminalId: "1" },
      shopB: { ...shop, terminalId: "2" },
      colleague: { ...shop, terminalId: "1" },
    });
    const path = join(home, "orders.csv");
    writeFileSync(path, LIST);
    const sendAs = (profile: string) =>
      runCommand(["bulk", path, "-p", profile, "-o", join(home, `${profile}.csv`)], { home });
    expect((await sendAs("shopA")).stdout).toContain("4 rows: 4 created");
    expect((await sendAs("shopB")).stdout).toContain("4 rows: 4 created");
    for (const profile of ["shopA", "shopB", "colleague"])
      expect((await sendAs(profile)).stdout).toContain("4 rows: 4 sent before");
    expect(links()).toEqual([2, 2, 2, 2]);
  });

  it("is new for another profile, and the list says that results have a link", async () => {
    const { home, service, links } = await desk();
    const shop = { baseUrl: service.url, token: "t", currency: "EUR" };
    storeProfiles(home, { shopA: { ...shop, terminalId: "1" }, shopB: { ...shop, terminalId: "2" } });
    const [path, results] = [join(home, "orders.csv"), join(home, "results.csv")];
    writeFileSync(path, LIST);
    expect((await runCommand(["bulk", path, "-p", "shopA", "-o", results], { home })).exit).toBe(0);
    const sendResults = (...flags: string[]) =>
      runCommand(["bulk", results, "-p", "shopB", "-o", join(home, "other.csv"), ...flags], { home });
    const address = service.url.replace("127.0.0.1", "localhost");
    const warning = `lines 2, 3, 4 and 1 more  has a link at ${address} 1, which does not count here`;
    const seen = await sendResults("--dry-run");
    expect([seen.exit, seen.stdout]).toEqual([0, expect.stringContaining("4 links, EUR 12.00")]);
    expect(seen.stderr).toContain(warning);
    expect((await sendResults()).stderr).toContain(warning);
    expect(links()).toEqual([2, 2, 2, 2]);
  });

  it("is another row at another terminal", async () => {
    const { send, service } = await desk();
    await send(LIST);
    const other = await send(LIST.replaceAll("1.50", "9"), { flags: ["--terminal-id", "2"] });
    expect(other.stdout).toContain("4 rows: 4 created");
    expect(service.arrivals).toHaveLength(8);
  });

  it("is known for 400 days, though its link and the date in its row have expired", async () => {
    const { send, service, folder } = await desk();
    const list = "invoiceId,amount,customerName,expirationDate\nI0,1,Ada,2026-02-01\n";
    const day = (number: number) => ({ now: () => new Date(Date.UTC(2026, 0, number, 12)) });
    await send(list, day(31));
    const again = await send(`${list}I1,1,Ada,2027-01-01\n`, day(31 + 40));
    expect(again).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 created, 1 sent before") });
    expect(service.arrivals).toEqual(["I0", "I1"]);
    const memory = openLocalMemory(folder, { isDryRun: false });
    const database = openDatabase(join(folder, "bulk.db"), [""]);
    const rows = () => database.prepare("SELECT count(*) AS rows FROM sent_rows").get();
    const age = (first: number, second: number) => {
      const sentAt = (days: number) => `unixepoch() * 1000 - ${days} * 86400000`;
      database.exec(`UPDATE sent_rows SET sent_at = ${sentAt(first)}`);
      database.exec(`UPDATE sent_rows SET sent_at = ${sentAt(second)} WHERE id LIKE 'I1.%'`);
    };
    const left = async () => {
      await memory.forget(400 * 86_400_000);
      return rows();
    };
    age(399, 0);
    expect(await left()).toEqual({ rows: 2 });
    // A clock that is two years ahead makes all rows that old.
    age(731, 730);
    expect(await left()).toEqual({ rows: 2 });
    age(401, 0);
    expect(await left()).toEqual({ rows: 1 });
    database.close();
    await memory.close();
  });

  it.each([
    ["a trailing space", "A-1 "],
    ["a no-break space", "\u00A0A-1"],
    ["a zero-width space", "A\u200B-1"],
    ["a direction mark", "\u200EA-1"],
    ["a byte order mark", "A-1\uFEFF"],
    ["a soft hyphen", "A-\u00AD1"],
  ])("is the same row with %s in its order number, also twice in one list", async (_, spelling) => {
    const { send, service } = await desk();
    await send(`${HEADER}A-1,1,Ada\n`);
    expect((await send(`${HEADER}${spelling},1,Ada\n`)).stdout).toContain("1 row: 1 sent before");
    const twice = await send(`${HEADER}A-2,1,Ada\n${spelling.replace("1", "2")},1,Ada\n`);
    expect(twice.stderr).toContain("lines 2 and 3  ask for the same payment");
    expect(service.arrivals).toEqual(["A-1"]);
  });

  it("is the same row in another Unicode form, with other line ends or spaces, without an order number", async () => {
    const { send, service } = await desk();
    const list = (name: string, note: string) => `amount,customerName,description\n1,"${name}","${note}"\n`;
    await send(list("Zoë", "one\ntwo"));
    for (const again of [
      list("Zoe\u0308", "one\r\ntwo"),
      list(" Zoë", "one two "),
      list("Zoë\u200B", "one\u00A0\u00A0two"),
    ])
      expect((await send(again)).stdout).toContain("1 row: 1 sent before");
    expect(service.arrivals).toHaveLength(1);
  });

  it("is the same row in its results, used beside the list on another machine or as the list", async () => {
    const { send, service, home } = await desk();
    const list =
      "amount,customerName,description,Order\nnumber\n".replace("Order\nnumber", '"Own\nnumber"') +
      "1,Ada,-10% spring sale,a\n2,@bob,=1+1,b\n3,Eve,+44 1,c\n4,'Zoe,''-x,d\n";
    await send(list);
    expect(service.arrivals).toHaveLength(4);
    const results = readFileSync(join(home, "out.csv"), "utf8");
    const elsewhere = temporaryHome();
    const asList = await send(results, { home: elsewhere, name: "again.csv" });
    expect(asList).toMatchObject({ exit: 0, stdout: expect.stringContaining("4 rows: 4 sent before") });
    const beside = temporaryHome();
    writeFileSync(join(beside, "orders.links.csv"), results);
    expect((await send(list, { home: beside })).stdout).toContain("4 rows: 4 sent before");
    expect((await send(results, { name: "again.csv" })).stdout).toContain("4 rows: 4 sent before");
    expect(service.arrivals).toHaveLength(4);
    // Of another service, they are rows like any others.
    const other = await startLinkService(() => "create");
    expect((await send(list, { home: beside, url: other.url })).stdout).toContain("4 rows: 4 created");
  });
});

describe("the results of another machine", () => {
  const LIST = "invoiceId,amount,customerName\nA-1,10,Ada\nA-2,20,Bob\n,30,Eve\n";

  /** The results of the list, on a machine without its memory. */
  async function elsewhere(options?: Parameters<typeof startLinkService>[1]) {
    const { send, service, home, results } = await desk(undefined, options);
    await send(LIST);
    expect(service.arrivals).toHaveLength(3);
    const file = readFileSync(join(home, "out.csv"), "utf8");
    return {
      service,
      results,
      file,
      sendThere: (text: string, ...flags: string[]) =>
        send(text, { home: temporaryHome(), name: "there.csv", flags }),
    };
  }

  it("reveal a price that was corrected in them, for a row with and without an order number", async () => {
    const { sendThere, file, service } = await elsewhere();
    const corrected = file.replace("A-1,10", "A-1,12").replace(",30,Eve", ",33,Eve");
    for (const flags of [[], ["--dry-run"]]) {
      const { exit, stderr } = await sendThere(corrected, ...flags);
      expect(exit).toBe(2);
      expect(stderr).toContain("2 rows were sent before with another amount");
      expect(stderr).toContain(
        "line 2  A-1: EUR 12.00 one-time SALE, was EUR 10.00. It has the link https://pay.example/pay?r=A-1.1 (active)",
      );
      expect(stderr).toContain("line 4  EUR 33.00 one-time SALE, was EUR 30.00. It has the link");
    }
    expect(service.arrivals).toHaveLength(3);
    const again = await sendThere(corrected, "--again", "changed", "--yes");
    expect(again).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("3 rows: 2 created, 1 sent before"),
    });
    expect(service.created.map(({ id, status }) => [id, status])).toEqual([
      ["A-1.1", "cancelled"],
      ["A-2.1", "active"],
      [".1", "cancelled"],
      ["A-1.2", "active"],
      [".2", "active"],
    ]);
  });

  it("stop the list where a row was copied or its order number changed, and say how to go on", async () => {
    const { sendThere, file, service } = await elsewhere();
    const [header = "", first = "", ...others] = file.trim().split("\n");
    const copied = [header, first, ...others, first.replace("A-1,10", "A-3,10")].join("\n");
    const run = await sendThere(copied);
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain("1 row names the link of other rows.");
    expect(run.stderr).toContain(
      "line 5  the row is order A-3, and has the link https://pay.example/pay?r=A-1.1, which belongs to order A-1",
    );
    expect(run.stderr).toContain("empty its cells id, url and status");
    expect((await sendThere(copied, "--again", "all", "--yes")).exit).toBe(2);
    expect(service.arrivals).toHaveLength(3);
    const emptied = copied.replace(/A-3,10,Ada,[^,]*,[^,]*,[^,]*,/, "A-3,10,Ada,,,,");
    expect((await sendThere(emptied)).stdout).toContain("4 rows: 1 created, 3 sent before");
  });

  it("are reported as not comparable if the service cannot be asked", async () => {
    let status = 200;
    const { sendThere, file, service } = await elsewhere({ listStatus: () => status });
    status = 500;
    const { exit, stderr, stdout } = await sendThere(file.replace("A-1,10", "A-1,12"));
    expect([exit, stdout]).toEqual([0, expect.stringContaining("3 rows: 3 sent before")]);
    expect(stderr).toContain(
      "3 rows cannot be compared with what was sent: only a results file has their links",
    );
    expect(service.arrivals).toHaveLength(3);
  });

  it("are compared by their own cells beside the list if the service cannot be asked", async () => {
    let status = 200;
    const { file, service } = await elsewhere({ listStatus: () => status });
    status = 500;
    const home = temporaryHome();
    writeFileSync(join(home, "orders.links.csv"), file);
    writeFileSync(join(home, "orders.csv"), LIST.replace("A-1,10", "A-1,12"));
    const args = ["bulk", join(home, "orders.csv"), "--currency", "EUR"];
    const { exit, stderr } = await runCommand(args, { home, env: service.env });
    expect(exit).toBe(2);
    expect(stderr).toContain("A-1: EUR 12.00 one-time SALE, was EUR 10.00 one-time SALE.");
    expect(stderr).not.toContain("cannot be compared");
  });
});

describe("an order number that a program has changed", () => {
  const sentAs = (number: string) => `${HEADER}${number},1,Ada\nX,2,Bob\n`;

  it.each([
    ["005", "5"],
    ["5", "005"],
    ["1001", "1001.0"],
    ["+44123", "44123"],
    ["A-1", "'A-1"],
    ["1001", "1.001"],
  ])("stops a list: %s as %s, unless both are meant", async (number, now) => {
    const { send, service, home } = await desk();
    await send(sentAs(number));
    const stopped = await send(sentAs(now));
    expect(stopped.exit).toBe(2);
    expect(stopped.stderr).toContain("1 row has an order number that was sent before in another spelling.");
    expect(stopped.stderr).toContain(`line 2  has the order number ${now}, and ${number} was sent before`);
    expect(stopped.stderr).toMatch(/If they are other orders: paylink bulk .* --allow-duplicates\n/);
    expect((await send(sentAs(now), { flags: ["--dry-run", "--again", "all"] })).exit).toBe(2);
    // On another machine, the results beside the list know it.
    const there = temporaryHome();
    writeFileSync(join(there, "orders.links.csv"), readFileSync(join(home, "out.csv")));
    expect((await send(sentAs(now), { home: there })).exit).toBe(2);
    expect(service.arrivals).toHaveLength(2);
    const meant = await send(sentAs(now), { flags: ["--allow-duplicates"] });
    expect(meant).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 created, 1 sent before") });
  });

  it("is found among thousands of new rows", async () => {
    const { send } = await desk();
    await send(`${HEADER}0000007,1,Ada\n0000009,1,Ada\n`);
    const others = Array.from({ length: 5000 }, (_, row) => `${row + 100},1,Ada\n`).join("");
    const { exit, stderr } = await send(`${HEADER}7,1,Ada\n${others}9,1,Ada\n`, { flags: ["--dry-run"] });
    expect([exit, stderr]).toEqual([
      2,
      expect.stringContaining("2 rows have order numbers that were sent before"),
    ]);
  });

  it("is an error if its digits are lost, and a warning if it is a date", async () => {
    const { send, service } = await desk();
    const { exit, stderr } = await send(`${HEADER}1.00E+07,1,Ada\n2026-01-01,1,Bob\n`, {
      flags: ["--skip-invalid"],
    });
    expect(exit).toBe(2);
    expect(stderr).toContain(
      'line 2, invoiceId  is a number that a spreadsheet has shortened (got "1.00E+07")',
    );
    expect(stderr).toContain(
      "line 3, invoiceId  looks like a date that a spreadsheet has made of an order number",
    );
    expect(service.arrivals).toEqual(["2026-01-01"]);
  });

  it("is read from a formula that only holds a text", async () => {
    const { send, service } = await desk();
    await send(`${HEADER}"=""005""",1,Ada\n`);
    expect((await send(`${HEADER}005,1,Ada\n`)).stdout).toContain("1 row: 1 sent before");
    expect(service.arrivals).toEqual(["005"]);
  });
});

describe("an order number that was sent with other values", () => {
  it("stops the list before anything is sent, and names the newest link, and what differs", async () => {
    const { send, service } = await desk();
    await send(LIST);
    const changed = `${HEADER}${rowsOf(7)}I1,20,Bob\n${rowsOf(3)}`;
    const { exit, stderr } = await send(changed, { flags: ["--skip-invalid"] });
    expect(exit).toBe(2);
    expect(stderr).toContain(
      "1 row was sent before with another amount, currency, kind or transaction type. Nothing was sent.",
    );
    expect(stderr).toContain(
      "line 3  I1: EUR 20.00 one-time SALE, was EUR 2.50 one-time SALE. It has the link https://pay.example/pay?r=I1.1 (active)\n",
    );
    expect(stderr).toMatch(
      /To cancel all links of these orders that can still be paid, and send the rows as they are now: paylink bulk \S+orders\.csv --currency EUR -o \S+out\.csv --skip-invalid --again changed\n/,
    );
    expect(service.arrivals).toHaveLength(4);
    const refused = await send(changed, { flags: ["--again", "changed"] });
    expect(refused.stderr).toContain(
      "--again changed sends 1 row once more, and cancels their earlier links first.",
    );
    const sent = await send(changed, { flags: ["--again", "changed", "--yes"] });
    expect(sent).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("3 rows: 2 created, 1 sent before"),
    });
    expect(service.arrivals.slice(4).toSorted()).toEqual(["I1", "I7"]);
    expect(service.created.map(({ id, status }) => [id, status])).toContainEqual(["I1.1", "cancelled"]);
    const twice = await send(changed.replace("I1,20", "I1,30"));
    expect(twice.stderr).toContain("I1: EUR 30.00 one-time SALE, was EUR 20.00 one-time SALE.");
    expect(twice.stderr).toContain("It has the link https://pay.example/pay?r=I1.2 (active)\n");
  });

  it("leaves a row whose earlier link was paid, and names it", async () => {
    const { send, service, results } = await desk();
    await send(LIST);
    const changed = LIST.replace("I1,2.50", "I1,3").replace("I2,3.50", "I2,4");
    const paid = service.created.find(({ id }) => id === "I1.1");
    if (paid !== undefined) paid.status = "paid";
    const run = await send(changed, { flags: ["--again", "changed", "--yes"] });
    expect(run.exit).toBe(4);
    expect(run.stdout).toContain("4 rows: 1 created, 2 sent before, 1 left as before");
    const why = "Its link I1.1 (EUR 2.50 one-time SALE) is paid, so no new link was created.";
    expect(run.stderr).toContain(`line 3, I1  left  ${why}`);
    expect(results()[1]).toMatch(/^I1,3,Ada,I1\.1,\S+,paid,"/);
    expect(results()[1]).toContain(why);
    expect(service.arrivals).toHaveLength(5);
  });

  it("leaves a row whose earlier link is paid while the run begins", async () => {
    const service = await startLinkService(() => "create", {
      listed: (links) => {
        for (const link of links) link.status = "paid";
      },
    });
    const home = temporaryHome();
    const send = (text: string, ...flags: string[]) =>
      runCommand(["bulk", "-", "--currency", "EUR", "-o", join(home, "out.csv"), ...flags], {
        home,
        env: service.env,
        stdin: text,
      });
    await send(LIST);
    const run = await send(LIST.replace("I1,2.50", "I1,3"), "--again", "changed", "--yes");
    expect(run.exit).toBe(4);
    expect(run.stderr).toContain("The earlier link I1.1 is left, and no other was created: it was paid.");
    expect(service.arrivals).toHaveLength(4);
  });

  it("counts all rows, names ten, and takes one that differs in other fields only as sent", async () => {
    const { send } = await desk();
    const many = Array.from({ length: 15 }, (_, row) => row);
    await send(HEADER + rowsOf(...many));
    const { stderr } = await send(HEADER + rowsOf(...many).replaceAll(".50", ".60"));
    expect(stderr).toContain("15 rows were sent before with another amount");
    expect(stderr.match(/, was EUR/g)).toHaveLength(10);
    const named = await send(HEADER + rowsOf(...many).replaceAll("Ada", "Eve"));
    expect(named).toMatchObject({ exit: 0, stdout: expect.stringContaining("15 rows: 15 sent before") });
    expect(named.stderr).toContain("15 rows differ from what was sent, but not in amount");
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
  const ALL = ["--again", "all"];

  it("needs --yes if nobody can be asked and it creates second links", async () => {
    const { send, links } = await desk();
    expect((await send(LIST, { flags: ALL })).exit).toBe(0);
    const refused = await send(LIST + rowsOf(4), { flags: ALL });
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain(
      "--again all sends 4 rows once more, and their earlier links stay as they are. Nothing was sent.",
    );
    expect(links()).toEqual([1, 1, 1, 1]);
    expect((await send(LIST + rowsOf(4), { flags: [...ALL, "--yes"] })).exit).toBe(0);
    expect(links()).toEqual([2, 2, 2, 2, 1]);
  });

  it("sends rows whose links have ended, and says what became of the others", async () => {
    const { send, service, results } = await desk();
    await send(LIST);
    for (const [at, status] of ["paid", "cancelled", "expired", "viewed"].entries()) {
      const link = service.created.find(({ id }) => id === `I${at}.1`);
      if (link !== undefined) link.status = status;
    }
    const seen = await send(LIST);
    expect(seen.stderr).toContain(
      "Every row was sent before, so nothing is sent: 1 paid, 1 open, 1 expired, 1 cancelled.",
    );
    expect(results().map((line) => line.split(",")[5])).toEqual(["paid", "cancelled", "expired", "viewed"]);
    const run = await send(LIST, { flags: ["--again", "ended", "--yes"] });
    expect(run.stdout).toContain("4 rows: 2 created, 2 sent before");
    expect(service.arrivals.slice(4).toSorted()).toEqual(["I1", "I2"]);
    expect((await send(LIST)).stderr).toContain("1 paid, 3 open.");
  });

  it.each([
    ["can still be paid", "viewed", "1 open, 1 cancelled"],
    ["was paid", "paid", "1 paid, 1 cancelled"],
  ])("ended leaves a row whose earlier link %s, which the results name", async (_, status, states) => {
    const { send, service, results } = await desk();
    await send(HEADER + rowsOf(0, 1));
    await send(HEADER + rowsOf(0, 1), { flags: ["--again", "all", "--yes"] });
    for (const link of service.created) link.status = link.id === "I0.1" ? status : "cancelled";
    const looked = await send(HEADER + rowsOf(0, 1));
    expect(looked.stdout).toContain("2 sent before");
    expect(looked.stderr).toContain(states);
    expect(results().map((line) => line.split(",")[3])).toEqual(["I0.1", "I1.2"]);
    const again = await send(HEADER + rowsOf(0, 1), { flags: ["--again", "ended", "--yes"] });
    expect(again).toMatchObject({
      exit: 4,
      stdout: expect.stringContaining("2 rows: 1 created, 1 left as before"),
      stderr: expect.stringContaining("line 2, I0  left  Its link I0.1 (EUR 1.50 one-time SALE)"),
    });
    expect(service.arrivals.filter((order) => order === "I0")).toHaveLength(2);
  });

  it.each([
    [500, 5],
    [404, 5],
    [401, 3],
    [403, 3],
  ])(
    "sends nothing where the links of the service cannot be read (%d), unless it need not look",
    async (failure, exit) => {
      const home = temporaryHome();
      let status = 200;
      const service = await startLinkService(() => "create", { listStatus: () => status });
      const path = join(home, "orders.csv");
      const send = (...flags: string[]) =>
        runCommand(["bulk", path, "--currency", "EUR", ...flags], { home, env: service.env });
      writeFileSync(path, LIST);
      await send();
      status = failure;
      // Nothing is due.
      expect(await send()).toMatchObject({
        exit: 0,
        stdout: expect.stringContaining("4 rows: 4 sent before"),
      });
      writeFileSync(path, LIST + rowsOf(4));
      const stopped = await send();
      expect(stopped).toMatchObject({ exit, stdout: "" });
      expect(stopped.stderr).toContain("so it is not known which orders have one already");
      expect(stopped.stderr).toContain("Nothing was sent.");
      const dry = await send("--dry-run");
      expect([dry.exit, dry.stderr]).toEqual([
        0,
        expect.stringContaining("A run would send no row with an order number."),
      ]);
      expect(service.arrivals).toHaveLength(4);
      const alone = await send("--look-back", "0");
      expect(alone).toMatchObject({
        exit: 0,
        stdout: expect.stringContaining("5 rows: 1 created, 4 sent before"),
      });
      expect(alone.stderr).toContain("4 of 5 rows were sent before: their links are in the results.");
      expect(alone.stderr).toContain("The links of the service could not be read: The service answered");
      // Without order numbers, there is nothing to read.
      writeFileSync(path, "amount,customerName\n9,Ada\n");
      const other = await send("--force");
      expect(other).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 row: 1 created") });
    },
  );

  it("leaves rows of unknown outcome for which the service cannot be asked", async () => {
    const { send, service } = await desk((before) => (before === 0 ? "reset" : "create"));
    const list = "amount,customerName\n1,Ada\n";
    expect((await send(list)).exit).toBe(6);
    const run = await send(list, { flags: ["--again", "unknown", "--yes"] });
    expect(run).toMatchObject({ exit: 4, stdout: expect.stringContaining("1 row: 1 left as before") });
    expect(service.arrivals).toHaveLength(1);
    expect((await send(list, { flags: [...ALL, "--yes"] })).exit).toBe(0);
    expect(service.arrivals).toHaveLength(2);
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
    const again = await send(list, { flags: [...ALL, "--yes"], signal: control.signal });
    expect(again.exit).toBe(exit);
    const { length } = service.arrivals;
    // Without the flag, every row still has a link.
    expect((await send(list)).stdout).toContain("40 rows: 40 sent before");
    expect(service.arrivals).toHaveLength(length);
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
    ["damaged inside", damageInside, /bulk\.db is damaged: [^]* Nothing was sent\./],
  ])("stops every run once it is %s, and says what to restore", async (_, damage, words) => {
    const { send, service, database } = await desk();
    await send(LIST);
    writeLog(database);
    damage(database);
    for (const flags of [[], ["--dry-run"], ["--again", "all", "--yes"]]) {
      const { exit, stderr } = await send(LIST, { flags });
      expect([exit, stderr]).toEqual([2, expect.stringMatching(words)]);
      expect(stderr).toContain("restore it from a backup");
    }
    expect(service.arrivals).toHaveLength(4);
  });

  it("is complete again once it is restored", async () => {
    const { send, database } = await desk();
    await send(LIST);
    writeLog(database);
    renameSync(database, `${database}.saved`);
    expect((await send(LIST)).exit).toBe(2);
    renameSync(`${database}.saved`, database);
    expect(await send(LIST)).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("Every row was sent before"),
    });
  });

  it.each([
    ["an older copy of it was put back", (path: string) => renameSync(`${path}.saved`, path)],
    [
      "its last rows are gone",
      (path: string) => openDatabase(path, [""]).exec("DELETE FROM sent_rows WHERE id LIKE 'I9%'"),
    ],
  ])("stops every run where %s, and says what to put back", async (_, damage) => {
    const { send, service, database } = await desk();
    await send(LIST);
    openDatabase(database, [""]).exec(`VACUUM INTO '${database}.saved'`);
    await send(HEADER + rowsOf(9));
    writeLog(database);
    damage(database);
    for (const flags of [[], ["--dry-run"]]) {
      const { exit, stderr } = await send(HEADER + rowsOf(9), {
        flags,
        name: "other.csv",
        output: join(database, "../../other.csv"),
      });
      expect([exit, stderr]).toEqual([
        2,
        expect.stringContaining("it lacks the newest link that bulk created. Nothing was sent."),
      ]);
    }
    expect(service.arrivals).toHaveLength(5);
    rmSync(`${database}.mark`);
    expect((await send(LIST)).stdout).toContain("4 rows: 4 sent before");
  });

  it("leaves no trace of a dry run", async () => {
    const { send, folder } = await desk();
    await send(LIST, { flags: ["--dry-run"] });
    expect(existsSync(folder)).toBe(false);
  });

  it("holds every row if the results cannot be written at the end", async () => {
    let remove = (): void => undefined;
    const { home, send, service, links } = await desk((before) => {
      if (before === 1) remove();
      return "create";
    });
    const folder = join(home, "results");
    mkdirSync(folder);
    remove = () => rmSync(folder, { recursive: true });
    const { exit, stderr } = await send(LIST, { output: join(folder, "out.csv") });
    expect(exit).toBe(2);
    expect(stderr).toContain(`Cannot write the results to ${join(folder, "out.csv")}`);
    expect(stderr).toContain("Run the same command again with another --output: no row is sent twice.");
    const again = join(home, "again.csv");
    expect((await send(LIST, { output: again })).stdout).toContain("4 rows: 4 sent before");
    expect(readFileSync(again, "utf8").match(/,https:\S+,active,/g)).toHaveLength(4);
    expect(links()).toEqual([1, 1, 1, 1]);
    expect(service.arrivals).toHaveLength(4);
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
    expect(results()[1]).toMatch(/,I1\.1,https:\S+,created,,http\S+ 1$/);
    expect(stderr).toContain("These results have them: keep a copy.");
  });
});

/** Leaves the database in one file: the driver of Node 20 does so only when the process ends. */
function writeLog(path: string): void {
  const database = openDatabase(path, [""]);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  for (const log of ["-wal", "-shm"]) rmSync(path + log, { force: true });
}

/** With the size of a database, and nothing in it. */
function replaceByEmpty(path: string): void {
  rmSync(path);
  openDatabase(path, []).close();
  expect(statSync(path).size).toBeGreaterThan(0);
}

/** The pages after the first. */
function damageInside(path: string): void {
  const bytes = readFileSync(path);
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 7)]));
}
