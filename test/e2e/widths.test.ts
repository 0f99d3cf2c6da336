/** What fits a terminal of 60, 80, 120 and 200 columns. */
import { describe, expect, it } from "vitest";
import { startListenCommand, startSandboxCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { openScreen } from "../support/screen.ts";
import { keyFile } from "../support/keys.ts";
import { widthOf } from "../../src/render/width.ts";
import { post, record, webhook } from "../support/webhooks.ts";

/** The lines as they were printed, before the terminal breaks them. */
const widest = (raw: string): number => {
  // oxlint-disable-next-line no-control-regex -- colours take no room
  const lines = raw.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "").split(/\r?\n/);
  return Math.max(...lines.map(widthOf));
};

/** Commands stay on one line, so that they can be copied. */
const withoutCommands = (raw: string): string => raw.replace(/^.*\bpaylink .*$/gm, "");

describe.each([60, 120])("with %i columns", (columns) => {
  it.each(["help errors", "help reasons", "help environment"])("%s fits", async (args) => {
    const screen = openScreen(args.split(" "), { home: temporaryHome(), columns });
    expect(await screen.ended).toBe(0);
    expect(screen.raw()).toMatch(/\S/);
    expect(widest(screen.raw())).toBeLessThanOrEqual(columns);
  });

  it.each([
    "create --help",
    "trigger --help",
    "sandbox --help",
    "bulk --help",
    "check --help",
    "help settings",
    "help",
  ])("%s fits, except for commands to copy", async (args) => {
    const screen = openScreen(args.split(" "), { home: temporaryHome(), columns });
    expect(await screen.ended).toBe(0);
    expect(widest(withoutCommands(screen.raw()))).toBeLessThanOrEqual(columns);
  });

  it("errors, warnings and notes break no word", async () => {
    const home = temporaryHome();
    for (const args of [
      ["events", "show"],
      ["verify", "--event"],
      ["create", "--amnt", "1"],
      ["create", "--amount", "10", "--currency", "EUR"],
      ["events", "prune", "--before", "2020-01-01", "--yes"],
      ["reconcile", "--books", "nope.csv", "--map", "a", "--decimal-comma"],
    ]) {
      const screen = openScreen([...args, "--no-input"], { home, columns });
      await screen.ended;
      expect(widest(withoutCommands(screen.raw()))).toBeLessThanOrEqual(columns);
    }
  });
});

