/** Completion: tells the completion library what commander knows, and the names of the profiles besides. */
import completions, { script, type Command as Known } from "@bomb.sh/tab";
import type { Argument, Command, Option } from "commander";
import type { Context } from "../../context.ts";

const NAME = "paylink";

/** The script calls `paylink complete -- <words>` at each request, so it never goes stale. */
export function printScript(shell: string): void {
  script(shell, NAME, NAME);
}

/** Prints the suggestions for what has been typed, in the form that the scripts of all shells read. */
export async function suggest(
  program: Command,
  words: readonly string[],
  { settings }: Context,
): Promise<void> {
  const profiles = Object.keys((await settings()).profiles());
  describe(program, completions, profiles);
  for (const command of program.createHelp().visibleCommands(program)) tell(command, "", program, profiles);
  completions.parse([...words]);
}

function tell(command: Command, parents: string, program: Command, profiles: readonly string[]): void {
  const path = `${parents}${command.name()}`;
  const known = completions.command(path, command.description());
  describe(command, known, profiles);
  // The options of the program are taken after a command too.
  for (const option of program.options) describeOption(option, known, profiles);
  for (const inner of command.createHelp().visibleCommands(command))
    tell(inner, `${path} `, program, profiles);
}

function describe(command: Command, known: Known, profiles: readonly string[]): void {
  for (const option of command.createHelp().visibleOptions(command)) describeOption(option, known, profiles);
  for (const argument of command.registeredArguments) describeArgument(argument, known);
}

function describeOption(option: Option, known: Known, profiles: readonly string[]): void {
  const [name, letter] = [option.long?.replace(/^--/, ""), option.short?.replace(/^-/, "")];
  if (name === undefined) return;
  if (option.isBoolean()) known.option(name, option.description, letter);
  else
    known.option(
      name,
      option.description,
      offering(name === "profile" ? profiles : option.argChoices),
      letter,
    );
}

function describeArgument(argument: Argument, known: Known): void {
  known.argument(argument.name(), offering(argument.argChoices), argument.variadic);
}

const offering =
  (values: readonly string[] = []) =>
  (offer: (value: string, description: string) => void): void => {
    for (const value of values) offer(value, "");
  };
