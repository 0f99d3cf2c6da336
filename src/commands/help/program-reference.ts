/** What `paylink help --json` describes: every command, flag, setting, exit code and error code, from the program and the tables. */
import type { Argument, Option } from "commander";
import type { Context } from "../../context.ts";
import { EXIT_CODES, FAILURES } from "../../domain/errors.ts";
import { shellWord } from "../../domain/hint.ts";
import { SETTING_KEYS, SETTINGS } from "../../settings/setting-table.ts";
import { type CommandNode, FlagOption } from "../command-tree.ts";

/** Describes the whole program, or one command of it with its subcommands. */
export async function showReference({ out }: Context, described: CommandNode): Promise<number> {
  const { program } = described;
  const commands = described === program ? program.visibleCommands : [described];
  await Promise.all(commands.map((command) => command.declared()));
  const reference = {
    commands: commands.map(describeCommand),
    flags: [
      ...program
        .createHelp()
        .visibleOptions(program)
        .map((option) => describeFlag(option, null)),
      ...commands.flatMap(flagsOf),
    ],
    settings: describeSettings(),
    exitCodes: describeExitCodes(),
    errorCodes: describeErrorCodes(),
  };
  out.lines([JSON.stringify(reference)]);
  return 0;
}

export const describeExitCodes = () =>
  Object.entries(EXIT_CODES).map(([code, meaning]) => ({ code: Number(code), meaning }));

export const describeErrorCodes = () =>
  Object.entries(FAILURES).map(([code, { exit, means }]) => ({ code, exitCode: exit, meaning: means }));

export const describeSettings = () =>
  SETTING_KEYS.map((key) => {
    const { means, variable = null, example, secret = false, default: preset = null } = SETTINGS[key];
    return {
      key,
      environment: variable,
      meaning: means,
      example: (example && shellWord(example)) ?? null,
      secret,
      default: preset,
    };
  });

const describeCommand = (command: CommandNode): object => ({
  name: command.words.join(" "),
  description: command.description(),
  arguments: command.registeredArguments.map(describeArgument),
  examples: command.examples,
  subcommands: command.visibleCommands.map(describeCommand),
});

const describeArgument = (argument: Argument): object => ({
  name: argument.name(),
  description: argument.description,
  required: argument.required,
  repeatable: argument.variadic,
  choices: argument.argChoices ?? null,
});

function flagsOf(command: CommandNode): object[] {
  const own = command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => describeFlag(option, command.words.join(" ")));
  return [...own, ...command.visibleCommands.flatMap(flagsOf)];
}

/** `command` is null for the flags that every command takes. */
const describeFlag = (option: Option, command: string | null): object => ({
  command,
  name: option.long,
  short: option.short ?? null,
  value: /<(.*)>/.exec(option.flags)?.[1] ?? null,
  description: option.description,
  required: option.mandatory,
  default: option.defaultValue ?? null,
  choices: option.argChoices ?? null,
  repeatable: option instanceof FlagOption && option.isRepeatable,
});
