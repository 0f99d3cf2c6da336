/** `paylink help` and usage errors, in process: the topics, and the nearest name for what was mistyped. */
import { describe, expect, it } from "vitest";
import { EXIT_CODES, FAILURES } from "../../src/domain/errors.ts";
import { ENVIRONMENT } from "../../src/commands/help/environment.ts";
import { SETTING_KEYS } from "../../src/store/settings/setting-table.ts";
import { REASONS } from "../../src/signatures/verdict.ts";
import { runCommand } from "../support/context.ts";

const run = (...args: string[]) => runCommand(args);

it("names in each command's help the options that all take, and in a subcommand's those alone", async () => {
  for (const args of [
    ["create", "--help"],
    ["sandbox", "advance", "--help"],
  ]) {
    const { exit, stdout } = await run(...args);
    expect(exit).toBe(0);
    for (const flag of ["--profile", "--json", "--no-input", "--color", "--debug", "--yes"])
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
    exits: expect.arrayContaining([{ code: 0, means: EXIT_CODES[0] }]) as unknown,
    errors: expect.arrayContaining([
      { code: "not_reached", exit: 5, means: FAILURES.not_reached.means },
    ]) as unknown,
  });
});

it("explains every environment variable", async () => {
  const { stdout } = await run("help", "environment");
  const widest = Math.max(...Object.keys(ENVIRONMENT).map(({ length }) => length));
  for (const [name, meaning] of Object.entries(ENVIRONMENT))
    expect(stdout.split("\n")).toContain(`  ${name.padEnd(widest)}  ${meaning}`);
  const { stdout: json, stderr } = await run("help", "environment", "--json");
  expect(JSON.parse(json)).toEqual(ENVIRONMENT);
  expect(stderr).toBe("");
});

it("explains every setting with an example, and says which are secrets", async () => {
  const { stdout } = await run("help", "settings");
  for (const key of SETTING_KEYS) expect(stdout).toMatch(new RegExp(`^  ${key}: `, "m"));
  expect(stdout).toContain('paylink config set headers \'{"X-Terminal": "7"}\'');
  const explained: unknown = JSON.parse((await run("help", "settings", "--json")).stdout);
  expect(explained).toMatchObject({
    settings: expect.arrayContaining([
      expect.objectContaining({ key: "clientSecret", secret: true, example: null }),
      expect.objectContaining({ key: "tolerance", default: "5m" }),
    ]) as unknown,
  });
});

describe("a usage error", () => {
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
    const { exit, stdout, stderr } = await run(...args);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n").at(-1)).toContain(`  Try: ${example}`);
  });

  it("is one JSON document with --json", async () => {
    for (const args of [["--json"], ["creat", "--json"], ["--json", "events", "lst", "--help"]]) {
      const { exit, stdout, stderr } = await run(...args);
      expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "usage" } });
    }
  });
});
