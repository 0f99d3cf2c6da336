/** What holds for every command: misspelled flags, `--json`, a reader that has gone. */
import { Writable } from "node:stream";
import { expect, describe, it } from "vitest";
import type { CommandNode } from "../../src/commands/command-tree.ts";
import { EXIT_CODES } from "../../src/domain/errors.ts";
import { createProgram } from "../../src/program.ts";
import { CREATE } from "../support/account.ts";
import { startCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { outputs } from "../support/json-outputs.ts";

/** Arguments that let a command reach its own work. Each command that takes arguments has an entry. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  create: [...CREATE.slice(1), "--terminal-id", "1", "--dry-run"],
  bulk: ["-", "--dry-run"],
  "links show": ["L1"],
  "links update": ["L1", "--description", "Order 1"],
  "links cancel": ["L1", "--yes"],
  transaction: ["00000000-0000-0000-0000-000000000000"],
  "events list": ["V-1"],
  "events show": ["x"],
  "events accept": ["x"],
  "events replay": ["--all", "--to", "9"],
  "events retry": ["--all"],
  "events skip": ["x", "--yes"],
  "events prune": ["--before", "1d", "--yes"],
  reconcile: ["V-1"],
  verify: [],
  trigger: ["approved", "--dry-run"],
  check: ["http://127.0.0.1:9/"],
  "sandbox advance": ["1s"],
  "sandbox fail": ["create=lost:1"],
  pay: ["L1"],
  test: ["--", process.execPath, "-e", "0"],
  "config get": ["currency"],
  "config set": ["currency", "EUR"],
  "config unset": ["currency"],
  "profiles use": ["x"],
  "profiles remove": ["x", "--yes"],
  help: ["errors"],
  completion: ["bash"],
};
/** Commands that run until they are stopped. */
const SERVING = ["inspect", "listen", "sandbox"];

const leaves = (command: CommandNode): CommandNode[] => {
  const inner = command.visibleCommands.flatMap(leaves);
  return command.parent === null ? inner : [command, ...inner];
};
const program = createProgram({
  version: "0",
  print: () => undefined,
  execute: async () => undefined,
});
await Promise.all(program.commands.map((command) => command.declared()));
const nameIn = ({ words }: CommandNode): string => words.join(" ");
const COMMANDS = leaves(program).map(nameIn);
const TAKING_ARGUMENTS = leaves(program)
  .filter((command) => command.registeredArguments.length > 0)
  .map(nameIn);
/** It prints a script; and those that only group others. */
const WITHOUT_JSON = ["completion", "config", "events", "links", "profiles"];
/** It prints nothing before an event arrives. */
const FOLLOWING = "events tail";
const ENDING = COMMANDS.filter((name) => name !== FOLLOWING && !SERVING.includes(name));

const call = (name: string, ...flags: string[]): string[] => [
  ...name.split(" "),
  ...flags,
  ...(ARGUMENTS[name] ?? []),
];
const codes = Object.keys(EXIT_CODES).map(Number);

it("arguments are given to the commands that take some", () => {
  expect(Object.keys(ARGUMENTS).filter((name) => !COMMANDS.includes(name))).toEqual([]);
  expect(TAKING_ARGUMENTS.filter((name) => ARGUMENTS[name] === undefined)).toEqual([]);
});

it("what each command prints with --json has a schema", () => {
  expect(Object.keys(outputs()).toSorted()).toEqual(
    COMMANDS.filter((name) => !WITHOUT_JSON.includes(name)).toSorted(),
  );
});

describe.each(COMMANDS)("paylink %s", (name) => {
  it("names the nearest flag", async () => {
    const mistyped = await runCommand(call(name, "--jsno"));
    expect(mistyped).toMatchObject({ exit: 2, stdout: "" });
    expect(mistyped.stderr).toContain("Unknown option '--jsno'. Did you mean --json?");
  });
});

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
/** A document, or JSON lines. */
const isJsonOnly = (text: string): boolean =>
  text === "" || isJson(text) || text.trimEnd().split("\n").every(isJson);

describe.each(ENDING)("paylink %s --json", (name) => {
  it("prints JSON alone, and ends with a code of the table", async () => {
    const { exit, stdout, stderr } = await runCommand(call(name, "--json"), { stdin: "amount\n10\n" });
    expect(codes).toContain(exit);
    expect(exit).not.toBe(1);
    expect({ stdout, json: isJsonOnly(stdout) }).toEqual({ stdout, json: true });
    expect({ stderr, json: stderr === "" || isJson(stderr) }).toEqual({ stderr, json: true });
    if (exit !== 0) expect(JSON.parse(stderr)).toHaveProperty("error.code");
  });

  it("ends without a stack trace when nobody reads stdout", async () => {
    const { stderr } = await runCommand(call(name), { stdout: withoutReader() });
    expect(stderr).not.toMatch(/^ +at /m);
  });
});

/** Fails as a pipe does whose reader has gone. */
const withoutReader = (): Writable =>
  new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
  });

describe.each(SERVING)("paylink %s --json", (name) => {
  it("prints JSON lines, and one document when it is stopped", async () => {
    const flags = name === "listen" ? ["--no-verify"] : [];
    const serving = startCommand([name, "--port", "0", "--json", ...flags]);
    await serving.until(/"type":"ready".*\n/);
    const { exit, stdout, stderr } = await serving.stop();
    expect(exit).toBe(130);
    expect(isJsonOnly(stdout)).toBe(true);
    expect(JSON.parse(stderr)).toHaveProperty("error.code", "interrupted");
  });
});
