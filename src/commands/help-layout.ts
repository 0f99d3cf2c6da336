/** How help is laid out: values as they are typed, the options of every command, and the explanation of a setting. */
import type { Argument, CommandUnknownOpts, HelpConfiguration, Option } from "@commander-js/extra-typings";
import { paylink } from "../domain/errors.ts";
import { renderCommand } from "../render/hint.ts";
import { type SettingKey, SETTINGS } from "../settings/setting-table.ts";
import { globalOptions } from "./declare.ts";

/** More choices than this are listed by the command itself, below its options. */
const MANY = 8;

export const helpLayout: HelpConfiguration = {
  // Below its own limit of 40, commander leaves it to the terminal to break lines, inside words.
  minWidthToWrap: 20,
  // Only the root's: the options of `sandbox` do not apply to `sandbox advance`.
  visibleGlobalOptions: (command: CommandUnknownOpts) =>
    command.parent === null ? [] : globalOptions(command),
  subcommandTerm: (command: CommandUnknownOpts) => command.name(),
  commandDescription: (command: CommandUnknownOpts) => {
    const text = command.description();
    return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
  },
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

/** What a setting is for, its default and variable, and a good value. */
export function explainSetting(key: SettingKey): string {
  const { means, variable, default: preset, example } = SETTINGS[key];
  return [
    `  ${key}: ${means}`,
    ...(preset === undefined ? [] : [`      default: ${preset}`]),
    ...(variable === undefined ? [] : [`      variable: ${variable}`]),
    example === undefined
      ? "      a secret: paylink login stores it, and no command prints it"
      : `      ${renderCommand(paylink("config", "set", key, example))}`,
  ].join("\n");
}
