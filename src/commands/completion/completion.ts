/** Completion: gives the completion library the commands of commander and the names of the profiles. */
import completions, { script, type Command as Known } from "@bomb.sh/tab";
import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { CONFIG_KEYS } from "../../store/settings/setting-table.ts";

const NAME = "paylink";

/** The script calls `paylink complete -- <words>` each time, so it needs no update. */
export async function printScript(shell: string): Promise<number> {
  script(shell, NAME, NAME);
  return 0;
}

/** The values to suggest for arguments and options by their names, besides their own choices. */
type Values = Readonly<Record<string, readonly string[]>>;

/** Prints the suggestions in the form that the scripts of all shells read. */
export async function suggest(
  program: CommandUnknownOpts,
  words: readonly string[],
  { profiles }: Context,
): Promise<number> {
  const commands = program.createHelp().visibleCommands(program);
  const values = {
    profile: Object.keys((await profiles()).profiles()),
    key: CONFIG_KEYS,
    topic: commands.map((command) => command.name()),
  };
  addValues(program, completions, values);
  for (const command of commands) addCommand(command, "", program, values);
  completions.parse([...words]);
  return 0;
}

function addCommand(
  command: CommandUnknownOpts,
  parents: string,
  program: CommandUnknownOpts,
  values: Values,
): void {
  const path = `${parents}${command.name()}`;
  const known = completions.command(path, command.description());
  addValues(command, known, values);
  // The program's options are accepted after a command too.
  for (const option of program.options) addOption(option, known, values);
  for (const inner of command.createHelp().visibleCommands(command))
    addCommand(inner, `${path} `, program, values);
}

function addValues(command: CommandUnknownOpts, known: Known, values: Values): void {
  for (const option of command.createHelp().visibleOptions(command)) addOption(option, known, values);
  for (const argument of command.registeredArguments) {
    const suggested = [...(argument.argChoices ?? []), ...(values[argument.name()] ?? [])];
    known.argument(argument.name(), suggesting(suggested), argument.variadic);
  }
}

function addOption(option: Option, known: Known, values: Values): void {
  const [name, letter] = [option.long?.replace(/^--/, ""), option.short?.replace(/^-/, "")];
  if (name === undefined) return;
  if (option.isBoolean()) return void known.option(name, option.description, letter);
  // `--key` takes a file; only the argument of that name takes a setting.
  const suggested = name === "profile" ? values["profile"] : option.argChoices;
  known.option(name, option.description, suggesting(suggested), letter);
}

const suggesting =
  (values: readonly string[] = []) =>
  (suggest: (value: string, description: string) => void): void => {
    for (const value of values) suggest(value, "");
  };
