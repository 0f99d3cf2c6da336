/** What `paylink help --json` describes: every command, flag, setting, exit code and error code, from the program and the tables. */
import type { Argument, CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { EXIT_CODES, FAILURES } from "../../domain/errors.ts";
import { shellWord } from "../../domain/hint.ts";
import { SETTING_KEYS, SETTINGS } from "../../settings/setting-table.ts";
import { collect, declared, examplesOf, pathOf, programOf } from "../declare.ts";

/** Describes the whole program, or one command of it with its subcommands. */
export async function showReference({ out }: Context, described: CommandUnknownOpts): Promise<number> {
  const program = programOf(described);
  const commands = described === program ? visibleCommands(program) : [described];
  await Promise.all(commands.map(declared));
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

const visibleCommands = (group: CommandUnknownOpts): CommandUnknownOpts[] =>
  group.createHelp().visibleCommands(group);

/** As it is typed after `paylink`: `events list`. */
const commandName = (command: CommandUnknownOpts): string =>
  pathOf(command).slice(programOf(command).name().length + 1);

const describeCommand = (command: CommandUnknownOpts): object => ({
  name: commandName(command),
  description: command.description(),
  arguments: command.registeredArguments.map(describeArgument),
  examples: examplesOf(command),
  subcommands: visibleCommands(command).map(describeCommand),
});

const describeArgument = (argument: Argument): object => ({
  name: argument.name(),
  description: argument.description,
  required: argument.required,
  repeatable: argument.variadic,
  choices: argument.argChoices ?? null,
});

function flagsOf(command: CommandUnknownOpts): object[] {
  const own = command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => describeFlag(option, commandName(command)));
  return [...own, ...visibleCommands(command).flatMap(flagsOf)];
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
  repeatable: option.parseArg === collect,
});
