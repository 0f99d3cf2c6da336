/** `paylink help --json` against the program and the tables, found independently: from the help pages and the flags. */
import { describe, expect, it } from "vitest";
import { EXIT_CODES, FAILURES } from "../../src/domain/errors.ts";
import { SETTING_KEYS } from "../../src/settings/setting-table.ts";
import { runCommand } from "../support/context.ts";

interface Command {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
  readonly examples: readonly string[];
  readonly subcommands: readonly Command[];
}

interface Flag {
  readonly command: string | null;
  readonly name: string;
  readonly short: string | null;
  readonly value: string | null;
  readonly description: string;
  readonly default: unknown;
  readonly choices: readonly string[] | null;
  readonly repeatable: boolean;
}

interface Reference {
  readonly commands: readonly Command[];
  readonly flags: readonly Flag[];
  readonly settings: readonly { readonly key: string; readonly environment: string | null }[];
  readonly exitCodes: readonly object[];
  readonly errorCodes: readonly object[];
}

async function reference(...words: string[]): Promise<Reference> {
  const { exit, stdout, stderr } = await runCommand(["help", ...words, "--json"]);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  return JSON.parse(stdout) as Reference;
}

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.subcommands.flatMap(withSubcommands),
];

/** The flags that a help page lists: `-f, --forward-to <target>` becomes those three. */
const flagsIn = (help: string) =>
  [...help.matchAll(/^ {2}(?:(-\w), )?(--[a-z][\w-]*)(?: <(.*?)>(?= |$))?/gm)].map(
    ([, short = null, name = "", value = null]) => ({ short, name, value }),
  );

/** The flags of a command, or with null those that every command takes, as a help page lists them. */
const flagsOf = ({ flags }: Reference, of: string | null) =>
  flags.filter(({ command }) => command === of).map(({ short, name, value }) => ({ short, name, value }));

const withoutExamples = (help: string): string => help.replace(/\nExamples:[^]*/, "");

/** What scripts rely on: every setting, and the flags of each command. A change here is a change of the interface. */
const SETTINGS =
  "service baseUrl transactionUrl token clientId clientSecret tokenUrl tokenAuth tokenScope terminalId currency customerName expires returnUrl failureReturnUrl callbackUrl failureCallbackUrl webhookKey publicUrl tolerance requireCreated columns eventStore";
const VARIABLES =
  "PAYLINK_BASE_URL PAYLINK_TOKEN PAYLINK_CLIENT_ID PAYLINK_CLIENT_SECRET PAYLINK_TOKEN_URL PAYLINK_TERMINAL_ID PAYLINK_CALLBACK_URL PAYLINK_WEBHOOK_KEY PAYLINK_DB";
const REQUEST =
  "--amount --currency --invoice-id --terminal-id --expires --customer-name --description --type --custom-data --subscription --reusable --mode --min-amount --max-amount --reference-mode --return-url --failure-return-url --callback-url --failure-callback-url --email --first-name --last-name --address1 --address2 --city --postcode --country --from";
