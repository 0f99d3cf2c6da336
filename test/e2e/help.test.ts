/** What the program says of itself: the version, the help, its topics, the manual page, and what wrong use is told. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { FAILURES } from "../../src/domain/errors.ts";
import { EXIT_CODES } from "../../src/domain/exit-codes.ts";
import { REASONS } from "../../src/signatures/verdict.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";
import { openScreen } from "../support/screen.ts";

const run = (...args: string[]) => runPaylink(args, { home: temporaryHome() });

it("prints the version of package.json", async () => {
  const text = readFileSync(resolve(import.meta.dirname, "../../package.json"), "utf8");
  const { version } = JSON.parse(text) as { readonly version: string };
  for (const args of [["--version"], ["-V"], ["-v"], ["version"], ["create", "--version"], ["create", "-v"]])
    expect(await run(...args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  const { stdout } = await run("version", "--json");
  expect(JSON.parse(stdout)).toEqual({ version });
});

it("prints the same help for every way of asking, in a pipe and in a terminal", async () => {
  const { stdout: help } = await run("--help");
  expect(help).toContain("paylink create --amount 10 --currency EUR");
  for (const args of [["-h"], [], ["help"], ["--no-input", "--help"]]) {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout: stdout.trimEnd(), stderr }).toEqual({
      code: 0,
      stdout: help.trimEnd(),
      stderr: "",
    });
  }
  const screen = openScreen(["--help"], { home: temporaryHome() });
  expect(await screen.ended).toBe(0);
  expect(screen.raw()).toContain("paylink create --amount 10 --currency EUR");
});

it("names in each command's help the options that all take, and in a subcommand's those alone", async () => {
  for (const args of [
    ["create", "--help"],
    ["sandbox", "advance", "--help"],
  ]) {
    const { code, stdout } = await run(...args);
    expect(code).toBe(0);
    for (const flag of ["--profile", "--json", "--no-input", "--color", "--debug"])
      expect(stdout).toContain(flag);
  }
  expect((await run("help", "sandbox", "advance")).stdout).not.toContain("--reset");
});

it("explains every reason for which a webhook is refused, in the order of verification", async () => {
  const { stdout } = await run("help", "reasons");
  const listed = stdout.match(/^ {2}[a-z_\d]+(?= )/gm)?.map((code) => code.trim());
  expect(listed?.filter((code) => REASONS.some((reason) => reason === code))).toEqual(REASONS);
  expect(listed).toEqual(expect.arrayContaining(["method_not_allowed", "body_schema", "not_stored"]));
  const explained: unknown = JSON.parse((await run("help", "reasons", "--json")).stdout);
  expect(Object.keys(explained ?? {})).toEqual(listed);
});

it("lists every exit code and every error code, for people and for scripts", async () => {
  const { stdout } = await run("help", "errors");
  for (const code of [...Object.keys(EXIT_CODES), ...Object.keys(FAILURES)])
    expect(stdout).toMatch(new RegExp(`^  ${code} `, "m"));
  const listed: unknown = JSON.parse((await run("help", "errors", "--json")).stdout);
  expect(listed).toMatchObject({
    exits: expect.arrayContaining([{ code: 0, means: "done" }]) as unknown,
    errors: expect.arrayContaining([
      { code: "not_reached", exit: 5, means: FAILURES.not_reached.means },
    ]) as unknown,
  });
});

it("puts every command and topic into the manual page", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../dist/paylink.1"), "utf8");
  for (const heading of [".SH CREATE", ".SS events replay", ".SS sandbox rotate\\-key", ".SH EXIT STATUS"])
    expect(page).toContain(`\n${heading}\n`);
  expect(page).toContain("PAYLINK_WEBHOOK_KEY");
  expect(page).toContain("outcome_unknown");
});

describe("told of wrong use", () => {
  it.each([
    [["creat"], "Unknown command 'creat'. Did you mean create?", "paylink create --amount 10 --currency EUR"],
    [["creat", "--help"], "Unknown command 'creat'. Did you mean create?", "paylink create --amount 10"],
    [["bogus"], "Unknown command 'bogus'.\n", "paylink --help"],
    [["events", "lst"], "Unknown command 'lst'. Did you mean list?", "paylink events list"],
    [["events", "bogus", "--help"], "Unknown command 'bogus'.\n", "paylink events --help"],
    [["sandbox", "advnce", "5s"], "Did you mean advance?", "paylink sandbox advance 30s"],
    [["help", "lisen"], "Did you mean listen?", "paylink listen --port 4000"],
    [["create", "--amout=3"], "Unknown option '--amout=3'. Did you mean --amount?", "paylink create"],
    [["create", "--profil", "x"], "Did you mean --profile?", "paylink create"],
    [["demo", "extra"], "Too many arguments for 'demo'.", "paylink demo"],
    [["events", "list", "extra"], "Too many arguments for 'list'.", "paylink events list"],
    [["--no-input"], "paylink needs a command.", "paylink demo"],
  ])("%j", async (args, message, example) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n").at(-1)).toContain(`  Try: ${example}`);
  });

  it("says so in one JSON document with --json", async () => {
    for (const args of [["--json"], ["creat", "--json"], ["--json", "events", "lst", "--help"]]) {
      const { code, stdout, stderr } = await run(...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "usage" } });
    }
  });
});
