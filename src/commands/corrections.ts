/** The "Try:" line of a usage error: what the user typed, corrected; values come from the command's own examples. */
import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { Correction, Problem } from "../domain/errors.ts";
import { examplesOf, pathOf } from "./declare.ts";

/** The command line with every correction; undefined if nothing would change. */
export function correctedLine(
  argv: readonly string[],
  corrections: readonly Correction[],
): string | undefined {
  const words = argv.map(quoted);
  const added: string[] = [];
  for (const { typed, instead } of corrections) {
    const at = argv.findIndex((word) => word === typed || word.startsWith(`${typed}=`));
    if (typed === undefined || at === -1) added.push(instead);
    else words[at] = argv[at] === typed ? instead : instead + quoted((argv[at] ?? "").slice(typed.length));
  }
  const line = ["paylink", ...words, ...added].join(" ");
  return line === ["paylink", ...argv.map(quoted)].join(" ") ? undefined : line;
}

/** How to fix every problem; undefined if there is one that only the user can fix. */
export function correctionsOf(
  problems: readonly Problem[],
  argv: readonly string[],
  command: CommandUnknownOpts,
): readonly Correction[] | undefined {
  const corrections = problems.map((problem) => correctionOf(problem, argv, command));
  return corrections.every((correction) => correction !== undefined) ? corrections : undefined;
}

function correctionOf(
  { at, value, instead }: Problem,
  argv: readonly string[],
  command: CommandUnknownOpts,
): Correction | undefined {
  if (value !== undefined) {
    if (instead === undefined) return undefined;
    const joined = `${at}=${value}`;
    return argv.includes(joined) ? { typed: joined, instead: `${at}=${instead}` } : { typed: value, instead };
  }
  return at.startsWith("--") && !argv.includes(at) ? missingFlag(at, command) : undefined;
}

/** Adds a flag that must be given, with the value that it has in an example. */
export function missingFlag(flag: string, command: CommandUnknownOpts): Correction | undefined {
  const value = exampleValue(flag, command);
  return value === undefined ? undefined : { instead: `${flag} ${value}` };
}

/** Gives a flag the value that it has in an example. */
export function missingValue(flag: string, command: CommandUnknownOpts): Correction | undefined {
  const value = exampleValue(flag, command);
  return value === undefined ? undefined : { typed: flag, instead: `${flag} ${value}` };
}

/** Adds an argument that must be given, as it stands in an example. */
export function missingArgument(index: number, command: CommandUnknownOpts): Correction | undefined {
  const values = exampleWords(command).map((words) => {
    const separator = words.indexOf("--");
    return separator === -1 ? operandsOf(words, command)[index] : words.slice(separator).join(" ");
  });
  const instead = values.find((value) => value !== undefined && value !== "-");
  return instead === undefined ? undefined : { instead };
}

function exampleValue(flag: string, command: CommandUnknownOpts): string | undefined {
  for (const words of exampleWords(command)) {
    const at = words.indexOf(flag);
    if (at !== -1) return words[at + 1];
  }
  return undefined;
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

/** An option of the command, or of the commands above it. */
export function optionNamed(word: string, command: CommandUnknownOpts): Option | undefined {
  const own = command.options.find(({ long, short }) => long === word || short === word);
  return own ?? (command.parent === null ? undefined : optionNamed(word, command.parent));
}

/** As a POSIX shell reads it back. */
const quoted = (word: string): string =>
  word === "" || /[^\w@%+=:,./-]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word;
