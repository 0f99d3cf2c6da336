/** Whole runs of `paylink bulk`, in process: its rows, warnings and results, at a service that may fail. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { bulkLists, expectExactlyOnce, listOfRows } from "../support/bulk-list.ts";
import { CLIENT, startDocumentedService } from "../support/documented-service.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { startLinkService } from "../support/link-service.ts";
import { openSender } from "../support/sender.ts";

const listOf = bulkLists(runCommand);

/** Does not wait long for a service that is silent. */
const listOfImpatient = bulkLists((args, options) => {
  const send = openSender();
  return runCommand(args, {
    ...options,
    send: (request, limits) => send(request, { ...limits, timeout: 3000 }),
  });
});

const never = (): never => {
  throw new Error("nothing should have been sent");
};

describe("a run of bulk", () => {
  it("reads rows from standard input, and prints a JSON line for each", async () => {
    const service = await startLinkService(() => "create");
    const home = temporaryHome();
    const output = join(home, "out.jsonl");
    const input =
      '{"amount":1.50,"invoiceId":"A","customerName":"Ada"}\n{"amount":2,"invoiceId":"B","customerName":"Bob"}\n';
    const run = () =>
      runCommand(["bulk", "-", "--currency", "EUR", "-o", output, "--json"], {
        home,
        env: service.env,
        stdin: input,
      });
    const first = await run();
    expect(first.exit).toBe(0);
    const printed = jsonLines(first.stdout);
    expect(printed).toContainEqual({
      type: "row",
      line: 2,
      status: "created",
      id: "B.1",
      url: "https://pay.example/pay?r=B.1",
    });
    expect(printed.at(-1)).toMatchObject({ type: "summary", rows: 2, created: 2, output });
    expect(jsonLines(readFileSync(output, "utf8"))[0]).toEqual({
      amount: 1.5,
      invoiceId: "A",
      customerName: "Ada",
      id: "A.1",
      url: "https://pay.example/pay?r=A.1",
      status: "created",
      service: `${service.url.replace("127.0.0.1", "localhost")} 1`,
    });
    expect((await run()).exit).toBe(0);
    expect([...service.links]).toEqual([
      ["A", 1],
      ["B", 1],
    ]);
    expect(readdirSync(join(home, "data", "bulk")).filter((name) => /spool/.test(name))).toEqual([]);
  });

  it("names every bad row by line and column, and sends nothing", async () => {
    const service = await startLinkService(never);
    const bad = listOf("amount,customerName\n1,Ada\n1.005,Bob\n,\n2,\n1,2,3\n", service);
    const ended = await bad.send();
    expect(ended.exit).toBe(2);
    expect(ended.stderr).toContain("line 3, amount  must have at most 2 decimals");
    expect(ended.stderr).toContain("line 5, customerName  is required");
    expect(ended.stderr).toContain("line 6  has 3 columns, but the header has 2");
    expect(ended.stderr).toContain("3 rows of 4 cannot be sent. Nothing was sent.");
    const dry = await bad.send("--dry-run", "--json");
    expect(dry.exit).toBe(2);
    const json = await bad.send("--json");
    expect(json.exit).toBe(2);
    for (const { stdout } of [dry, json])
      expect(jsonLines(stdout).slice(0, 3)).toMatchObject([
        { type: "row", line: 3, status: "invalid", problems: [{ at: "amount" }] },
        { type: "row", line: 5, status: "invalid" },
        { type: "row", line: 6, status: "invalid" },
      ]);
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: "usage", details: { rows: 4, invalid: 3 } },
    });
    expect(existsSync(join(bad.home, "orders.links.csv"))).toBe(false);
    expect(jsonLines(dry.stdout).at(-1)).toEqual({
      type: "summary",
      profile: null,
      service: service.url,
      uncompared: 0,
      read: 0,
      since: null,
      elsewhere: 0,
      rows: 4,
      invalid: 3,
      sent_before: 0,
      before: {},
      links: 1,
      sums: { EUR: "1.00" },
      first: [expect.objectContaining({ amount: 1, currency: "EUR", customerName: "Ada" })],
      unsent_columns: [],
      warnings: [],
    });
    expect(service.arrivals).toEqual([]);
  });

  it("sends the good rows with --skip-invalid, and the fixed ones in the next run", async () => {
    const service = await startLinkService(() => "create");
    const mixed = listOf(listOfRows(3).replace("I1,2.50", "I1,x"), service);
    const first = await mixed.send("--skip-invalid");
    expect(first.exit).toBe(2);
    expect(first.stdout).toContain("3 rows: 2 created, 1 invalid");
    expect(mixed.results()[2]?.slice(4, 7)).toEqual(["", "", "invalid"]);
    expect(mixed.results()[2]?.[7]).toContain("amount must be a plain decimal");
    writeFileSync(mixed.path, listOfRows(4));
    const second = await mixed.send();
    expect(second.exit).toBe(0);
    expect(second.stdout).toContain("4 rows: 2 created, 2 sent before");
    expect([...service.links.values()]).toEqual([1, 1, 1, 1]);
  });

  it("warns once for each kind of problem, with its first line and the number of rows", async () => {
    const service = await startLinkService(() => "create");
    const unusual = listOf(
      "Amount,currency,customerName,paymentSettings.callbackUrl\n1,EUR,Ada,http://shop.example/\n" +
        "0,EUR,Bob,\n2,EUR,Eve,\n0,EUR,Zoe,http://shop.example/\nx,EUR,Max,\n",
      service,
    );
    const ended = await unusual.send("--skip-invalid");
    expect(ended.stderr).toContain(
      [
        "! lines 2, 5, paymentSettings.callbackUrl  should be https: the service posts webhooks to HTTPS addresses",
        "! lines 3, 5, Amount  is 0, so the customer has nothing to pay: only verifications and reusable links have amount 0\n",
      ].join("\n"),
    );
    expect(service.arrivals).toHaveLength(4);
    const dry = await unusual.send("--skip-invalid", "--dry-run", "--json");
    expect(jsonLines(dry.stdout).at(-1)).toMatchObject({
      warnings: [
        { at: "paymentSettings.callbackUrl", line: 2, lines: [2, 5], rows: 2 },
        { at: "Amount", line: 3, rows: 2 },
      ],
    });
  });

  it("warns of links that differ from what was sent", async () => {
    const service = await startLinkService(({ before }) => (before < 2 ? "create" : "create otherwise"));
    const wrong = listOf(listOfRows(5), service);
    const ended = await wrong.send("--concurrency", "1");
    expect(ended).toMatchObject({
      exit: 0,
      stderr:
        "Copied to the results, and not sent: colour\n! lines 4, 5, 6, amount  must be as sent (3.50)\n" +
        "! 3 links do not ask the customer for what you sent: do not pass them on. To cancel them: paylink links cancel I2.1 I3.1 I4.1\n",
    });
  });

  it("warns of one link that the answers to two rows have", async () => {
    const service = await startLinkService(({ before }) => (before === 0 ? "create" : "answer again"));
    const named = listOf("invoiceId,customerName,amount,currency\nM-1,Ada,20,EUR\nM-2,Bob,20,EUR\n", service);
    const advice =
      "The link does not ask the customer for what you sent: do not pass it on. To cancel it: paylink links cancel M-1.1\n";
    expect((await named.send("--concurrency", "1")).stderr).toContain(advice);
    const nameless = await startLinkService(({ before }) => (before === 0 ? "create" : "answer again"));
    const fees = listOf("customerName,amount,currency\nAda,20,EUR\nBob,20,EUR\n", nameless);
    const { stderr } = await fees.send("--concurrency", "1");
    expect(stderr).toContain("! line 3, id  must be new: another row has this link\n");
    expect(stderr).toContain("do not pass it on. To cancel it: paylink links cancel .1\n");
  });

  it("ends with an unknown outcome if rows may have links when the service takes no more", async () => {
    const service = await startLinkService(({ before }) =>
      before === 0 ? "reset" : { status: 429, retryAfter: 0 },
    );
    const stopped = await listOf(listOfRows(3), service).send("--concurrency", "1", "--json");
    expect(stopped.exit).toBe(6);
    expect(JSON.parse(stopped.stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({
      error: { code: "outcome_unknown", details: { unknown: 1 } },
    });
  });

  it("stops at once if the account is refused", async () => {
    const service = await startLinkService(() => ({ status: 401 }));
    const refused = listOf(listOfRows(500), service);
    const ended = await refused.send("--json");
    expect(ended.exit).toBe(3);
    expect(service.arrivals.length).toBeLessThanOrEqual(8);
    expect(JSON.parse(ended.stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({
      error: { code: "unauthorized", details: { not_sent: 500 - service.arrivals.length } },
    });
  });

  it("sends for as long as --timeout says, finishes what is in flight, and continues in the next run", async () => {
    const service = await startLinkService(() => "create");
    const cut = listOf(listOfRows(40), service);
    const { exit, stdout, stderr } = await cut.send("--timeout", "3s", "--rate", "5");
    expect(exit).toBe(8);
    expect(stderr).toMatch(/The run was stopped, with \d+ rows not sent\. Timed out after 3s\./);
    expect(stdout).toMatch(/^40 rows: \d+ created, \d+ not sent\n/);
    expect((await cut.send()).exit).toBe(0);
    expect([...service.links.values()]).toEqual(Array.from({ length: 40 }, () => 1));
  });

  it("sends rows of unknown outcome again with --again unknown alone, and only those that have no link", async () => {
    const service = await startLinkService(({ before }) =>
      before === 4 ? "reset" : before === 7 ? "created and silent" : "create",
    );
    const unknown = listOfImpatient(listOfRows(12), service);
    const first = await unknown.send();
    expect(first.exit).toBe(6);
    expect(first.stdout).toContain("12 rows: 10 created, 2 unknown");
    expect(first.stderr).toMatch(/line \d+, I\d+ {2}unknown {2}The request was sent/);
    expect((await unknown.send()).exit).toBe(6);
    expect(service.arrivals).toHaveLength(12);
    const refused = await unknown.send("--again", "unknown");
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain(
      "--again unknown sends 1 row once more, for which the service has no link. Nothing was sent.",
    );
    const again = await unknown.send("--again", "unknown", "--yes");
    expect(again.exit).toBe(0);
    expect(again.stdout).toContain("12 rows: 1 created, 11 sent before");
    expect([...service.links.values()]).toEqual(Array.from({ length: 12 }, () => 1));
    expect((await unknown.send()).stdout).toContain("12 rows: 12 sent before");
  });

  it("renews a token that the service no longer accepts, and loses no row", async () => {
    const service = await startDocumentedService({ tokenUses: 10 });
    const home = temporaryHome();
    await runCommand(["login", ...service.login, "--no-check"], { home, stdin: CLIENT.secret });
    // Of more at once, some may use up the new token before another has sent its row again.
    const args = ["bulk", "-", "--concurrency", "4", "--json", "-o", join(home, "out.csv")];
    const { exit, stdout } = await runCommand(args, { home, stdin: listOfRows(30) });
    expect(exit).toBe(0);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ created: 30, refused: 0, unknown: 0 });
    expect(service.requests.filter((one) => one === "POST /oauth2/token").length).toBeGreaterThan(2);
  });

  it("reports no row as created without a URL", async () => {
    const service = await startLinkService(() => "created without a URL");
    const sent = listOf(listOfRows(1), service);
    expect((await sent.send()).exit).toBe(6);
    expect(sent.results()[1]?.slice(4).join()).toBe(
      ',,unknown,"The service answered 200 with no URL of a link. {""result"":""done""}",' +
        `${service.url.replace("127.0.0.1", "localhost")} 1`,
    );
  });

  it("gives each link to its own row if the list is sorted and saved during the run", async () => {
    const list = listOfRows(40);
    const [header, ...rows] = list.trim().split("\n");
    const service = await startLinkService(({ before }) => {
      if (before === 0) writeFileSync(edited.path, [header, ...rows.toReversed(), ""].join("\n"));
      return "create";
    });
    const edited = listOf(list, service);
    expect((await edited.send()).exit).toBe(0);
    expectExactlyOnce(edited.results(), service.links, 40);
  });

  it("creates each link once at a service that refuses, resets and stalls at random", async () => {
    const rows = 300;
    let seed = 7;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const service = await startLinkService(() => {
      const chance = random();
      if (chance < 0.05) return { status: 429, retryAfter: 0 };
      if (chance < 0.1) return { status: 503, retryAfter: 0 };
      if (chance < 0.12) return "reset";
      if (chance < 0.14) return "created and reset";
      return chance < 0.145 ? "created and silent" : chance < 0.15 ? { status: 500 } : "create";
    });
    const hostile = listOfImpatient(listOfRows(rows), service);
    const ended = await hostile.send();
    expect(ended.exit).toBe(6);
    expectExactlyOnce(hostile.results(), service.links, rows);
  });
});
