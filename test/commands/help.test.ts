/** `paylink help` and usage errors, in process: the topics, and the nearest name for what was mistyped. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EXIT_CODES, FAILURES } from "../../src/domain/errors.ts";
import { ENVIRONMENT } from "../../src/commands/help/topics.ts";
import { SETTING_KEYS } from "../../src/settings/setting-table.ts";
import { REASONS } from "../../src/domain/reasons.ts";
import { runCommand } from "../support/context.ts";

const run = (...args: string[]) => runCommand(args);

it("explains the global flags in the help of paylink alone, and names them in one line elsewhere", async () => {
  const flags = ["-p, --profile <name>", "--json", "--no-input", "--no-color", "--debug", "-y, --yes"];
  for (const flag of flags) expect((await run("--help")).stdout).toContain(`  ${flag} `);
  for (const args of [
    ["create", "--help"],
    ["sandbox", "advance", "--help"],
  ]) {
    const { exit, stdout } = await run(...args);
    expect(exit).toBe(0);
    expect(stdout).toContain(
      "\nGlobal flags: -p, --json, --no-input, --no-color, -y, --debug (paylink --help)\n",
    );
    expect(stdout).not.toContain("--profile <name>");
  }
  expect((await run("help", "sandbox", "advance")).stdout).not.toContain("--reset");
});

it("explains every reason for which a webhook is refused, in the order of verification", async () => {
  const { stdout } = await run("help", "reasons");
  const listed = stdout.match(/^ {2}[a-z_\d]+(?= )/gm)?.map((code) => code.trim());
  expect(listed).toEqual(Object.keys(REASONS));
  const explained: unknown = JSON.parse((await run("help", "reasons", "--json")).stdout);
  expect(Object.keys(explained ?? {})).toEqual(listed);
});

it("lists every exit code and every error code, for people and for scripts", async () => {
  const { stdout } = await run("help", "errors");
  for (const code of [...Object.keys(EXIT_CODES), ...Object.keys(FAILURES)])
    expect(stdout).toMatch(new RegExp(`^  ${code} `, "m"));
  const listed: unknown = JSON.parse((await run("help", "errors", "--json")).stdout);
  expect(listed).toMatchObject({
    exitCodes: expect.arrayContaining([{ code: 0, meaning: EXIT_CODES[0] }]) as unknown,
    errorCodes: expect.arrayContaining([
      { code: "not_reached", exitCode: 5, meaning: FAILURES.not_reached.means },
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
  const explained: unknown = JSON.parse((await run("help", "settings", "--json")).stdout);
  expect(explained).toMatchObject({
    settings: expect.arrayContaining([
      expect.objectContaining({ key: "clientSecret", secret: true, example: null }),
      expect.objectContaining({ key: "tolerance", default: "5m" }),
    ]) as unknown,
  });
});

it("explains verification in an application, and prints each receiver exactly as tested", async () => {
  const { stdout } = await run("help", "webhooks");
  for (const name of ["createVerifier(", "signWebhook(", "sampleTransaction(", "publicUrl"])
    expect(stdout).toContain(name);
  const { library, files } = JSON.parse((await run("help", "webhooks", "--json")).stdout) as {
    library: object;
    files: Readonly<Record<string, string>>;
  };
  expect(library).toMatchObject({ title: "Verification in your application" });
  const texts = ["recipes", "receivers"].flatMap((name) => {
    const folder = new URL(`../../src/texts/${name}/`, import.meta.url);
    return readdirSync(folder).map((file) => readFileSync(new URL(file, folder), "utf8"));
  });
  expect(Object.values(files).toSorted()).toEqual(texts.toSorted());
  for (const [name, text] of Object.entries(files)) {
    expect(stdout).toContain(`  paylink help webhooks ${name} `);
    expect((await run("help", "webhooks", name)).stdout).toBe(text);
  }
});

it("keeps the receiver of every language short enough to read: 200 lines of 120 characters", () => {
  const folder = new URL("../../src/texts/receivers/", import.meta.url);
  const files = readdirSync(folder);
  const lines = (file: string): readonly string[] =>
    readFileSync(new URL(file, folder), "utf8").trimEnd().split("\n");
  expect(files).toHaveLength(5);
  expect(files.filter((file) => lines(file).length > 200)).toEqual([]);
  expect(files.flatMap(lines).filter(({ length }) => length > 120)).toEqual([]);
});

it("uses only existing commands and flags in the text on CI", async () => {
  const { stdout } = await run("help", "ci");
  const lines = [...stdout.matchAll(/(?<!\/)paylink ((?:events )?[a-z]+)((?: (?!-- |&|>|\|)[^\s)]+)*)/g)];
  expect(lines.length).toBeGreaterThan(8);
  for (const [, name = "", words = ""] of lines) {
    const help = await run(...name.split(" "), "--help");
    expect({ name, exit: help.exit }).toEqual({ name, exit: 0 });
    for (const flag of words.match(/--[a-z][a-z-]+/g) ?? [])
      expect(help.stdout + (await run("--help")).stdout).toContain(`${flag} `);
  }
});

describe("a usage error", () => {
  it.each([
    ["creat --amount 10", "Unknown command 'creat'. Did you mean create?"],
    ["creat --help", "Unknown command 'creat'. Did you mean create?"],
    ["events lst", "did you mean list?"],
    ["help lisen", "Did you mean listen?"],
    ["help webhook", "Did you mean webhooks?"],
    ["create --amout=3", "Unknown option '--amout=3'. Did you mean --amount?"],
    ["create --curr EUR", "Unknown option '--curr'. Did you mean --currency?"],
    ["trans", "Unknown command 'trans'. Did you mean transaction?"],
    ["ls", "Unknown command 'ls'. Did you mean links list?"],
    ["rm A1", "Unknown command 'rm'. Did you mean links cancel?"],
    ["export", "Unknown command 'export'. Did you mean events list?"],
    ["links ls", "Unknown command 'ls'. Did you mean list?"],
    ["links rm A1", "Unknown command 'rm'. Did you mean cancel?"],
    ["profiles delete shop", "Unknown command 'delete'. Did you mean remove?"],
    ["create --profil x", "Did you mean --profile?"],
    ["create -amount 10", "Unknown option '-amount'. Did you mean --amount?"],
    ["create --amount 10 --amount 20", "--amount is given twice, but takes one value."],
    ["-p a create -p b", "--profile is given twice, but takes one value."],
    ["listen --port 1 --port 2", "--port is given twice, but takes one value."],
    ["completion bsh", 'must be one of bash, zsh, fish, powershell (got "bsh"); did you mean bash?'],
    ["links list --status active,payed", '(got "payed"); did you mean paid?'],
    ["test", "The argument <command> is required, such as -- paylink create --amount 10 --currency EUR."],
    ["config set currenzy USD", "Did you mean currency?"],
    ["trigger aproved", '(got "aproved"); did you mean approved?'],
    ["listen --forward-to declind=3000", '(got "declind=3000"); did you mean declined=3000?'],
    ["create --amount --currency EUR", "--amount needs a value: --amount 10"],
    ["create --currency EUR --amount", "--amount needs a value: --amount 10"],
    ["events prune", "--before is required, such as --before 90d."],
    ["events show", "<uti> is required, such as $(paylink events list --limit 1 --quiet)."],
    ["bulk --currency EUR", "The argument <file> is required, such as orders.csv."],
    ["-p shop links list --profle shop", "Did you mean --profile?"],
    ["login --client-secret S3CR3T", "Did you mean --client-secret-stdin?"],
    ["login --token-stdin S3CR3T", "It reads secrets from standard input."],
    ["demo extra", "Unexpected argument 'extra': paylink demo takes no arguments."],
    ["events stats extra", "Unexpected argument 'extra': paylink events stats takes no arguments."],
  ])("of %s names what was probably meant, or an example", async (typed, message) => {
    const { exit, stdout, stderr } = await run(...typed.split(" "));
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("S3CR3T");
  });

  it.each([
    "login --client-secret S3CR3T --no-check",
    "login --client-secret=S3CR3T",
    "login --client-secrt S3CR3T",
    "login --sevice dna --client-secrt S3CR3T",
    "login --token S3CR3T",
    "login --client-secret-stdin=S3CR3T",
    "login --token-stdin S3CR3T",
    "login S3CR3T",
    "config set clientSecrt S3CR3T",
    "create --amont 10 --token S3CR3T",
    "listen --prt 4 -H Authorization:S3CR3T",
    "events list --lmit 5 --db postgres://u:S3CR3T@host/db",
    "check https://u:S3CR3T@shop.example/ extra https://u:S3CR3T@shop.example/",
    "check a https://u:S3CR3T@shop.example/",
  ])("never repeats what may be a secret: %s", async (typed) => {
    const { exit, stderr } = await run(...typed.split(" "));
    expect(exit).toBe(2);
    expect(stderr).not.toContain("S3CR3T");
  });

  it.each([
    ["help bogus", "Unknown command 'bogus'.", "paylink --help\n  To list the topics: paylink help --help"],
    ["bogus", "Unknown command 'bogus'.", "paylink --help"],
    ["events bogus --help", "Unknown command 'bogus'.", "paylink events --help"],
    ["--no-input", "paylink needs a command.", "paylink --help"],
  ])("of %s says where the commands are listed", async (typed, message, help) => {
    const { exit, stderr } = await run(...typed.split(" "));
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: `✗ ${message}\n  To list the commands: ${help}\n` });
  });

  it("is one JSON document with --json", async () => {
    for (const args of [["--json"], ["creat", "--json"], ["--json", "events", "lst", "--help"]]) {
      const { exit, stdout, stderr } = await run(...args);
      expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "usage" } });
    }
  });
});
