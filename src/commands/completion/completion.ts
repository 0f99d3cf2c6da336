/** Completion: tells the completion library what commander knows, and the names of the profiles besides. */
import completions, { script, type Command as Known } from "@bomb.sh/tab";
import type { Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { defaultKeys } from "../../store/settings/profile.ts";

const NAME = "paylink";

/** The script calls `paylink complete -- <words>` at each request, so it never goes stale. */
export function printScript(shell: string): void {
  script(shell, NAME, NAME);
}

/** What may stand where an argument (or `--profile`) has such a name, besides the choices that it has itself. */
type Words = Readonly<Record<string, readonly string[]>>;

/** Prints the suggestions for what has been typed, in the form that the scripts of all shells read. */
export async function suggest(
  program: Command,
  words: readonly string[],
  { settings }: Context,
): Promise<void> {
  const commands = program.createHelp().visibleCommands(program);
  const known = {
    profile: Object.keys((await settings()).profiles()),
    key: defaultKeys(),
    topic: commands.map((command) => command.name()),
  };
  describe(program, completions, known);
  for (const command of commands) tell(command, "", program, known);
  completions.parse([...words]);
}

function tell(command: Command, parents: string, program: Command, words: Words): void {
  const path = `${parents}${command.name()}`;
  const known = completions.command(path, command.description());
  describe(command, known, words);
  // The options of the program are taken after a command too.
  for (const option of program.options) describeOption(option, known, words);
  for (const inner of command.createHelp().visibleCommands(command)) tell(inner, `${path} `, program, words);
}

function describe(command: Command, known: Known, words: Words): void {
  for (const option of command.createHelp().visibleOptions(command)) describeOption(option, known, words);
  for (const argument of command.registeredArguments) {
    const offered = [...(argument.argChoices ?? []), ...(words[argument.name()] ?? [])];
    known.argument(argument.name(), offering(offered), argument.variadic);
  }
}

function describeOption(option: Option, known: Known, words: Words): void {
  const [name, letter] = [option.long?.replace(/^--/, ""), option.short?.replace(/^-/, "")];
  if (name === undefined) return;
  if (option.isBoolean()) return void known.option(name, option.description, letter);
  // `--key` is a file, and no setting.
  const offered = name === "profile" ? words["profile"] : option.argChoices;
  known.option(name, option.description, offering(offered), letter);
}

const offering =
  (values: readonly string[] = []) =>
  (offer: (value: string, description: string) => void): void => {
    for (const value of values) offer(value, "");
  };
