/** `paylink bulk`, the real binary: against the sandbox, against a service that fails, interrupted and killed. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { startLinkService, type LinkService } from "../support/link-service.ts";
import { openScreen } from "../support/screen.ts";
import { readyUrl, runPaylink, startPaylink, type Ended } from "../support/paylink.ts";

const list = (rows: number): string =>
  `invoiceId,amount,customerName,note\n${Array.from({ length: rows }, (_, row) => `I${row},${row + 1}.50,Ada,n${row}\n`).join("")}`;

/** A list in a home of its own, and how to send it. */
function listOf(text: string, service: LinkService, folder = temporaryHome()) {
  const home = folder;
  mkdirSync(home, { recursive: true });
  const path = join(home, "orders.csv");
  writeFileSync(path, text);
  const args = ["bulk", path, "--currency", "EUR"];
  const env = service.env;
  return {
    home,
    path,
    env,
    args,
    send: (...more: string[]): Promise<Ended> => runPaylink([...args, ...more], { home, env }),
    results: (): string[][] =>
      readFileSync(join(home, "orders.links.csv"), "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split(",")),
  };
}

const lines = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const never = (): never => {
  throw new Error("nothing should have been sent");
};

describe("bulk", () => {
  it("creates one link a row at the sandbox, in order, ready to mail-merge", async () => {
    const home = temporaryHome();
    await readyUrl(startPaylink(["sandbox", "--port", "0", "--json"], { home }));
    const path = join(home, "orders.csv");
    writeFileSync(path, '\uFEFFAmount;Customer Name;Note\r\n10;Ada;=1+1\r\n20;"Bob; Sons";\r\n');
    const ended = await runPaylink(["bulk", path], { home });
    expect(ended).toMatchObject({ code: 0, stderr: "Kept for the results, and not sent: Note\n" });
    expect(ended.stdout).toContain("2 rows: 2 created\nResults in ");
    expect(readFileSync(join(home, "orders.links.csv"), "utf8")).toMatch(
      /^\uFEFFAmount;Customer Name;Note;id;url;status;error\n10;Ada;'=1\+1;[\w-]+;http:\/\/127\S+r=[\w-]+;created;\n20;"Bob; Sons";;[\w-]+;http:\S+;created;\n$/,
    );
  });

  it("takes rows from stdin, and tells scripts of each", async () => {
    const service = await startLinkService(() => "create");
    const home = temporaryHome();
    const output = join(home, "out.jsonl");
    const input =
      '{"amount":1.50,"invoiceId":"A","customerName":"Ada"}\n{"amount":2,"invoiceId":"B","customerName":"Bob"}\n';
    const run = () =>
      runPaylink(["bulk", "-", "--currency", "EUR", "-o", output, "--json"], {
        home,
        env: service.env,
        input,
      });
    const first = await run();
    expect(first.code).toBe(0);
    const told = lines(first.stdout);
    expect(told).toContainEqual({
      type: "row",
      line: 2,
      status: "created",
      id: "B.1",
      url: "https://pay.example/pay?r=B.1",
    });
    expect(told.at(-1)).toMatchObject({ type: "summary", rows: 2, created: 2, output });
    expect(lines(readFileSync(output, "utf8"))[0]).toEqual({
      amount: 1.5,
      invoiceId: "A",
      customerName: "Ada",
      id: "A.1",
      url: "https://pay.example/pay?r=A.1",
      status: "created",
    });
    expect((await run()).code).toBe(0);
    expect([...service.links]).toEqual([
      ["A", 1],
      ["B", 1],
    ]);
    expect(readdirSync(join(home, "data", "bulk")).filter((name) => !name.endsWith(".journal"))).toEqual([]);
  });

  it("refuses a base request with a repeated member, as create does", async () => {
    const service = await startLinkService(never);
    const list = listOf("amount,customerName\n1,Ada\n", service);
    const base = join(temporaryHome(), "base.json");
    writeFileSync(base, '{"currency":"EUR","terminalId":"1","terminalId":"2"}');
    const ended = await list.send("--from", base);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("Nothing was sent. Fix 1 problem:");
    expect(ended.stderr).toContain(`${base}: terminalId  must not be given twice`);
    expect(service.arrivals).toEqual([]);
  });

  it("names every bad row by line and column, and sends nothing", async () => {
    const service = await startLinkService(never);
    const bad = listOf("amount,customerName\n1,Ada\n1.005,Bob\n,\n2,\n1,2,3\n", service);
    const ended = await bad.send();
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("line 3, amount  must have at most 2 decimals");
    expect(ended.stderr).toContain("line 5, customerName  is required");
    expect(ended.stderr).toContain("line 6  has 3 columns, but the header has 2");
    expect(ended.stderr).toContain("3 rows of 4 cannot be sent. Nothing was sent.");
    const dry = await bad.send("--dry-run", "--json");
    expect(dry.code).toBe(2);
    expect(lines(dry.stdout).at(-1)).toEqual({ type: "summary", rows: 4, invalid: 3, warnings: [] });
    expect(lines(dry.stderr).at(-1)).toMatchObject({ error: { code: "usage", details: { invalid: 3 } } });
    expect(service.arrivals).toEqual([]);
  });

  it("sends the good rows with --skip-invalid, and the mended ones the next time", async () => {
    const service = await startLinkService(() => "create");
    const mixed = listOf(list(3).replace("I1,2.50", "I1,x"), service);
    const first = await mixed.send("--skip-invalid");
    expect(first.code).toBe(2);
    expect(first.stdout).toContain("3 rows: 2 created, 1 invalid");
    expect(mixed.results()[2]?.slice(4, 7)).toEqual(["", "", "invalid"]);
    expect(mixed.results()[2]?.[7]).toContain("amount must be a plain decimal");
    writeFileSync(mixed.path, list(4));
    const second = await mixed.send();
    expect(second.code).toBe(0);
    expect(second.stdout).toContain("4 rows: 4 created (2 in an earlier run)");
    expect([...service.links.values()]).toEqual([1, 1, 1, 1]);
  });

  it("checks without an account, and sends nothing without one", async () => {
    const home = temporaryHome();
    const path = join(home, "orders.csv");
    writeFileSync(path, "amount,currency,customerName,terminalId\n1,EUR,Ada,1\n");
    expect(await runPaylink(["bulk", path, "--dry-run"], { home })).toEqual({
      code: 0,
      stdout: "1 row, all valid. Nothing was sent.\n",
      stderr: "",
    });
    expect((await runPaylink(["bulk", path], { home })).code).toBe(3);
  });

  it("tells of each kind of warning once, with its first line and how many there are", async () => {
    const service = await startLinkService(() => "create");
    const odd = listOf(
      "Amount,currency,customerName,paymentSettings.callbackUrl\n1,EUR,Ada,http://shop.example/\n" +
        "0,,Bob,\n2,XXQ,Eve,\n0,EUR,Zoe,http://shop.example/\nx,XXQ,Max,\n",
      service,
    );
    const ended = await odd.send("--skip-invalid");
    expect(ended.stderr).toContain(
      [
        "! line 2, paymentSettings.callbackUrl should be https: the service posts webhooks to HTTPS addresses (and 1 more like it)",
        "! line 3, Amount is 0, so the customer has nothing to pay: only verifications and reusable links have amount 0 (and 1 more like it)",
        "! line 4, currency is not an ISO 4217 currency (XXQ)\n",
      ].join("\n"),
    );
    expect(service.arrivals).toHaveLength(4);
    const dry = await odd.send("--skip-invalid", "--dry-run", "--json");
    expect(lines(dry.stdout).at(-1)).toMatchObject({
      warnings: [
        { at: "paymentSettings.callbackUrl", line: 2, rows: 2 },
        { at: "Amount", line: 3, rows: 2 },
        { at: "currency", line: 4, rows: 1 },
      ],
    });
  });

  it("tells of links that the service made otherwise than it was asked to", async () => {
    const service = await startLinkService(({ before }) => (before < 2 ? "create" : "create otherwise"));
    const wrong = listOf(list(5), service);
    const ended = await wrong.send("--concurrency", "1");
    expect(ended).toMatchObject({
      code: 0,
      stderr:
        "Kept for the results, and not sent: note\n" +
        "! line 4, amount must be as sent (3.50) (and 2 more like it)\n",
    });
  });

  it("says that every row has its link, and how to send the same list again on purpose", async () => {
    const service = await startLinkService(() => "create");
    const sent = listOf(list(3), service);
    expect((await sent.send()).stderr).not.toContain("second link");
    const again = await sent.send();
    expect(again.code).toBe(0);
    const [, journal = ""] = /delete the journal of this list, (.+), and run/.exec(again.stderr) ?? [];
    expect(service.arrivals).toHaveLength(3);
    rmSync(journal);
    expect((await sent.send()).code).toBe(0);
    expect(service.arrivals).toHaveLength(6);
  });

  it("stops, and explains, where a row that was sent asks for something else", async () => {
    const service = await startLinkService(() => "create");
    const edited = listOf(list(3), service);
    await edited.send();
    writeFileSync(edited.path, list(3).replace("2.50", "3.50"));
    const ended = await edited.send();
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("line 3  has changed; it has the link https://pay.example/pay?r=I1.1");
    expect(service.arrivals).toHaveLength(3);
  });

  it("knows a list again under another name", async () => {
    const service = await startLinkService(() => "create");
    const renamed = listOf(list(3), service);
    await renamed.send();
    const other = join(renamed.home, "march.csv");
    writeFileSync(other, list(3));
    const ended = await runPaylink(["bulk", other, "--currency", "EUR"], renamed);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("This list was sent before");
    expect(service.arrivals).toHaveLength(3);
    expect(readFileSync(join(renamed.home, "march.links.csv"), "utf8")).toContain("r=I2.1,created");
  });

  it("stops at once where the account is refused", async () => {
    const service = await startLinkService(() => ({ status: 401 }));
    const refused = listOf(list(500), service);
    const ended = await refused.send("--json");
    expect(ended.code).toBe(3);
    expect(service.arrivals.length).toBeLessThanOrEqual(8);
    expect(JSON.parse(ended.stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({
      error: { code: "unauthorized", details: { not_sent: 500 - service.arrivals.length } },
    });
  });

  it("renews a token that the service takes no more, and loses no row by it", async () => {
    const home = temporaryHome();
    const url = await readyUrl(startPaylink(["sandbox", "--port", "0", "--json"], { home }));
    const { profiles } = JSON.parse(readFileSync(join(home, "settings.json"), "utf8")) as {
      profiles: Record<string, Record<string, string>>;
    };
    const service = ["--base-url", url, "--terminal-id", "1234567890", "--token-url", `${url}oauth/token`];
    const credentials = ["--client-id", "sandbox", "--client-secret-stdin"];
    const secret = { home, input: profiles["sandbox"]?.["clientSecret"] ?? "" };
    expect((await runPaylink(["login", "-p", "shop", ...service, ...credentials], secret)).code).toBe(0);
    const path = join(home, "orders.csv");
    // Longer than the test: it is stopped once it has gone on with its new token.
    writeFileSync(path, list(3000));
    const args = ["bulk", path, "-p", "shop", "--currency", "EUR", "--rate", "50", "--json", "--debug"];
    const running = startPaylink(args, { home });
    const created = (): number => running.stdout().split('"status":"created"').length - 1;
    const tokens = (): number => running.stderr().match(/→ POST \S*\/oauth\/token/g)?.length ?? 0;
    await running.until(/"created"/);
    expect(tokens()).toBe(1);
    // The sandbox's tokens live an hour by its own clock, which the run does not share: only a 401 tells.
    expect((await runPaylink(["sandbox", "advance", "2h"], { home })).code).toBe(0);
    await expect.poll(tokens, { timeout: 20_000 }).toBeGreaterThan(1);
    const before = created();
    await expect.poll(created, { timeout: 20_000 }).toBeGreaterThan(before + 8);
    const { code, stdout, stderr } = await running.stop();
    expect(code).toBe(130);
    expect(stderr).toContain("← 401");
    const summary = { created: created(), refused: 0, not_reached: 0, unknown: 0 };
    expect(lines(stdout).at(-1)).toMatchObject(summary);
  });

  it("leaves rows of unknown outcome alone until it is told to send them again", async () => {
    const service = await startLinkService(({ before }) =>
      before === 4 ? "reset" : before === 7 ? "created and silent" : "create",
    );
    const unknown = listOf(list(12), service);
    const first = await unknown.send("--timeout", "500ms");
    expect(first.code).toBe(6);
    expect(first.stdout).toContain("12 rows: 10 created, 2 unknown");
    expect(first.stderr).toMatch(/line \d+ {2}unknown {2}The request was sent/);
    expect((await unknown.send()).code).toBe(6);
    expect(service.arrivals).toHaveLength(12);
    const again = await unknown.send("--retry-unknown");
    expect(again.code).toBe(0);
    expect(again.stdout).toContain("12 rows: 12 created (10 in an earlier run)");
    expect(service.arrivals).toHaveLength(14);
  });

  it("finishes what is in the air at Ctrl-C, and says how to go on", async () => {
    const service = await startLinkService(() => "create");
    const cut = listOf(list(400), service);
    const running = startPaylink([...cut.args, "--rate", "50", "--json"], cut);
    await running.until(/"created"/);
    const ended = await running.stop();
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain("Run the same command again to continue");
    expect(ended.stderr).not.toContain("Warning");
    expect(lines(ended.stdout).at(-1)).toMatchObject({
      type: "summary",
      unknown: 0,
      created: service.arrivals.length,
    });
    expect((await cut.send()).code).toBe(0);
    expect(service.arrivals).toHaveLength(400);
    expect([...service.links.values()].every((links) => links === 1)).toBe(true);
  });

  it("draws a bar on a terminal, and leaves nothing of it behind", async () => {
    const service = await startLinkService(() => "create");
    const watched = listOf(list(60), service);
    const screen = openScreen([...watched.args, "--rate", "40"], watched);
    await screen.until(/█+░+ {2}\d+ of 60 \(\d+%\) {2}[\d.]+\/s {2}\ds left/);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(
      /^Kept for the results, and not sent: note\n60 rows: 60 created\nResults in \S+$/,
    );
  });

  it("releases its lock when the journal cannot be created", async () => {
    const service = await startLinkService(() => "create");
    // A file may have 512 bytes, or 1,024, as the shell counts: room for the lock, but not for the list's path.
    const small = listOf(
      list(1),
      service,
      join(temporaryHome(), ...Array.from({ length: 6 }, () => "x".repeat(200))),
    );
    const folder = join(small.home, "data", "bulk");
    const ended = await runPaylink(small.args, {
      ...small,
      through: ["sh", "-c", 'ulimit -S -f 1; exec "$@"', "sh"],
    });
    expect(ended.code).not.toBe(0);
    expect(service.arrivals).toEqual([]);
    expect(readdirSync(folder).filter((name) => !name.endsWith(".new"))).toEqual([]);
    expect((await small.send()).code).toBe(0);
    expect(service.arrivals).toEqual(["I0"]);
  });

  it("keeps a second run off a list that is being sent", async () => {
    const service = await startLinkService(() => "create");
    const twice = listOf(list(400), service);
    const running = startPaylink([...twice.args, "--rate", "20", "--json"], twice);
    await running.until(/"created"/);
    const second = await twice.send();
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`Process ${running.pid} is sending this list now`);
    await running.stop();
  });
});

describe("each row exactly once", () => {
  /** What the results say of each row, held against what the service made. */
  function expectExactlyOnce(results: string[][], links: ReadonlyMap<string, number>, rows: number): void {
    const [, ...records] = results;
    expect(records.map(([invoice]) => invoice)).toEqual(Array.from({ length: rows }, (_, row) => `I${row}`));
    for (const [invoice = "", , , , id, , status] of records) {
      const made = links.get(invoice) ?? 0;
      expect([invoice, status, made]).toEqual([
        invoice,
        status,
        status === "created" ? 1 : Math.min(made, 1),
      ]);
      expect(["created", "unknown"]).toContain(status);
      if (status === "created") expect(id).toBe(`${invoice}.1`);
    }
  }

  it("through kills at any moment", async () => {
    const rows = 300;
    const service = await startLinkService(() => "create");
    const killed = listOf(list(rows), service);
    for (const after of [1, 17, 60, 130]) {
      const running = startPaylink([...killed.args, "--json", "--rate", "400"], killed);
      const target = service.arrivals.length + after;
      await new Promise<void>((reached) => {
        const look = setInterval(() => {
          if (service.arrivals.length < target) return;
          clearInterval(look);
          reached();
        }, 1);
      });
      await running.stop("SIGKILL");
    }
    const ended = await killed.send();
    expect([0, 6]).toContain(ended.code);
    expectExactlyOnce(killed.results(), service.links, rows);
    const unknown = killed.results().filter((record) => record[6] === "unknown").length;
    expect(unknown).toBeLessThanOrEqual(4 * 12);
  });

  it("from a service that refuses, resets and stalls at random", async () => {
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
    const hostile = listOf(list(rows), service);
    const ended = await hostile.send("--timeout", "1s");
    expect(ended.code).toBe(6);
    expectExactlyOnce(hostile.results(), service.links, rows);
  });
});
