/** Usage errors that commander finds, as paylink's own errors: with the nearest name and a line that would work. */
import type { CommandUnknownOpts, CommanderError } from "@commander-js/extra-typings";
import { PaylinkError } from "../domain/errors.ts";
import { nearest } from "../domain/nearest.ts";
import { exampleOf } from "./declare.ts";

/** Turns every error of commander into a PaylinkError, so that all errors are rendered in one place. */
export function failAsUsage(program: CommandUnknownOpts): void {
  program.on("beforeAllHelp", refuseHelp);
  for (const command of withSubcommands(program)) {
    command.helpCommand(false).showSuggestionAfterError(false);
    command.configureOutput({ outputError: () => undefined });
    command.exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      refuseUnknown(command);
      throw usageError(command, error);
    });
  }
}

/** commander would show the help of paylink for `paylink bogus --help`, and instead of an error for `paylink --json`. */
function refuseHelp({
  command,
  error,
}: {
  readonly command: CommandUnknownOpts;
  readonly error: boolean;
}): void {
  refuseUnknown(command);
  if (error) throw usage(`${pathOf(command)} needs a command.`, command);
}

export function unknownCommand(word: string, group: CommandUnknownOpts): PaylinkError {
  const names = group.createHelp().visibleCommands(group);
  const near = nearest(
    word,
    names.map((command) => command.name()),
  );
  const intended = names.find((command) => command.name() === near);
  return new PaylinkError("usage", `Unknown command '${word}'.${didYouMean(near)}`, {
    hint: `Try: ${(intended && exampleOf(intended)) ?? `${pathOf(group)} --help`}`,
  });
}

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

function usageError(command: CommandUnknownOpts, { code, message }: CommanderError): PaylinkError {
  const text = message.replace(/^error: /, "").replace(/\.$/, "");
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return usage(code === "commander.unknownOption" ? sentence + suggestion(command) : sentence, command);
}

function usage(message: string, command: CommandUnknownOpts): PaylinkError {
  const example = exampleOf(command);
  return new PaylinkError("usage", message, {
    hint: example === undefined ? undefined : `Try: ${example}`,
  });
}

function suggestion(command: CommandUnknownOpts): string {
  const [, typed = ""] = /^--?([^=]+)/.exec(command.args.find((word) => /^-./.test(word)) ?? "") ?? [];
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const names = options.flatMap(({ long }) => long?.replace(/^--/, "") ?? []);
  const near = nearest(typed, names);
  return didYouMean(near === undefined ? undefined : `--${near}`);
}

const didYouMean = (name: string | undefined): string => (name === undefined ? "" : ` Did you mean ${name}?`);

const pathOf = (command: CommandUnknownOpts): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
