/** Usage errors: those of commander as paylink's own. */
import { plural } from "../values/plural.ts";
import {
  Option,
  type Argument,
  type CommandUnknownOpts,
  type CommanderError,
} from "@commander-js/extra-typings";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { withoutPassword } from "../values/url-passwords.ts";
import { nearest } from "../values/parse-result.ts";
import { isSecretName, shownPath } from "../values/secrets.ts";
import { collect, exampleOf, pathOf } from "./declare.ts";

/**
 * Turns every error of commander into a PaylinkError, so that all errors are rendered in one place: those of a command and its
 * subcommands.
 */
export function failAsUsage(top: CommandUnknownOpts): void {
  for (const command of withSubcommands(top)) {
    refuseTwice(command);
    command.helpCommand(false).showSuggestionAfterError(false);
    command.configureOutput({ outputError: () => undefined });
    command.exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      refuseFlagsAsValues(command);
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
  refuseFlagsAsValues(command);
  refuseUnknown(command);
  if (error) throw new PaylinkError("usage", `${pathOf(command)} needs a command.`, listOf(command));
}

/** What was typed, which commander keeps at the program. */
const typedWords = (command: CommandUnknownOpts): readonly unknown[] =>
  command.parent === null
    ? "rawArgs" in command && Array.isArray(command.rawArgs)
      ? command.rawArgs
      : []
    : typedWords(command.parent);

/** Without this, commander reads `--currency` as the amount in `--amount --currency EUR`. One that is joined (`--amount=--x`) is meant. */
export function refuseFlagsAsValues(command: CommandUnknownOpts): void {
  if (command.parent !== null) refuseFlagsAsValues(command.parent);
  for (const option of command.options) {
    const values: unknown = option.required ? command.getOptionValue(option.attributeName()) : undefined;
    for (const value of [values].flat())
      if (
        typeof value === "string" &&
        /^-[^\d.]/.test(value) &&
        optionNamed(value, command) !== undefined &&
        !typedWords(command).includes(`${option.long}=${value}`)
      )
        throw needsValue(option, command);
  }
}

/** Without this, the last of `--amount 10 --amount 20` wins. */
function refuseTwice(command: CommandUnknownOpts): void {
  for (const option of command.options) {
    if (!option.required || option.parseArg === collect) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) throw usage(`${option.long} is given twice, but takes one value.`);
      isGiven = true;
    });
  }
}

/** `topics` are those of `help`, where one may be meant. */
export function unknownCommand(
  word: string,
  group: CommandUnknownOpts,
  topics: readonly string[] = [],
): PaylinkError {
  const commands = group.createHelp().visibleCommands(group);
  const names = commands.map((command) => command.name());
  const near = synonymOf(word, names) ?? namedBy(word, [...names, ...topics]);
  const message = `Unknown command '${word}'.${didYouMean(near)}`;
  if (near !== undefined) return usage(message);
  const more = topics.length === 0 ? [] : [hint`To list the topics: ${paylink`help --help`}`];
  return new PaylinkError("usage", message, { hints: [...listOf(group).hints, ...more] });
}

/** What other tools call a command: the names that it may have here, of which a group has one. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  ls: ["list", "links list"],
  list: ["links list"],
  get: ["show", "links show"],
  describe: ["show", "links show"],
  show: ["links show"],
  rm: ["remove", "cancel", "links cancel"],
  delete: ["remove", "cancel", "links cancel"],
  cancel: ["links cancel"],
  export: ["list", "events list"],
  add: ["create"],
  new: ["create"],
};

const synonymOf = (word: string, names: readonly string[]): string | undefined =>
  Object.hasOwn(SYNONYMS, word)
    ? SYNONYMS[word]?.find((synonym) => names.includes(synonym.split(" ")[0] ?? ""))
    : undefined;

const listOf = (group: CommandUnknownOpts) => ({
  hints: [hint`To list the commands: ${paylink`${namesOf(group)} --help`}`],
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

const ancestorsOf = ({ parent }: CommandUnknownOpts): CommandUnknownOpts[] =>
  parent === null ? [] : [parent, ...ancestorsOf(parent)];

/** What commander found, by its code, with the option or the argument that it is about. */
function usageError(command: CommandUnknownOpts, error: CommanderError): unknown {
  switch (error.code) {
    case "commander.unknownOption":
      return unknownOption(command);
    case "commander.excessArguments":
      return excessArguments(command);
    case "commander.optionMissingArgument": {
      // Nothing follows it, or only global flags. commander names it in its message alone.
      const named = ({ flags }: Option): boolean => error.message.includes(`'${flags}'`);
      const option = [command, ...ancestorsOf(command)].flatMap(({ options }) => options).find(named);
      return option === undefined ? error : needsValue(option, command);
    }
    case "commander.missingMandatoryOptionValue": {
      const isMissing = (option: Option): boolean =>
        option.mandatory && command.getOptionValue(option.attributeName()) === undefined;
      const option = command.options.find(isMissing);
      return option === undefined ? error : usage(`${option.long} is required${suchAs(option, command)}.`);
    }
    case "commander.missingArgument": {
      const argument = command.registeredArguments.find(
        ({ required }, index) => required && command.args[index] === undefined,
      );
      return usage(
        `The argument <${argument?.name() ?? ""}> is required${argument ? suchAs(argument, command) : ""}.`,
      );
    }
    default:
      return error;
  }
}

