/** What fits a terminal of 60, 80, 120 and 200 columns. */
import { describe, expect, it } from "vitest";
import { startCommand, startListenCommand, startSandboxCommand } from "../support/background-command.ts";
import { type CommandEnd, runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";
import { giveMerchant } from "../support/merchant.ts";
import { openScreen } from "../support/screen.ts";
import { widthOf } from "../../src/render/width.ts";
import { post, record, webhook } from "../support/webhooks.ts";

/** The columns of the longest line. */
const widest = (printed: string): number => {
  // oxlint-disable-next-line no-control-regex -- colours take no room
  const lines = printed.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "").split(/\r?\n/);
  return Math.max(...lines.map(widthOf));
};

/** Commands stay on one line, so that they can be copied. */
const withoutCommands = (printed: string): string => printed.replace(/^.*\bpaylink .*$/gm, "");

const withoutPlaces = (printed: string): string => withoutCommands(printed).replace(/\S*[/]\S*/g, "");

/** Runs a command on a terminal of this width, and gives all that it shows there. */
async function showOn(
  columns: number,
  args: readonly string[],
  home: string,
): Promise<CommandEnd & { shown: string }> {
  const ended = await runCommand(args, { home, columns });
  return { ...ended, shown: ended.stdout + ended.stderr };
}

it.each([
  "create --help",
  "trigger --help",
  "sandbox --help",
  "bulk --help",
  "check --help",
  "help settings",
  "help",
])("%s fits a real terminal of 60 columns, except for commands to copy", async (args) => {
  const screen = openScreen(args.split(" "), { home: temporaryHome(), columns: 60 });
  expect(await screen.ended).toBe(0);
  expect(widest(withoutCommands(screen.raw()))).toBeLessThanOrEqual(60);
});

describe.each([60, 120])("with %i columns", (columns) => {
  it.each(["help errors", "help reasons", "help environment"])("%s fits", async (args) => {
    const { exit, shown } = await showOn(columns, args.split(" "), "");
    expect(exit).toBe(0);
    expect(shown).toMatch(/\S/);
    expect(widest(shown)).toBeLessThanOrEqual(columns);
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
      const { shown } = await showOn(columns, [...args, "--no-input"], home);
      expect(shown).toMatch(/\S/);
      expect(widest(withoutCommands(shown))).toBeLessThanOrEqual(columns);
    }
  });
});

describe.each([60, 80, 120, 200])("with %i columns", (columns) => {
  it("demo fits", async () => {
    const { exit, shown } = await showOn(columns, ["demo"], temporaryHome());
    expect(exit).toBe(0);
    expect(shown).toMatch(/\S/);
    expect(widest(shown)).toBeLessThanOrEqual(columns);
  });

  it("status and config list break no words except addresses and paths", async () => {
    const home = temporaryHome();
    for (const [key, value] of [
      ["baseUrl", "http://127.0.0.1:9"],
      ["customerName", "Ada Augusta King, Countess of Lovelace, of Ockham Park in the county of Surrey"],
    ] as const)
      await runCommand(["config", "set", key, value], { home });
    for (const args of [["status"], ["config", "list"]]) {
      const { shown } = await showOn(columns, args, home);
      expect(shown).toMatch(/127\.0\.0\.1/);
      expect(widest(withoutPlaces(shown))).toBeLessThanOrEqual(columns);
    }
  });

  it("links list fits, each link on one line with its id from 80 columns on", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const create = ["create", "--amount", "1234.50", "--currency", "EUR", "--json"];
    const named = ["--customer-name", "Ada Augusta King", "--invoice-id", "INV-2026-0001"];
    const { stdout } = await runCommand([...create, ...named], { home });
    const { id } = JSON.parse(stdout) as { id: string };
    const { exit, stdout: list } = await showOn(columns, ["links", "list"], home);
    expect(exit).toBe(0);
    const [table = ""] = list.split("Only the last");
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
      const { shown: printed } = await showOn(columns, args, home);
      const prose = withoutCommands(printed).replaceAll(link.trim(), "");
      expect(widest(prose)).toBeLessThanOrEqual(columns);
      return printed;
    };
    // Shells read such a number in different ways: it is named, and no command is printed.
    const ofLink = await shown("links", "show", id);
    expect(ofLink.replaceAll(/\s+/g, " ")).toContain("no command can be pasted");
    expect(ofLink).not.toContain("paylink reconcile");
    // As orders are compared, without what is invisible.
    expect(await shown("events", "show", uti)).toContain("paylink reconcile '");
    const full = await showOn(columns, ["events", "show", uti, "--full"], home);
    // The lines of its request are whole too.
    expect(full.shown).toMatch(/ "content-type"\);created=/);
    expect(full.shown).toContain(uti);
    expect(await shown("reconcile")).toContain("EUR 10.00");
    expect(await shown("reconcile", order)).toContain(uti);
    expect(await shown("events", "stats")).toMatch(/[Nn]othing/);
  });

  it("the first lines of listen fit, but for its addresses and its store", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const listening = startCommand(["listen", "--port", "0"], { home, columns });
    const [, url = ""] = await listening.until(/Listening on \S*?(http:[\w:./]+)/);
    const tampered = ["trigger", "approved", "--to", url, "--tamper", "body"];
    expect((await runCommand(tampered, { home })).exit).toBe(0);
    await listening.until(/rejected[^]*401[^]*the\s+body\s+has/);
    const { stdout, stderr } = await listening.stop();
    expect(stdout + stderr).toContain("--public-url");
    expect(widest(withoutPlaces(stdout + stderr))).toBeLessThanOrEqual(columns);
  });

  it("events list and the record of events show fit", async () => {
    const home = temporaryHome();
    const listening = await startListenCommand(home, "--key", keyFile(home));
    const { url } = listening;
    expect(await post(url, webhook(url, record({ uti: "a-1", reference: "R".repeat(60) })))).toBe(200);
    await listening.stop();
    const listed = await showOn(columns, ["events", "list"], home);
    expect(listed.exit).toBe(0);
    expect(listed.shown).toContain("APPROVED");
    expect(widest(listed.shown)).toBeLessThanOrEqual(columns);
    const full = await showOn(columns, ["events", "show", "a-1", "--full"], home);
    expect(full.exit).toBe(0);
    const [whole = ""] = full.stdout.split(/^ {2}\S*request/m);
    expect(whole).toContain("cardPan");
    expect(widest(whole)).toBeLessThanOrEqual(columns);
    const { stdout } = await runCommand(["events", "list"], { home });
    expect(stdout).toContain("R".repeat(60));
  });

  it("the first lines of the sandbox fit, except for its addresses", async () => {
    const home = temporaryHome();
    giveMerchant(home);
    const sandbox = startCommand(["sandbox", "--port", "0"], { home, columns });
    await sandbox.until(/Sandbox on/);
    const { stdout, stderr } = await sandbox.stop();
    expect(stdout + stderr).toContain("paylink create");
    expect(widest((stdout + stderr).replace(/http:\S+/g, ""))).toBeLessThanOrEqual(columns);
  });
});
