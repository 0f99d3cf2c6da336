/** The tree of commands: whole, or the one that a command line begins with. */
import { describe, expect, it } from "vitest";
import type { Context } from "../src/context.ts";
import { createProgram } from "../src/program.ts";

const commandsOf = (...argv: string[]): string[] =>
  createProgram({
    version: "0",
    argv,
    start: () => Promise.reject<Context>(new Error("none is run")),
    print: () => undefined,
  }).commands.map((command) => command.name());

describe("the program", () => {
  const all = commandsOf();
  const ABOUT_ALL = ["help", "completion", "complete"];

  it.each(all.filter((name) => !ABOUT_ALL.includes(name)))(
    "knows %s alone where the line begins with it",
    (name) => {
      expect(all.length).toBeGreaterThan(15);
      expect(commandsOf(name, "--help")).toEqual([name]);
    },
  );

  it.each([["--json", "create"], ["creat"], ["constructor"], ...ABOUT_ALL.map((name) => [name]), []])(
    "knows every command for any other line: %j",
    (...argv) => {
      expect(commandsOf(...argv)).toEqual(all);
    },
  );
});
