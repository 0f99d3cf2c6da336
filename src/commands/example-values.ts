/** The values of flags and arguments in the examples of commands that are still declared by calls of commander. */
import { Argument, type CommandUnknownOpts, type Option } from "@commander-js/extra-typings";
import { examplesOf, exampleOf as declaredExample, pathOf } from "./declare.ts";

export function exampleOf(one: Argument | Option, command: CommandUnknownOpts): string | undefined {
  const value = declaredExample(one);
  if (value !== undefined) return value;
  const index = command.registeredArguments.findIndex((argument) => argument === one);
  if (index !== -1) return exampleArgument(index, command);
  for (const words of exampleWords(command)) {
    const at = words.indexOf("long" in one ? (one.long ?? "") : "");
    if (at !== -1) return words[at + 1];
  }
  return undefined;
}

function exampleArgument(index: number, command: CommandUnknownOpts): string | undefined {
  const values = exampleWords(command).map((words) => {
    const separator = words.indexOf("--");
    return separator === -1 ? operandsOf(words, command)[index] : words.slice(separator).join(" ");
  });
  return values.find((value) => value !== undefined && value !== "-");
}

/** The words after the command's own name, in each of its examples. */
function exampleWords(command: CommandUnknownOpts): string[][] {
  const name = `${pathOf(command)} `;
  return examplesOf(command).flatMap((line) =>
    line.includes(name) ? [shellWords(line.slice(line.indexOf(name) + name.length))] : [],
  );
}

/** Splits a shell command at its spaces, up to a pipe or the next command; quotes and `$(…)` keep words together. */
function shellWords(line: string): string[] {
  const words = [""];
  let depth = 0;
  for (const [token] of line.matchAll(/'[^']*'|"[^"]*"|\$\(|\)|\s+|\||&&|>|[^\s'"$()|&>]+|./g)) {
    if (depth === 0 && /^(?:\||&&|>)$/.test(token)) break;
    if (token === "$(") depth++;
    if (token === ")") depth--;
    if (depth === 0 && /^\s/.test(token)) words.push("");
    else words.push(`${words.pop() ?? ""}${token}`);
  }
  return words.filter((word) => word !== "");
}

function operandsOf(words: readonly string[], command: CommandUnknownOpts): string[] {
  return words.filter((word, index) => {
    if (word.startsWith("-") && word !== "-") return false;
    return optionNamed(words[index - 1] ?? "", command)?.required !== true;
  });
}

function optionNamed(word: string, command: CommandUnknownOpts): Option | undefined {
  const own = command.options.find(({ long, short }) => long === word || short === word);
  return own ?? (command.parent === null ? undefined : optionNamed(word, command.parent));
}
