/** How a command is declared: its flags, the examples of its help and of its usage errors, and what runs it. */
import {
  Option,
  type Command,
  type CommandUnknownOpts,
  type OptionValues,
} from "@commander-js/extra-typings";
import type { Context } from "../context.ts";

/** A command under the program, before its own flags and arguments are declared. */
export type NewCommand = Command<[], {}, OptionValues>;

/** The flags that a declaration adds to a command, as commander parses them. */
export type FlagsOf<Declare extends (command: NewCommand) => { opts(): object }> = ReturnType<
  ReturnType<Declare>["opts"]
>;

/** Runs a command with a context made from its options; the work returns the exit code or throws. */
export type Execute = (
  command: CommandUnknownOpts,
  work: (context: Context) => Promise<number>,
) => Promise<void>;

/** Gives a command its flags, arguments, subcommands and examples, and what runs it. */
export type Declare = (command: NewCommand, execute: Execute) => void;

const UNDECLARED = new WeakMap<CommandUnknownOpts, () => void>();

/** Leaves the declaration of a command to `declared`. */
export function declareLater(command: CommandUnknownOpts, declare: () => void): void {
  UNDECLARED.set(command, declare);
}

/**
 * The command with its declaration. Without it, the command has a name and a summary only: most runs need a single command,
 * and all of them take a twentieth of a short run (startup bench).
 */
export function declared(command: CommandUnknownOpts): CommandUnknownOpts {
  const declare = UNDECLARED.get(command);
  UNDECLARED.delete(command);
  declare?.();
  return command;
}

const EXAMPLES = new WeakMap<CommandUnknownOpts, readonly string[]>();

/** Gives a command its examples: lines that work against the sandbox as written, the simplest first. */
export function examples(command: CommandUnknownOpts, lines: readonly [string, string, ...string[]]): void {
  EXAMPLES.set(command, lines);
  command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

export const examplesOf = (command: CommandUnknownOpts): readonly string[] => EXAMPLES.get(command) ?? [];

/** The command above all others: `paylink`. */
export const programOf = (command: CommandUnknownOpts): CommandUnknownOpts =>
  command.parent === null ? command : programOf(command.parent);

/** The command as it is typed: `paylink events list`. */
export const pathOf = (command: CommandUnknownOpts): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

/**
 * An option with a few values, which help and completion list. commander would stop at a wrong one; the command names it
 * together with every other problem.
 */
export function oneOf<Flags extends string>(flags: Flags, description: string, values: readonly string[]) {
  return new Option(flags, description).choices(values).argParser((value: string) => value);
}

/** Collects the values of a repeatable option in the order given. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}
