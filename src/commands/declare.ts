/** How a command is declared: what it registers with, and the examples that its help and its usage errors show. */
import { Option, type Command } from "commander";
import type { Context } from "../context.ts";

/** Makes the context of a run from the options that the command was given. */
export type Start = (command: Command) => Promise<Context>;

export type Register = (program: Command, start: Start) => void;

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Gives a command its examples: lines that work against the sandbox as they stand, the simplest first. */
export function examples(command: Command, lines: readonly [string, string, ...string[]]): Command {
  EXAMPLES.set(command, lines);
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

/** One line that would work, for the end of a usage error. */
export function exampleOf(command: Command): string | undefined {
  return EXAMPLES.get(command)?.[0] ?? (command.parent === null ? undefined : exampleOf(command.parent));
}

/**
 * An option of few values, which help and completion then know. A wrong one is named by the command itself, together
 * with every other problem: commander would stop at the first.
 */
export function oneOf(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).argParser((value) => value);
}

/** Collects a repeatable option's values in the order given. */
export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}
