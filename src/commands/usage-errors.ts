/** Usage errors in words: of a command that is not there, a flag without its value, and what else commander finds. */
import type { Argument, CommanderError, Option } from "commander";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { withoutPassword } from "../values/url-passwords.ts";
import { nearest } from "../values/parse-result.ts";
import { isSecretName, shownPath } from "../values/secrets.ts";
import { plural } from "../values/plural.ts";
import type { CommandNode, FlagOption } from "./command-tree.ts";

/** `topics` are those of `help`, where one may be meant. */
export function unknownCommand(
  word: string,
  group: CommandNode,
  topics: readonly string[] = [],
): PaylinkError {
  const names = group.visibleCommands.map((command) => command.name());
  const near = synonymOf(word, names) ?? namedBy(word, [...names, ...topics]);
  const message = `Unknown command '${word}'.${didYouMean(near)}`;
  if (near !== undefined) return usage(message);
  const more = topics.length === 0 ? [] : [hint`To list the topics: ${paylink`help --help`}`];
  return new PaylinkError("usage", message, { hints: [toList(group), ...more] });
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

const toList = (group: CommandNode) => hint`To list the commands: ${paylink`${group.words} --help`}`;

/** The word that names no command of its group; `events lst` reaches `events list`, its default, as an argument too many. */
export function unknownCommandOf(command: CommandNode): PaylinkError | undefined {
  const group = command.commands.length > 0 ? command : command.parent;
  const [word] = group?.args ?? [];
  if (group === null || word === undefined || word.startsWith("-")) return undefined;
  return group.commands.some((known) => known.name() === word) ? undefined : unknownCommand(word, group);
}

export const needsCommand = (command: CommandNode): PaylinkError =>
  new PaylinkError("usage", `${command.path} needs a command.`, { hints: [toList(command)] });

/** What commander found, by its code, with the option or the argument that it is about. */
export function usageErrorOf(command: CommandNode, error: CommanderError): Error {
  return unknownCommandOf(command) ?? FOUND[error.code]?.(command) ?? error;
}

const FOUND: Readonly<Record<string, (command: CommandNode) => PaylinkError>> = {
  "commander.unknownOption": unknownOption,
  "commander.excessArguments": excessArguments,
  "commander.missingMandatoryOptionValue": (command) => {
    const isMissing = (option: Option): boolean =>
      option.mandatory && command.getOptionValue(option.attributeName()) === undefined;
    const option = command.options.find(isMissing);
    return usage(`${option?.long} is required${suchAs(`${option?.long} `, option)}.`);
  },
  "commander.missingArgument": ({ registeredArguments, args }) => {
    const isMissing = ({ required }: Argument, index: number): boolean =>
      required && args[index] === undefined;
    const argument = registeredArguments.find(isMissing);
    return usage(`The argument <${argument?.name()}> is required${suchAs("", argument)}.`);
  },
};

function unknownOption(command: CommandNode): PaylinkError {
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

function excessArguments(command: CommandNode): PaylinkError {
  const { length } = command.registeredArguments;
  const takes = length === 0 ? "no arguments" : plural(length, "argument");
  const word = shownPath(withoutPassword(command.args[length] ?? ""));
  // It may be the secret that the command reads from standard input.
  const readsSecret = command.options.some((option) => option.long?.endsWith("-stdin"));
  return usage(
    `Unexpected argument${readsSecret ? "" : ` '${word}'`}: ${command.path} takes ${takes}.` +
      (readsSecret ? " It reads secrets from standard input." : ""),
  );
}

export const needsValue = ({ long = "", flags, example }: FlagOption): PaylinkError =>
  usage(`${long} needs a value: ${long} ${example ?? /<.*>/.exec(flags)?.[0] ?? ""}`);

export const givenTwice = ({ long = "" }: FlagOption): PaylinkError =>
  usage(`${long} is given twice, but takes one value.`);

/** As it is typed. */
const suchAs = (before: string, { example }: { readonly example?: string | undefined } = {}): string =>
  example === undefined ? "" : `, such as ${before}${example}`;

/** The name that was shortened, if only one begins so; else the nearest. */
function namedBy(typed: string, names: readonly string[]): string | undefined {
  const [name, ...others] = new Set(names.filter((one) => typed !== "" && one.startsWith(typed)));
  return others.length === 0 && name !== undefined ? name : nearest(typed, names);
}

const usage = (message: string): PaylinkError => new PaylinkError("usage", message);

const didYouMean = (name = ""): string => (name === "" ? "" : ` Did you mean ${name}?`);

/** Whether a flag, a setting, a header or a parameter of this name has, or reads, a secret. */
const namesSecret = (name: string): boolean => isSecretName(name.replace(/^--?/, "").replace(/-stdin$/, ""));
