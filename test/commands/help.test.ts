/** `paylink help` and usage errors, in process: the topics, and the nearest name for what was mistyped. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EXIT_CODES, FAILURES } from "../../src/domain/errors.ts";
import { ENVIRONMENT } from "../../src/commands/help/topics.ts";
import { SETTING_KEYS } from "../../src/settings/setting-table.ts";
import { REASONS } from "../../src/domain/reasons.ts";
import { runCommand } from "../support/context.ts";

const run = (...args: string[]) => runCommand(args);

it("lists the global options in every help page, and no options of a parent command", async () => {
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
  expect(stdout).toContain('paylink config set headers \'{"X-Terminal": "7"}\'');
  const explained: unknown = JSON.parse((await run("help", "settings", "--json")).stdout);
  expect(explained).toMatchObject({
    settings: expect.arrayContaining([
      expect.objectContaining({ key: "clientSecret", secret: true, example: null }),
      expect.objectContaining({ key: "tolerance", default: "5m" }),
    ]) as unknown,
  });
});

it("explains verification in an application, and names each receiver, which it prints as it is tested", async () => {
  const { stdout } = await run("help", "webhooks");
  for (const name of ["verifyWebhook(", "createVerifier(", "signWebhook(", "sampleTransaction(", "publicUrl"])
    expect(stdout).toContain(name);
  const { options, recipes } = JSON.parse((await run("help", "webhooks", "--json")).stdout) as {
    options: object;
    recipes: Readonly<Record<string, string>>;
  };
  expect(Object.keys(options)).toContain("key");
  const folder = new URL("../../src/commands/help/webhooks/", import.meta.url);
  const files = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), "utf8"));
  expect(Object.values(recipes).toSorted()).toEqual(files.toSorted());
  for (const [name, text] of Object.entries(recipes)) {
    expect(stdout).toContain(`  paylink help webhooks ${name} `);
    expect((await run("help", "webhooks", name)).stdout).toBe(text);
  }
});

it("says what is done where the specification is silent", async () => {
  const { stdout } = await run("help", "decisions");
  const decisions = JSON.parse((await run("help", "decisions", "--json")).stdout) as Record<string, string>;
  expect(Object.keys(decisions).length).toBeGreaterThan(20);
  for (const [open, decision] of Object.entries(decisions)) {
    expect(stdout).toContain(`  ${open}\n      ${decision.split(" ")[0] ?? ""}`);
    expect(stdout.replace(/\s+/g, " ")).toContain(decision);
  }
});

it("uses only existing commands and flags in the text on CI", async () => {
  const { stdout } = await run("help", "ci");
  const lines = [...stdout.matchAll(/(?<!\/)paylink ([a-z]+)((?: (?!-- |&|>|\|)[^\s)]+)*)/g)];
  expect(lines.length).toBeGreaterThan(8);
  for (const [, name = "", words = ""] of lines) {
    const help = await run(name, "--help");
    expect({ name, exit: help.exit }).toEqual({ name, exit: 0 });
    for (const flag of words.match(/--[a-z][a-z-]+/g) ?? []) expect(help.stdout).toContain(`${flag} `);
  }
});

describe("a usage error", () => {
  it.each([
    ["creat --amount 10", "Unknown command 'creat'. Did you mean create?", "create --amount 10"],
    ["creat --help", "Unknown command 'creat'. Did you mean create?", "create --help"],
    ["events lst", "Unknown command 'lst'. Did you mean list?", "events list"],
    ["sandbox advnce 5s", "Did you mean advance?", "sandbox advance 5s"],
    ["help lisen", "Did you mean listen?", "help listen"],
    ["help webhook", "Did you mean webhooks?", "help webhooks"],
    ["help error", "Did you mean errors?", "help errors"],
    ["webhooks", "Did you mean help webhooks?", "help webhooks"],
    ["list", "Did you mean links list, events list, profiles list or config list?", undefined],
    ["advance 5s", "Did you mean sandbox advance?", "sandbox advance 5s"],
    ["cancl x", "Did you mean links cancel?", "links cancel x"],
    ["create --amout=3", "Unknown option '--amout=3'. Did you mean --amount?", "create --amount=3"],
    ["create --profil x", "Did you mean --profile?", "create --profile x"],
    ["--color purpel demo", '--color must be one of auto, always, never (got "purpel").', undefined],
    ["--color alwys demo", '(got "alwys")', "--color always demo"],
    ["completion bsh", '<shell>  must be one of bash, zsh, fish, powershell (got "bsh")', "completion bash"],
    ["test", "The argument <command> is required.", "test -- paylink create --amount 10 --currency EUR"],
    ["config set currenzy USD", "Did you mean currency?", "config set currency USD"],
    [
      "trigger aproved",
      '<outcome>  must be one of approved, partially-approved, declined, cancelled (got "aproved")',
      "trigger approved",
    ],
    ["trigger approved --link=reusble", '(got "reusble")', "trigger approved --link=reusable"],
    ["events --outcome declind", '(got "declind")', "events --outcome declined"],
    ["events list --outcome declind", '(got "declind")', "events list --outcome declined"],
    ["events list --limit x --outcome declind", '(got "x")', undefined],
    [
      "create --amount --currency EUR",
      "--amount needs a value: --amount <decimal>",
      "create --amount 10 --currency EUR",
    ],
    ["create --currency EUR --amount", "--amount needs a value", "create --currency EUR --amount 10"],
    [
      "create --dry-run --terminal-id 1 --customer-name Ada",
      "--amount    is required",
      "create --dry-run --terminal-id 1 --customer-name Ada --amount 10 --currency EUR",
    ],
    [
      "create --dry-run --terminal-id 1 --customer-name 'A' --currency EUR --amount 1,5",
      '(got "1,5")',
      undefined,
    ],
    ["events prune", "--before is required.", "events prune --before 90d"],
    [
      "events show",
      "The argument <uti> is required.",
      "events show $(paylink events list --limit 1 --quiet)",
    ],
    ["config get", "The argument <key> is required.", "config get baseUrl"],
    ["bulk --currency EUR", "The argument <file> is required.", "bulk --currency EUR orders.csv"],
    ["create --amount 10 --amont 3", "Did you mean --amount?", undefined],
    ["-p shop links list --profle shop", "Did you mean --profile?", undefined],
    ["verify --key a.pem --kee b.pem", "Did you mean --key?", "verify --key a.pem --key b.pem"],
    ["create --currency --currency EUR", "--currency needs a value", undefined],
    ["creat --amount --currency EUR", "Did you mean create?", undefined],
    ["events lst extra", "Did you mean list?", undefined],
    ["login --client-secret S3CR3T", "Did you mean --client-secret-stdin?", undefined],
    ["login --client-secret=S3CR3T", "Did you mean --client-secret-stdin?", undefined],
    ["login --token-stdin S3CR3T", "It reads secrets from standard input.", undefined],
    ["demo extra", "Unexpected argument 'extra': paylink demo takes no arguments.", undefined],
    ["events list extra", "Unexpected argument 'extra': paylink events list takes no arguments.", undefined],
    ["create --qr --no-qr", "--qr cannot be used with --no-qr.", undefined],
  ])("of %s is corrected if possible", async (typed, message, corrected) => {
    const { exit, stdout, stderr } = await run(...typed.split(" "));
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("S3CR3T");
    const [, line] = /^ {2}Try: paylink (.*)$/m.exec(stderr) ?? [];
    expect(line).toBe(corrected);
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
    "config set headers.X-Api-Key S3CR3T --jsn",
    "config set tokenParams a=b&client_secret=S3CR3T --jsn",
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
    ["bogus", "Unknown command 'bogus'.", "paylink --help"],
    ["events bogus --help", "Unknown command 'bogus'.", "paylink events --help"],
    ["--no-input", "paylink needs a command.", "paylink --help"],
  ])("of %s says where the commands are listed", async (typed, message, help) => {
    const { exit, stderr } = await run(...typed.split(" "));
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: `✗ ${message}\n  To list the commands: ${help}\n` });
  });

  it("is corrected as a shell reads it", async () => {
    const { stderr } = await run("creat", "--customer-name", "Ada O'Neil");
    expect(stderr).toContain(`Try: paylink create --customer-name 'Ada O'\\''Neil'`);
  });

  it("is one JSON document with --json", async () => {
    for (const args of [["--json"], ["creat", "--json"], ["--json", "events", "lst", "--help"]]) {
      const { exit, stdout, stderr } = await run(...args);
      expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "usage" } });
    }
  });
});
