/** What completion offers, held to what `help --json` says of the program: every flag, every topic, and files where they are meant. */
import { expect, it, vi } from "vitest";
import { runCommand } from "../support/context.ts";

interface Flag {
  readonly command: string | null;
  readonly name: string;
  readonly short: string | null;
  readonly value: string | null;
  readonly choices: readonly string[] | null;
}

interface Command {
  readonly name: string;
  readonly arguments: readonly { readonly choices: readonly string[] | null }[];
}

async function reference() {
  const { stdout } = await runCommand(["help", "--json"]);
  return JSON.parse(stdout) as { readonly flags: readonly Flag[]; readonly commands: readonly Command[] };
}

/** What is offered for the last of the words, and the directive for the shell. The completion library prints by itself. */
async function complete(...words: string[]) {
  const print = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const { exit, stdout } = await runCommand(["complete", "--", ...words]);
  const printed = print.mock.calls.map(([line]) => String(line));
  print.mockRestore();
  expect(exit).toBe(0);
  const lines = [...printed, ...stdout.split("\n").filter(Boolean)];
  return { offered: lines.slice(0, -1).map((line) => line.split("\t")[0]), directive: lines.at(-1) };
}

/** Has the shell complete file names. */
const FILES = { offered: [], directive: ":0" };

const wordsOf = ({ command }: Flag): string[] => command?.split(" ") ?? [];

it("offers every flag of every command, and the global flags", async () => {
  const { flags } = await reference();
  const commands = new Set(flags.map(({ command }) => command).filter((command) => command !== null));
  expect(commands.size).toBeGreaterThan(20);
  for (const command of commands) {
    const { offered } = await complete(...command.split(" "), "--");
    const taken = flags.filter((flag) => flag.command === command || flag.command === null);
    expect({ command, offered: new Set(offered) }).toEqual({
      command,
      offered: new Set(taken.map(({ name }) => name)),
    });
  }
});

it("completes file names for flags that take a file, in each spelling, and nowhere else", async () => {
  const withValue = (await reference()).flags.filter(({ value }) => value !== null);
  const takesFile = withValue.filter(({ value }) => value?.startsWith("file"));
  expect(takesFile.length).toBeGreaterThan(12);
  for (const flag of takesFile) {
    expect({ flag, ...(await complete(...wordsOf(flag), flag.name, "")) }).toEqual({ flag, ...FILES });
    expect({ flag, ...(await complete(...wordsOf(flag), `${flag.name}=`)) }).toEqual({ flag, ...FILES });
    if (flag.short !== null) expect(await complete(...wordsOf(flag), flag.short, "")).toEqual(FILES);
  }
  for (const flag of withValue.filter((one) => !takesFile.includes(one)))
    expect({ flag, ...(await complete(...wordsOf(flag), flag.name, "")) }).toEqual({
      flag,
      offered: flag.choices ?? [],
      directive: ":4",
    });
});

it("offers every topic and every command after help", async () => {
  const { commands } = await reference();
  const topics = commands.find(({ name }) => name === "help")?.arguments[0]?.choices ?? [];
  expect(topics).toContain("production");
  expect((await complete("help", "")).offered).toEqual([...topics, ...commands.map(({ name }) => name)]);
});

it("completes file names for the value of a setting that is a file", async () => {
  for (const key of ["webhookKey", "eventStore"])
    expect({ key, ...(await complete("config", "set", key, "")) }).toEqual({ key, ...FILES });
  expect(await complete("-p", "shop", "config", "set", "webhookKey", "one.pem", "tw")).toEqual(FILES);
  expect(await complete("config", "set", "currency", "")).toEqual({ offered: [], directive: ":4" });
});

it.each([
  ["trigger approved --tamper digest-m", ["digest-missing", "digest-malformed"]],
  ["config get c", ["clientId", "currency", "customerName", "callbackUrl", "columns"]],
  ["help e", ["errors", "environment", "events"]],
])("offers the existing values for %j", async (words, values) => {
  expect((await complete(...words.split(" "))).offered).toEqual(values);
});