describe.each([60, 80, 120, 200])("with %i columns", (columns) => {
  it("demo fits", async () => {
    const screen = openScreen(["demo"], { home: temporaryHome(), columns });
    expect(await screen.ended).toBe(0);
    expect(screen.raw()).toMatch(/\S/);
    expect(widest(screen.raw())).toBeLessThanOrEqual(columns);
  });

  it("status and config list break no words except addresses and paths", async () => {
    const home = temporaryHome();
    for (const [key, value] of [
      ["baseUrl", "http://127.0.0.1:9"],
      ["customerName", "Ada Augusta King, Countess of Lovelace, of Ockham Park in the county of Surrey"],
    ] as const)
      await runCommand(["config", "set", key, value], { home });
    for (const args of [["status"], ["config", "list"]]) {
      const screen = openScreen(args, { home, columns });
      await screen.ended;
      expect(screen.raw()).toMatch(/127\.0\.0\.1/);
      const prose = withoutCommands(screen.raw()).replace(/\S*[/]\S*/g, "");
      expect(widest(prose)).toBeLessThanOrEqual(columns);
    }
  });

  it("links list fits, each link on one line with its id from 80 columns on", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const create = ["create", "--amount", "1234.50", "--currency", "EUR", "--json"];
    const named = ["--customer-name", "Ada Augusta King", "--invoice-id", "INV-2026-0001"];
    const { stdout } = await runCommand([...create, ...named], { home });
    const { id } = JSON.parse(stdout) as { id: string };
    const screen = openScreen(["links", "list"], { home, columns });
    expect(await screen.ended).toBe(0);
    const [table = ""] = screen.raw().split("Only the last");
    expect(widest(table)).toBeLessThanOrEqual(columns);
    expect(table).toContain(id);
    expect(table).toContain("EUR 1234.50");
    // The heads, the link, and the sum.
    if (columns >= 80) expect(table.trim().split("\n")).toHaveLength(3);
  });

  it("a link, its order and its webhook break no word, and cut nothing that is pasted", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const order = "注文-👩‍👧-שלום\u202e-1";
    const texts = [
      "--description",
      "Café e\u0301té 注文 👩‍👧 ".repeat(12),
      "--customer-name",
      "山田太郎 ".repeat(12),
    ];
    const create = ["create", "--amount", "10", "--currency", "EUR", "--invoice-id", order, "-q", ...texts];
    const { stdout: link } = await runCommand(create, { home });
    const [, id = ""] = /r=(\w+)/.exec(link) ?? [];
    const listening = await startListenCommand(home);
    const uti = "0e48ac1d-c7c5-4716-8702-6c515f82fb3e";
    const sent = ["trigger", "approved", "--to", listening.url, "--reference", order, "--set", `uti=${uti}`];
    await runCommand(sent, { home });
    await listening.stop();
    const shown = async (...args: string[]): Promise<string> => {
      const screen = openScreen(args, { home, columns });
      await screen.ended;
      const prose = withoutCommands(screen.raw()).replaceAll(link.trim(), "");
      expect(widest(prose)).toBeLessThanOrEqual(columns);
      return screen.raw();
    };
    // Shells read such a number in different ways: it is named, and no command is printed.
    const ofLink = await shown("links", "show", id);
    expect(ofLink.replaceAll(/\s+/g, " ")).toContain("no command can be pasted");
    expect(ofLink).not.toContain("paylink reconcile");
    // As orders are compared, without what is invisible.
    expect(await shown("events", "show", uti)).toContain("paylink reconcile '");
    const full = openScreen(["events", "show", uti, "--full"], { home, columns });
    await full.ended;
    // The lines of its request are whole too.
    expect(full.raw()).toMatch(/ "content-type"\);created=/);
    expect(full.raw()).toContain(uti);
    expect(await shown("reconcile")).toContain("EUR 10.00");
    expect(await shown("reconcile", order)).toContain(uti);
    expect(await shown("events", "stats")).toMatch(/[Nn]othing/);
  });

  it("the first lines of listen fit, but for its addresses and its store", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const screen = openScreen(["listen", "--port", "0"], { home, columns });
    const [, url = ""] = await screen.until(/Listening on (\S+)/);
    await screen.until(/--public-url/);
    const tampered = ["trigger", "approved", "--to", url, "--tamper", "body"];
    expect((await runCommand(tampered, { home })).exit).toBe(0);
    await screen.until(/rejected\s+401[^]*the\s+body\s+has/);
    const prose = withoutCommands(screen.raw()).replace(/\S*[/]\S*/g, "");
    expect(widest(prose)).toBeLessThanOrEqual(columns);
  });

  it("events list and the record of events show fit", async () => {
    const home = temporaryHome();
    const listening = await startListenCommand(home, "--key", keyFile(home));
    const { url } = listening;
    expect(await post(url, webhook(url, record({ uti: "a-1", reference: "R".repeat(60) })))).toBe(200);
    await listening.stop();
    const screen = openScreen(["events", "list"], { home, columns });
    expect(await screen.ended).toBe(0);
    expect(screen.raw()).toContain("APPROVED");
    expect(widest(screen.raw())).toBeLessThanOrEqual(columns);
    const shown = openScreen(["events", "show", "a-1", "--full"], { home, columns });
    expect(await shown.ended).toBe(0);
    const [whole = ""] = shown.raw().split(/^ {2}\S*request/m);
    expect(whole).toContain("cardPan");
    expect(widest(whole)).toBeLessThanOrEqual(columns);
    const { stdout } = await runCommand(["events", "list"], { home });
    expect(stdout).toContain("R".repeat(60));
  });

  it("the first lines of the sandbox fit, except for its addresses", async () => {
    const screen = openScreen(["sandbox", "--port", "0"], { home: temporaryHome(), columns });
    await screen.until(/paylink create/);
    expect(widest(screen.raw().replace(/http:\S+/g, ""))).toBeLessThanOrEqual(columns);
  });
});
