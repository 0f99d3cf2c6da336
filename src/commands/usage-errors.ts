/** Usage errors that commander finds, as paylink's own errors: what is wrong, and how to correct the command line. */
import type { CommandUnknownOpts, CommanderError } from "@commander-js/extra-typings";
import { hint, paylink, PaylinkError, type Correction } from "../domain/errors.ts";
import { nearest } from "../domain/nearest.ts";
import { missingArgument, missingFlag, missingValue, optionNamed } from "./corrections.ts";
import { pathOf } from "./declare.ts";

/**
 * Turns every error of commander into a PaylinkError, so that all errors are rendered in one place: those of a command and its
 * subcommands.
 */
export function failAsUsage(declared: CommandUnknownOpts): void {
  for (const command of withSubcommands(declared)) {
    refuseFlagsAsValues(command);
    refuseOpposites(command);
    command.helpCommand(false).showSuggestionAfterError(false);
    command.configureOutput({ outputError: () => undefined });
    command.exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      refuseUnknown(command);
      throw usageError(command, error);
    });
  }
}

/** Without this, commander shows the help of paylink for `paylink bogus --help`, and for `paylink --json`. */
export function refuseHelp({
  command,
  error,
}: {
  readonly command: CommandUnknownOpts;
  readonly error: boolean;
}): void {
  refuseUnknown(command);
  if (error) throw new PaylinkError("usage", `${pathOf(command)} needs a command.`, listOf(command));
}

/** Without this, commander reads `--currency` as the amount in `--amount --currency EUR`. */
function refuseFlagsAsValues(command: CommandUnknownOpts): void {
  for (const { required, long, flags } of command.options) {
    if (!required || long === undefined) continue;
    command.on(`option:${long.slice(2)}`, (value: string) => {
      if (/^-[^\d.]/.test(value) && optionNamed(value, command) !== undefined)
        throw usage(needsValue(flags, long), missingValue(long, command));
    });
  }
}

/** Without this, the last of `--qr --no-qr` wins. */
function refuseOpposites(command: CommandUnknownOpts): void {
  for (const { long = "", negate } of command.options) {
    const opposite = `--${long.slice("--no-".length)}`;
    if (!negate || !command.options.some((option) => option.long === opposite)) continue;
    const given = new Set<string>();
    for (const flag of [long, opposite])
      command.on(`option:${flag.slice(2)}`, () => {
        if (given.add(flag).size === 2) throw usage(`${opposite} cannot be used with ${long}.`);
      });
  }
}

export function unknownCommand(word: string, group: CommandUnknownOpts): PaylinkError {
  const names = group.createHelp().visibleCommands(group);
  const near = nearest(
    word,
    names.map((command) => command.name()),
  );
  const message = `Unknown command '${word}'.${didYouMean(near)}`;
  return near === undefined
    ? new PaylinkError("usage", message, listOf(group))
    : usage(message, { typed: word, instead: near });
}

const listOf = (group: CommandUnknownOpts) => ({
  hints: [hint`To list the commands: ${paylink(...namesOf(group), "--help")}`],
});

/** The words of a command after `paylink`. */
const namesOf = (command: CommandUnknownOpts): readonly string[] =>
  command.parent === null ? [] : [...namesOf(command.parent), command.name()];

const withSubcommands = (command: CommandUnknownOpts): CommandUnknownOpts[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

function refuseUnknown(command: CommandUnknownOpts): void {
  // `events lst` reaches `events list`, its default, as an argument too many.
  const group = command.commands.length > 0 ? command : command.parent;
  const [word] = group?.args ?? [];
  if (group === null || word === undefined || word.startsWith("-")) return;
  if (!group.commands.some((known) => known.name() === word)) throw unknownCommand(word, group);
}

/** Uses commander's own words only if paylink has no better ones. */
function usageError(command: CommandUnknownOpts, { code, message }: CommanderError): PaylinkError {
  const [, quoted = ""] = /'([^']*)'/.exec(message) ?? [];
  switch (code) {
    case "commander.unknownOption":
      return unknownOption(command, quoted);
    case "commander.excessArguments":
      return excessArguments(command);
    case "commander.optionMissingArgument": {
      const [flag = ""] = quoted.match(/--[\w-]+/) ?? [];
      return usage(needsValue(quoted, flag), missingValue(flag, command));
    }
    case "commander.missingMandatoryOptionValue": {
      const [flag = ""] = quoted.match(/--[\w-]+/) ?? [];
      return usage(`${flag} is required.`, missingFlag(flag, command));
    }
    case "commander.missingArgument": {
      const index = command.registeredArguments.findIndex((argument) => argument.name() === quoted);
      return usage(`The argument <${quoted}> is required.`, missingArgument(index, command));
    }
    default:
      return usage(sentence(message), nearestChoice(message));
  }
}

function unknownOption(command: CommandUnknownOpts, word: string): PaylinkError {
  const [, typed = ""] = /^--?([^=]+)/.exec(word) ?? [];
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const near = nearest(
    typed,
    options.flatMap(({ long }) => long?.replace(/^--/, "") ?? []),
  );
  const meant = near === undefined ? undefined : `--${near}`;
  const [flag = ""] = word.split("=");
  return usage(
    `Unknown option '${word}'.${didYouMean(meant)}`,
    meant === undefined ? undefined : { typed: flag, instead: meant },
  );
}

function excessArguments(command: CommandUnknownOpts): PaylinkError {
  const { length } = command.registeredArguments;
  const takes = length === 0 ? "no arguments" : length === 1 ? "one argument" : `${length} arguments`;
  return usage(`Unexpected argument '${command.args[length] ?? ""}': ${pathOf(command)} takes ${takes}.`);
}

/** `flags` as declared, such as `--amount <decimal>`. */
const needsValue = (flags: string, flag: string): string =>
  `${flag} needs a value: ${flag} ${/<.*>/.exec(flags)?.[0] ?? ""}`;

function nearestChoice(message: string): Correction | undefined {
  const [, typed, choices = ""] = /'([^']*)' is invalid.* Allowed choices are (.*)\.$/.exec(message) ?? [];
  const near = typed === undefined ? undefined : nearest(typed, choices.split(", "));
  return typed === undefined || near === undefined ? undefined : { typed, instead: near };
}

const OPTION_CHOICE =
  /^error: option '(?:-\w, )?(--[\w-]+)[^']*' argument '([^']*)' is invalid\. Allowed choices are (.*)\.$/;
const ARGUMENT_CHOICE =
  /^error: command-argument value '([^']*)' is invalid for argument '([^']*)'\. Allowed choices are (.*)\.$/;

function sentence(message: string): string {
  const text = message
    .replace(OPTION_CHOICE, '$1 must be one of $3 (got "$2")')
    .replace(ARGUMENT_CHOICE, '<$2> must be one of $3 (got "$1")')
    .replace(/^error: /, "")
    .replace(/\.$/, "");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const usage = (message: string, correction?: Correction): PaylinkError =>
  new PaylinkError("usage", message, {
    corrections: correction === undefined ? undefined : [correction],
  });

const didYouMean = (name: string | undefined): string => (name === undefined ? "" : ` Did you mean ${name}?`);
