/** Lists that `paylink bulk` gets again, in process: renamed, changed, from stdin, at another spelling of the service. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { interrupted, runCommand, type CommandEnd } from "../support/context.ts";
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

const errorOf = ({ stderr }: CommandEnd): unknown => (JSON.parse(stderr) as { error: unknown }).error;

describe("a list that was sent", () => {
  it.each(["renamed.csv", "-"])("is the same list as %s", async (name) => {
    const { send, links } = await desk();
    await send(LIST);
    const again = await send(LIST, { name });
    expect(again).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("4 created (4 in an earlier run)"),
    });
    expect(again.stderr).toContain("This list was sent before, from ");
    expect(links()).toEqual([1, 1, 1, 1]);
  });

  it("is the same list at every spelling of the service's address", async () => {
    const { send, service, links } = await desk();
    await send(LIST);
    const { port } = new URL(service.url);
    const spellings = [`${service.url}/`, `HTTP://127.0.0.1:${port}`, `http://LocalHost:${port}/`];
    for (const url of spellings) {
      expect(await send(LIST, { url })).toMatchObject({
        exit: 0,
        stdout: expect.stringContaining("4 created (4 in an earlier run)"),
      });
    }
    expect(links()).toEqual([1, 1, 1, 1]);
  });

  it.each([
    ["renamed and grown", { name: "other.csv" }, HEADER + rowsOf(0, 1, 2, 3, 4), 4],
    ["sorted", { name: "other.csv" }, HEADER + rowsOf(3, 2, 1, 0), 4],
    ["a part of it", { name: "other.csv" }, HEADER + rowsOf(1, 2), 2],
    ["grown, from stdin", { name: "-" }, HEADER + rowsOf(9, 0, 1, 2, 3), 4],
    ["written otherwise", { name: "other.csv" }, "customerName;amount;invoiceId\nEve;9;I9\nAda;1.5;I0\n", 1],
    [
      "with a default as a column",
      { name: "other.csv" },
      "currency,amount,customerName,invoiceId\nEUR,1.5,Ada,I0\n",
      1,
    ],
  ])("is not sent again when it returns %s", async (_, run, text, shared) => {
    const { send, service } = await desk();
    await send(LIST);
    const back = await send(text, { ...run, flags: ["--json"] });
    expect(back.exit).toBe(2);
    expect(errorOf(back)).toMatchObject({
      code: "sent_before",
      details: {
        sent_before: shared,
        problems: expect.arrayContaining([
          {
            at: expect.stringMatching(/^line \d+$/),
            message: expect.stringMatching(/^has the link https:.*=I[01]\.1$/),
          },
        ]),
        hint: expect.stringContaining("--again"),
      },
    });
    expect(service.arrivals).toHaveLength(4);
  });

  it("names ten rows that were sent, and counts the others", async () => {
    const { send } = await desk();
    const many = Array.from({ length: 15 }, (_, row) => row);
    await send(HEADER + rowsOf(...many));
    const { exit, stderr } = await send(HEADER + rowsOf(99, ...many), { name: "other.csv" });
    expect(exit).toBe(2);
    expect(stderr).toContain("15 rows of 16 were sent before, from another list. This run sent nothing.");
    expect(stderr).toContain("line 3   has the link https://pay.example/pay?r=I0.1");
    expect(stderr).toContain("and 5 more");
    expect(stderr).toContain("To send only the others (1 row): --new-rows");
  });

  it("is sent in its new rows with --new-rows, of identical rows as many as are new", async () => {
    const { send, results, service } = await desk();
    const twice = "--allow-duplicates";
    await send(HEADER + rowsOf(0, 1, 1), { flags: [twice] });
    const grown = HEADER + rowsOf(1, 5, 1, 1, 0);
    const run = await send(grown, { name: "grown.csv", flags: ["--new-rows", twice] });
    expect(run).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("5 rows: 2 created, 3 sent before"),
    });
    expect(service.arrivals.toSorted()).toEqual(["I0", "I1", "I1", "I1", "I5"]);
    expect(results().map((line) => line.split(",").slice(0, 6))).toEqual([
      ["I1", "2.50", "Ada", "I1.1", "https://pay.example/pay?r=I1.1", "sent_before"],
      ["I5", "6.50", "Ada", "I5.1", "https://pay.example/pay?r=I5.1", "created"],
      ["I1", "2.50", "Ada", "I1.2", "https://pay.example/pay?r=I1.2", "sent_before"],
      ["I1", "2.50", "Ada", "I1.3", "https://pay.example/pay?r=I1.3", "created"],
      ["I0", "1.50", "Ada", "I0.1", "https://pay.example/pay?r=I0.1", "sent_before"],
    ]);
    expect(await send(grown, { name: "grown.csv", flags: [twice] })).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("Every row was sent before this run"),
    });
    expect(service.arrivals).toHaveLength(5);
  });

  it("may be replaced by another list in the same file with --new-rows", async () => {
    const { send, links } = await desk();
    await send(HEADER + rowsOf(0, 1));
    const next = HEADER + rowsOf(1, 7, 8);
    const refused = await send(next);
    expect(refused).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("line 2  has changed; it has the link"),
    });
    expect(refused.stderr).toContain("--new-rows");
    expect((await send(next, { flags: ["--new-rows"] })).exit).toBe(0);
    expect(links()).toEqual([1, 1, 1, 1]);
  });

  it("is sent again with --again, and only once however often that run is interrupted", async () => {
    const control = new AbortController();
    const { send, links, service } = await desk((before) => {
      if (before === 5) control.abort(interrupted());
      return "create";
    });
    await send(LIST);
    const slow = ["--again", "--concurrency", "1", "--rate", "1"];
    const cut = await send(LIST, { flags: slow, signal: control.signal });
    expect(cut.exit).toBe(130);
    expect(service.arrivals).toHaveLength(6);
    expect((await send(LIST, { flags: ["--again"] })).exit).toBe(0);
    expect(links()).toEqual([2, 2, 2, 2]);
    expect((await send(LIST)).exit).toBe(0);
    expect(links()).toEqual([2, 2, 2, 2]);
    expect((await send(LIST, { flags: ["--again"] })).exit).toBe(0);
    expect(links()).toEqual([3, 3, 3, 3]);
  });

  it("counts rows of unknown outcome as sent", async () => {
    const { send, service } = await desk((before) => (before === 0 ? "created and reset" : "create"));
    await send(HEADER + rowsOf(0));
    const back = await send(HEADER + rowsOf(0, 1), { name: "other.csv" });
    expect(back).toMatchObject({ exit: 2, stderr: expect.stringContaining("line 2  may have a link") });
    expect(service.arrivals).toEqual(["I0"]);
  });

  it("does not count rows without a link", async () => {
    const { send, links } = await desk((before) => (before === 0 ? { status: 422 } : "create"));
    await send(HEADER + rowsOf(0));
    expect((await send(HEADER + rowsOf(0, 1), { name: "other.csv" })).exit).toBe(0);
    expect(links()).toEqual([1, 1]);
  });

  it("does not send rows that another list has sent since the interruption", async () => {
    const control = new AbortController();
    const { send, links, service } = await desk((before) => {
      if (before === 0) control.abort(interrupted());
      return "create";
    });
    const flags = ["--concurrency", "1", "--rate", "1"];
    expect((await send(LIST, { flags, signal: control.signal })).exit).toBe(130);
    expect((await send(HEADER + rowsOf(1, 2), { name: "rest.csv" })).exit).toBe(0);
    expect((await send(LIST)).exit).toBe(2);
    expect(service.arrivals).toEqual(["I0", "I1", "I2"]);
    expect((await send(LIST, { flags: ["--new-rows"] })).exit).toBe(0);
    expect(links()).toEqual([1, 1, 1, 1]);
  });

  it("may have expired since", async () => {
    const { send, service } = await desk();
    const [first, second] = ["2026-01-31T12:00:00Z", "2026-02-02T12:00:00Z"];
    const list = `invoiceId,amount,customerName,expirationDate\nI0,1,Ada,${first}\n`;
    expect((await send(list, { now: () => new Date("2026-01-31T11:00:00Z") })).exit).toBe(0);
    const now = () => new Date("2026-01-31T13:00:00Z");
    expect((await send(list, { now })).exit).toBe(0);
    const grown = `${list}I1,1,Ada,${second}\n`;
    const run = await send(grown, { name: "grown.csv", flags: ["--new-rows"], now });
    expect(run).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 created, 1 sent before") });
    expect(service.arrivals).toEqual(["I0", "I1"]);
  });
});
