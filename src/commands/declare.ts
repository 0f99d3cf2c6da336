/** Gives commander what is declared for each command, once it is needed, and finds the declared parts again. */
import { Argument, Option, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import type { Command as Declaration, Declared, GivenFor } from "./command.ts";

/** Takes the command that the command line names, with its work, which resolves with the exit code or throws. */
export type Execute = (
  command: CommandUnknownOpts,
  work: (context: Context) => Promise<number>,
) => Promise<void>;

type Described = Pick<Declaration, "examples" | "arguments" | "flags">;

/** What commander has no place for: the declaration of each command, or a function that declares it once it is needed. */
const DECLARATIONS = new WeakMap<CommandUnknownOpts, Described | (() => Promise<void>)>();

/** Leaves the declaration of a command, besides its name and summary, to `declared`. */
export function declareLater(command: CommandUnknownOpts, declareNow: () => Promise<void>): void {
  DECLARATIONS.set(command, declareNow);
}

/** The command with its declaration: most runs need that of one command, or of none (startup bench). */
export async function declared(command: CommandUnknownOpts): Promise<CommandUnknownOpts> {
  const found = DECLARATIONS.get(command);
  if (typeof found !== "function") return command;
  DECLARATIONS.delete(command);
  await found();
  return command;
}

function describedBy(command: CommandUnknownOpts): Partial<Described> {
  const found = DECLARATIONS.get(command);
  return found === undefined || typeof found === "function" ? {} : found;
}

/** Keeps the declaration of a command, and shows its examples in the help. */
export function addHelp(command: CommandUnknownOpts, declaration: Described): void {
  DECLARATIONS.set(command, declaration);
  const lines = declaration.examples.map((line) => `  ${line}`);
  if (lines.length > 0) command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}

export const examplesOf = (command: CommandUnknownOpts): readonly string[] =>
  describedBy(command).examples ?? [];

/** A value of an argument or an option of the command that works, as it is typed in a shell. */
export function exampleOf(one: Argument | Option, command: CommandUnknownOpts): string | undefined {
  const { arguments: operands = {}, flags = {} } = describedBy(command);
  if (one instanceof Option)
    return Object.values(flags).find(({ spelled }) => spelled === one.flags)?.example;
  return Object.values(operands)[command.registeredArguments.indexOf(one)]?.example;
}

/** The command above all others: `paylink`. */
export const programOf = (command: CommandUnknownOpts): CommandUnknownOpts =>
  command.parent === null ? command : programOf(command.parent);

/** The options that every command takes. */
export const globalOptions = (command: CommandUnknownOpts): Option[] =>
  programOf(command).options.filter((option) => !option.hidden && option.attributeName() !== "version");

/** They are explained in the help of paylink alone. */
const globalLine = (command: CommandUnknownOpts): string =>
  `\nGlobal flags: ${globalOptions(command)
    .map(({ short, long }) => short ?? long)
    .join(", ")} (paylink --help)`;

/** The command as it is typed: `paylink events list`. */
export const pathOf = (command: CommandUnknownOpts): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

/** Collects the values of a repeatable option in the order given. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

/** Gives a command of commander what is declared for it. */
export function declare(command: CommandUnknownOpts, declaration: Declaration, execute: Execute): void {
  const { arguments: operands = {}, flags = {}, commands = {}, run } = declaration;
  for (const operand of Object.values(operands)) command.addArgument(argumentOf(operand));
  const names = new Map<string, string>();
  for (const [name, flag] of Object.entries(flags)) {
    const option = optionOf(flag);
    names.set(name, option.attributeName());
    command.addOption(option);
  }
  if (declaration.takesAnyFlag === true) command.allowUnknownOption();
  const { notes } = declaration;
  command.addHelpText("after", () => globalLine(command));
  if (notes !== undefined) command.addHelpText("after", () => `\n${fitted(notes, command)}`);
  addHelp(command, declaration);
  const order = Object.keys(operands);
  const given: GivenFor = (name) => {
    if (order.includes(name)) {
      const value: unknown = command.processedArgs[order.indexOf(name)];
      return { value, isTyped: Array.isArray(value) ? value.length > 0 : value !== undefined };
    }
    const attribute = names.get(name) ?? name;
    const isTyped = command.getOptionValueSource(attribute) === "cli";
    return { value: command.opts()[attribute], isTyped };
  };
  if (run !== undefined) command.action(() => execute(command, (context) => run(context, given, command)));
  for (const [name, inner] of Object.entries(commands)) {
    const added = command.command(name, { isDefault: inner.isDefault === true });
    declare(added.description(inner.summary ?? ""), inner, execute);
  }
}

/** As commander has it where no terminal says how wide it is. */
const HELP_WIDTH = 80;

/** Breaks lines that are too long between words; the rest continues in the last column of the line. */
function fitted(lines: string, command: CommandUnknownOpts): string {
  const width = command.configureOutput().getOutHelpWidth?.() ?? HELP_WIDTH;
  const broken = (line: string): string => {
    const column = /^(?:.* {2,})?/.exec(line)?.[0].length ?? 0;
    const end = line.length <= width ? -1 : line.lastIndexOf(" ", width);
    return end <= column
      ? line
      : `${line.slice(0, end)}\n${broken(" ".repeat(column) + line.slice(end + 1))}`;
  };
  return lines.split("\n").map(broken).join("\n");
}

function argumentOf({ spelled, description, choices }: Declared): Argument {
  const argument = new Argument(spelled, description);
  if (choices === undefined) return argument;
  // The parser names a wrong word together with every other problem.
  argument.choices(choices);
  return argument.variadic ? argument.argParser(collect) : argument.argParser((value: string) => value);
}

function optionOf(flag: Declared): Option {
  const { spelled, description, choices, heading } = flag;
  const option = new Option(spelled, description);
  // commander would stop at a wrong word; the parser names it together with every other problem.
  if (choices !== undefined) option.choices(choices).argParser((value: string) => value);
  if (flag.isRepeatable === true) option.argParser(collect);
  if (flag.default !== undefined) option.default(flag.default);
  if (flag.isRequired === true) option.makeOptionMandatory();
  return heading === undefined ? option : option.helpGroup(heading);
}