const FLAGS: readonly (readonly [command: string | null, flags: string])[] = [
  [null, "--version --profile --json --no-input --no-color --yes --debug --help"],
  ["create", `${REQUEST} --dry-run --curl --timeout --quiet --qr --open --wait`],
  [
    "bulk",
    `${REQUEST} --map --only --header-line --decimal-comma --allow-duplicates --output --force --concurrency --rate --timeout --dry-run --skip-invalid --look-back --again`,
  ],
  ["links list", "--status --invoice-id --since --until --limit --terminal-id --csv --timeout --quiet"],
  ["links cancel", "--timeout --quiet"],
  ["transaction", "--timeout --quiet"],
  ["pay", "--outcome --card --amount --reference --timeout --quiet"],
  ["links update", "--description --expires --timeout --quiet"],
  [
    "listen",
    "--port --host --path --public-url --tunnel --tls-cert --tls-key --key --tolerance --require --require-created --strict --require-terminal --no-verify --max-body --forward-to --forward-header --insecure --ack --retry --forward-concurrency --forward-timeout --sign-with --full --compact --admin --drain --expect --timeout --db --keep --no-store",
  ],
  [
    "events list",
    "--failed --pending --rejected --outcome --reference --since --until --limit --all --csv --quiet --db",
  ],
  [
    "events replay",
    "--to --all --failed --outcome --reference --since --until --limit --compare --strict --settle --sign-with --key --insecure --forward-timeout --timeout --quiet --db",
  ],
  ["events prune", "--before --db"],
  ["inspect", "--db --port --forward-to --sign-with --key --plain-host --no-open"],
  ["verify", "--event --db --key --public-url --path --tolerance --require --require-created --at"],
  [
    "trigger",
    "--to --sign-with --allow-remote --from --same-uti --db --link --amount --currency --reference --set --count --tamper --cover --no-created --timeout --dry-run --quiet",
  ],
  ["check", "--sign-with --cover --allow-remote --timeout --books --orders --map --junit"],
  [
    "sandbox",
    "--port --host --allow-remote --allow-host --plain-host --insecure --db --reset --cover --no-created --clock --retry --deliver --fail --duplicate-invoices --token-auth",
  ],
  ["sandbox advance", "--timeout"],
  ["sandbox fail", "--clear --timeout"],
  ["sandbox reset", "--timeout"],
  ["sandbox rotate-key", "--timeout"],
  [
    "login",
    "--service --base-url --terminal-id --currency --customer-name --callback-url --webhook-key --token-stdin --client-id --client-secret-stdin --token-url --token-scope --token-auth --no-check",
  ],
  ["links show", "--timeout --quiet --db"],
  ["events show", "--full --db"],
  ["events stats", "--db"],
  ["events tail", "--outcome --reference --since --rejected --full --compact --db"],
  ["events retry", "--all --outcome --reference --since --until --key --db"],
  ["events skip", "--db"],
  ["events accept", "--all --key --tolerance --require --require-created --db"],
  [
    "reconcile",
    "--since --until --books --map --only --header-line --currency --decimal-comma --terminal-id --key --timeout --csv --quiet --db",
  ],
  ["test", "--forward-to --fail --reconcile"],
  ["demo", ""],
  ["logout", ""],
  ["status", "--timeout"],
  ["profiles list", ""],
  ["profiles use", ""],
  ["profiles remove", ""],
  ["config list", ""],
  ["config get", ""],
  ["config set", "--no-check"],
  ["config unset", ""],
  ["config path", ""],
  ["help", ""],
  ["version", ""],
  ["completion", ""],
];