function unknownOption(command: CommandUnknownOpts): PaylinkError {
  // commander keeps the words that it does not know behind the arguments, which may be negative numbers.
  const isFlag = (word: string): boolean => word.length > 1 && word.startsWith("-");
  const isArgument = (word: string): boolean => command.commands.length === 0 && !Number.isNaN(Number(word));
  const separator = command.args.indexOf("--");
  const typed = separator === -1 ? command.args : command.args.slice(0, separator);
  const [word = ""] = typed.filter((one) => isFlag(one) && !isArgument(one));
  const [flag = ""] = word.split("=");
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const name = flag.replace(/^--?/, "");
  const names = options.flatMap(({ long }) => long?.replace(/^--/, "") ?? []);
  if (names.includes(name))
    return flag.startsWith("--")
      ? usage(`${flag} takes no value.`)
      : usage(`Unknown option '${flag}'.${didYouMean(`--${name}`)}`);
  // `--token` would hold a secret: `--token-stdin` reads it.
  const similar = namedBy(name, [...names, ...names.map((one) => one.replace(/-stdin$/, ""))]);
  const near = names.find((one) => one === similar || one === `${similar}-stdin`);
  const meant = near === undefined ? undefined : `--${near}`;
  const readsSecret = near?.endsWith("-stdin") === true;
  const shown = namesSecret(name) || readsSecret ? flag : shownPath(withoutPassword(word));
  return usage(`Unknown option '${shown}'.${didYouMean(meant)}`);
}

function excessArguments(command: CommandUnknownOpts): PaylinkError {
  const { length } = command.registeredArguments;
  const takes = length === 0 ? "no arguments" : plural(length, "argument");
  const word = shownPath(withoutPassword(command.args[length] ?? ""));
  // It may be the secret that the command reads from standard input.
  const readsSecret = command.options.some((option) => option.long?.endsWith("-stdin"));
  return usage(
    `Unexpected argument${readsSecret ? "" : ` '${word}'`}: ${pathOf(command)} takes ${takes}.` +
      (readsSecret ? " It reads secrets from standard input." : ""),
  );
}

function needsValue(option: Option, command: CommandUnknownOpts): PaylinkError {
  const { long = "", flags } = option;
  return usage(
    `${long} needs a value: ${long} ${exampleOf(option, command) ?? /<.*>/.exec(flags)?.[0] ?? ""}`,
  );
}

/** As it is typed. */
function suchAs(one: Argument | Option, command: CommandUnknownOpts): string {
  const example = exampleOf(one, command);
  if (example === undefined) return "";
  return `, such as ${one instanceof Option ? `${one.long} ` : ""}${example}`;
}

/** An option of the command, or of the commands above it. */
export function optionNamed(word: string, command: CommandUnknownOpts): Option | undefined {
  const own = command.options.find(({ long, short }) => long === word || short === word);
  return own ?? (command.parent === null ? undefined : optionNamed(word, command.parent));
}

/** The name that was shortened, if only one begins so; else the nearest. */
function namedBy(typed: string, names: readonly string[]): string | undefined {
  const [name, ...others] = new Set(names.filter((one) => typed !== "" && one.startsWith(typed)));
  return others.length === 0 && name !== undefined ? name : nearest(typed, names);
}

const usage = (message: string): PaylinkError => new PaylinkError("usage", message);

const didYouMean = (name = ""): string => (name === "" ? "" : ` Did you mean ${name}?`);

/** Whether a flag, a setting, a header or a parameter of this name has, or reads, a secret. */
const namesSecret = (name: string): boolean => isSecretName(name.replace(/^--?/, "").replace(/-stdin$/, ""));
