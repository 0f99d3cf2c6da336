/** Wrong use as the command line's parser finds it: failures of ours, with the nearest name and a line that would work. */
import type { CommandUnknownOpts, CommanderError } from "@commander-js/extra-typings";
import { PaylinkError } from "../domain/errors.ts";
import { nearest } from "../domain/nearest.ts";
import { exampleOf } from "./declare.ts";

/** Makes every refusal of commander's a failure of ours, so that one place turns them all into words. */
export function failAsUsage(program: CommandUnknownOpts): void {
  program.on("beforeAllHelp", refuseHelp);
  for (const command of withSubcommands(program)) {
    command.helpCommand(false).showSuggestionAfterError(false);
    command.configureOutput({ outputError: () => undefined });
    command.exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      refuseUnknown(command);
      throw misuse(command, error);
    });
  }
}

/** commander would show the help of paylink for `paylink bogus --help`, and in place of a refusal for `paylink --json`. */
function refuseHelp({ command, error }: { readonly command: CommandUnknownOpts; readonly error: boolean }): void {
  refuseUnknown(command);
  if (error) throw usage(`${pathOf(command)} needs a command.`, command);
}

/** The failure of a word that stands where a command should, and is none. */
export function unknownCommand(word: string, group: CommandUnknownOpts): PaylinkError {
  const names = group.createHelp().visibleCommands(group);
  const near = nearest(
    word,
    names.map((command) => command.name()),
  );
  const meant = names.find((command) => command.name() === near);
  return new PaylinkError("usage", `Unknown command '${word}'.${didYouMean(near)}`, {
    hint: `Try: ${(meant && exampleOf(meant)) ?? `${pathOf(group)} --help`}`,
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

function misuse(command: CommandUnknownOpts, { code, message }: CommanderError): PaylinkError {
  const words = message.replace(/^error: /, "").replace(/\.$/, "");
  const sentence = `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
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