describe("paylink help --json", () => {
  it("lists every command that the help lists, with its subcommands", async () => {
    const { stdout } = await runCommand(["--help"]);
    const listed = [...withoutExamples(stdout).matchAll(/^ {2}([a-z]+)(?= |$)/gm)].map(([, name]) => name);
    expect(listed.length).toBeGreaterThan(20);
    const { commands } = await reference();
    expect(commands.map(({ name }) => name)).toEqual(listed);
    expect(commands.flatMap(withSubcommands).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["events list", "links cancel", "sandbox rotate-key", "config set"]),
    );
  });

  it("describes every command as its help does", async () => {
    const all = await reference();
    for (const command of all.commands.flatMap(withSubcommands)) {
      const { exit, stdout: help, stderr } = await runCommand([...command.name.split(" "), "--help"]);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
      const own = flagsIn(withoutExamples(help)).filter(({ name }) => name !== "--help");
      expect(flagsOf(all, command.name)).toEqual(own);
      const [, usage = ""] = /^Usage: paylink (.*)$/m.exec(help) ?? [];
      for (const { name, required } of command.arguments)
        expect(usage).toContain(`${required ? "<" : "["}${name}`);
      expect(usage.match(/<|\[(?!options|command)/g)?.length ?? 0).toBe(command.arguments.length);
      expect(command.examples.length).toBeGreaterThan(1);
      expect(help).toMatch(/\nExamples:\n(?: {2}.*\n?)+$/);
      for (const example of command.examples) expect(help).toContain(`\n  ${example}`);
      expect(help.toLowerCase().replace(/\s+/g, " ")).toContain(command.description.toLowerCase());
    }
  });

  it("describes a flag with its letter, value, default and choices, and whether it may be repeated", async () => {
    const { flags } = await reference();
    const flag = (command: string | null, name: string) =>
      flags.find((one) => one.command === command && one.name === name);
    expect(flag("listen", "--forward-to")).toMatchObject({ short: "-f", value: "target", repeatable: true });
    expect(flag("listen", "--port")).toMatchObject({ value: "number", default: "4000", repeatable: false });
    expect(flag("events list", "--outcome")).toMatchObject({
      choices: ["approved", "partially-approved", "declined", "cancelled", "unclear"],
    });
    expect(flag("events prune", "--before")).toMatchObject({ required: true });
    expect(flag(null, "--json")).toMatchObject({ value: null, default: null });
  });

  it("marks the same flags as repeatable as the help does", async () => {
    const { flags } = await reference();
    const said = flags.filter(({ description }) => description.includes("repeatable"));
    expect(said.length).toBeGreaterThan(8);
    expect(flags.filter(({ repeatable }) => repeatable)).toEqual(said);
  });

  it("lists every setting, exit code and error code of the tables", async () => {
    const { settings, exitCodes, errorCodes } = await reference();
    expect(settings.map(({ key }) => key)).toEqual(SETTING_KEYS);
    expect(settings).toContainEqual(
      expect.objectContaining({
        key: "webhookKey",
        environment: "PAYLINK_WEBHOOK_KEY",
        example: "service.pem",
        secret: false,
      }),
    );
    expect(settings).toContainEqual(expect.objectContaining({ key: "token", example: null, secret: true }));
    expect(exitCodes).toEqual(
      Object.entries(EXIT_CODES).map(([code, meaning]) => ({ code: Number(code), meaning })),
    );
    expect(errorCodes).toEqual(
      Object.entries(FAILURES).map(([code, { exit, means }]) => ({ code, exitCode: exit, meaning: means })),
    );
  });

  it.each(FLAGS)("lists exactly the flags of %s", async (command, flags) => {
    const all = await reference();
    expect(
      flagsOf(all, command)
        .map(({ name }) => name)
        .join(" "),
    ).toBe(flags);
  });

  it("has no command whose flags are not listed here", async () => {
    const { commands, flags } = await reference();
    const doing = commands
      .flatMap(withSubcommands)
      .filter(
        ({ name, subcommands }) => subcommands.length === 0 || flags.some((one) => one.command === name),
      );
    expect(FLAGS.flatMap(([name]) => name ?? []).toSorted()).toEqual(
      doing.map(({ name }) => name).toSorted(),
    );
  });

  it("lists exactly the settings and their variables", async () => {
    const { settings } = await reference();
    expect(settings.map(({ key }) => key).join(" ")).toBe(SETTINGS);
    expect(settings.flatMap(({ environment }) => environment ?? []).join(" ")).toBe(VARIABLES);
  });

  it("has these members and no others", async () => {
    const all = await reference();
    expect(Object.keys(all)).toEqual(["commands", "flags", "settings", "exitCodes", "errorCodes"]);
  });

  it("describes one command alone, with the flags that it takes", async () => {
    const one = await reference("events", "replay");
    expect(one.commands.map(({ name }) => name)).toEqual(["events replay"]);
    expect(new Set(one.flags.map(({ command }) => command))).toEqual(new Set([null, "events replay"]));
  });
});
