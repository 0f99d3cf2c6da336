/** Completion: gives the completion library the commands of commander and the names of the profiles. */
import completions, { script, type Command as Known } from "@bomb.sh/tab";
import type { Context } from "../../context.ts";
import { CONFIG_KEYS, isConfigKey, SETTINGS } from "../../settings/setting-table.ts";
import { PaylinkError } from "../../domain/errors.ts";
import type { Option } from "commander";
import type { CommandNode, FlagOption } from "../command-tree.ts";

const PROGRAM = "paylink";

/** The script calls `paylink complete -- <words>` each time, so it needs no update. */
export async function printScript(shell: string, { out }: Context): Promise<number> {
  if (out.json) throw new PaylinkError("usage", "--json cannot be used here: the output is a shell script.");
  if (shell === "bash") out.data(BASH_SCRIPT);
  else script(shell, PROGRAM, PROGRAM);
  return 0;
}

/** The values to suggest for arguments and options by their names, besides their own choices. */
type SuggestedValues = Readonly<Record<string, readonly string[]>>;

/** Prints the suggestions in the form that the scripts of all shells read. */
export async function suggest(
  program: CommandNode,
  words: readonly string[],
  { out, profiles }: Context,
): Promise<number> {
  await Promise.all(program.commands.map((command) => command.declared()));
  if (completesFile(program, words)) {
    out.data(SHELL_COMPLETES_FILES);
    return 0;
  }
  const commands = program.visibleCommands;
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

/** The directive of the scripts by which the shell completes file names. */
const SHELL_COMPLETES_FILES = ":0";

/** Whether the last word is the value of a flag, or an argument, that is called a file, or the value of such a setting. */
function completesFile(program: CommandNode, words: readonly string[]): boolean {
  let command = program;
  let flag: FlagOption | undefined;
  const operands: string[] = [];
  for (const word of words.slice(0, -1)) {
    const isValue = flag !== undefined;
    flag = isValue ? undefined : flagWithValue(word, command);
    if (isValue || (word.startsWith("-") && word !== "-")) continue;
    const inner = command.commands.find((known) => known.name() === word);
    if (inner === undefined) operands.push(word);
    else command = inner;
  }
  const current = words.at(-1) ?? "";
  const [, joined] = /^(--[^=]+)=/.exec(current) ?? [];
  const option = joined === undefined ? flag : flagWithValue(joined, command);
  if (option !== undefined) return option.flags.includes("<file");
  if (current.startsWith("-")) return false;
  const [key = ""] = operands;
  if (command.name() === "set") return isConfigKey(key) && SETTINGS[key].mayBeFile === true;
  return command.registeredArguments[operands.length]?.name() === "file";
}

function flagWithValue(word: string, command: CommandNode): FlagOption | undefined {
  const option = command.optionNamed(word);
  return option?.required === true ? option : undefined;
}

function addCommand(
  command: CommandNode,
  parents: string,
  program: CommandNode,
  values: SuggestedValues,
): void {
  const path = `${parents}${command.name()}`;
  const known = completions.command(path, command.description());
  addValues(command, known, values);
  // The program's options are accepted after a command too.
  for (const option of program.options) addOption(option, known, values);
  for (const inner of command.visibleCommands) addCommand(inner, `${path} `, program, values);
}

function addValues(command: CommandNode, known: Known, values: SuggestedValues): void {
  for (const option of command.createHelp().visibleOptions(command)) addOption(option, known, values);
  for (const argument of command.registeredArguments) {
    const suggested = [...(argument.argChoices ?? []), ...(values[argument.name()] ?? [])];
    known.argument(argument.name(), suggesting(suggested), argument.variadic);
  }
}

function addOption(option: Option, known: Known, values: SuggestedValues): void {
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

/**
 * The script for bash: that of the completion library needs the bash-completion package. The words are split at spaces alone, because bash also splits them at `=` and `:`; for the same reason only what
 * follows the last of these is completed.
 */
const BASH_SCRIPT = String.raw`# bash completion for paylink
_paylink_complete() {
    local line=${"$"}{COMP_LINE:0:COMP_POINT} words out value cur
    read -ra words <<< "$line"
    if [[ $line == *[[:space:]] ]]; then words+=(""); fi
    cur=${"$"}{words[${"$"}{#words[@]}-1]}
    COMPREPLY=()
    out=$(paylink complete -- "${"$"}{words[@]:1}" 2> /dev/null) || return
    if [[ $out == *:0 ]]; then
        compopt -o filenames 2> /dev/null
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "${"$"}{cur#--*=}")
        return
    fi
    # The suggestions for --flag=va are values alone.
    if [[ $cur == --*=* ]]; then cur=${"$"}{cur#*=}; fi
    while IFS=$'\t' read -r value _; do
        if [[ $value == "$cur"* && $value != :* ]]; then
            COMPREPLY+=("${"$"}{value#"${"$"}{cur%"${"$"}{cur##*[=:]}"}"}")
        fi
    done <<< "$out"
}
complete -F _paylink_complete paylink`;
