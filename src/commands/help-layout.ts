/** How help is laid out: values as they are typed and the options of every command. */
import type { Argument, Command, HelpConfiguration, Option } from "commander";
import { capitalized, sentence } from "../values/sentence.ts";
import { CommandNode } from "./command-tree.ts";

/** More choices than this are listed by the command itself, below its options. */
const MANY = 8;

export const helpLayout: HelpConfiguration = {
  // Below its own limit of 40, commander leaves it to the terminal to break lines, inside words.
  minWidthToWrap: 20,
  // Only the root's: the options of `sandbox` do not apply to `sandbox advance`.
  visibleGlobalOptions: (command: Command) =>
    command instanceof CommandNode && command.parent !== null ? [...command.globalOptions] : [],
  subcommandTerm: (command: Command) => command.name(),
  commandDescription: (command: Command) => sentence(capitalized(command.description())),
  optionDescription: described,
  argumentDescription: described,
};

/** Like commander's own, but without the quotation marks of JSON. */
function described({ description, argChoices = [], defaultValue }: Option | Argument): string {
  const few = argChoices.length > 0 && argChoices.length <= MANY;
  const notes = [
    ...(few ? [argChoices.join(", ")] : []),
    ...(defaultValue === undefined ? [] : [`default: ${String(defaultValue)}`]),
  ];
  if (notes.length === 0) return description;
  const [, text, ownNotes] = /^(.*) \(([^()]*)\)$/.exec(description) ?? [];
  return ownNotes === undefined
    ? `${description} (${notes.join("; ")})`
    : `${text} (${[ownNotes, ...notes].join("; ")})`;
}
