/** What the user typed, corrected: the command line as it was probably meant. */
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { withoutPassword } from "../domain/addresses.ts";
import { shellWord, type Correction, type PaylinkError, type Problem } from "../domain/errors.ts";
import { collect, declared, programOf } from "./declare.ts";
import { missingFlag, namesSecret, optionNamed } from "./usage-errors.ts";

/** Undefined if not every problem of the command line can be corrected. `accepts` says whether these words are a command line. */
export function correctedLine(
  { code, problems, corrections }: PaylinkError,
  argv: readonly string[],
  command: CommandUnknownOpts,
  accepts: (words: readonly string[]) => boolean,
): string | undefined {
  if (code !== "usage") return undefined;
  const found = corrections ?? problems.map((problem) => correctionOf(problem, argv, command));
  const words = argv.map(shellWord);
  const added: string[] = [];
  const replaced = new Set<number>();
  for (const correction of found ?? []) {
    if (correction === undefined) return undefined;
    const { typed, instead } = correction;
    const at = argv.findIndex((word) => word === typed || word.startsWith(`${typed}=`));
    if (typed === undefined || at === -1) added.push(instead);
    else {
      words[at] = argv[at] === typed ? instead : instead + shellWord((argv[at] ?? "").slice(typed.length));
      replaced.add(at);
    }
  }
  const line = [...words, ...added].join(" ");
  if (line === argv.map(shellWord).join(" ")) return undefined;
  const isSecret = (word: string, at: number): boolean =>
    maybeSecret(word, argv[at - 1] ?? "", command) && (!replaced.has(at) || word.includes("="));
  const meant = line.match(SHELL_WORD) ?? [];
  if (argv.some(isSecret) || isTwice(meant, programOf(command)) || !accepts(meant)) return undefined;
  return `paylink ${line}`;
}

/** A word of a shell, with the quoted texts and the commands in it. */
const SHELL_WORD = /(?:\\.|'[^']*'|"[^"]*"|\$\([^)]*\)|[^\s'"\\])+/g;

/** Whether a flag that is not repeatable is there twice, which commander accepts. */
function isTwice(words: readonly string[], program: CommandUnknownOpts): boolean {
  let command = program;
  const seen = new Set<unknown>();
  return words.some((word) => {
    const inner = command.commands.find((one) => one.name() === word);
    if (inner !== undefined) command = declared(inner);
    const [name] = /^--?[a-z][^=]*/i.exec(word) ?? [];
    if (name === undefined) return false;
    const option = optionNamed(name, command);
    const isSeen = seen.has(option ?? name);
    seen.add(option ?? name);
    return isSeen && option?.parseArg !== collect;
  });
}

/**
 * Whether a word may be a secret, or hold one, by its own form or by the word before it: the value of a flag that does not
 * exist, the value of a secret setting, a header, a parameter, or a URL with a password.
 */
function maybeSecret(word: string, before: string, command: CommandUnknownOpts): boolean {
  if (withoutPassword(word) !== word) return true;
  if (/(?:^|[\s&])(?:bearer|basic)\s+\S/i.test(word)) return true;
  const pairs = word.split("&").flatMap((pair) => /^([^\s:=/]+)\s*[:=]\s*\S/.exec(pair)?.[1] ?? []);
  if (pairs.some(namesSecret)) return true;
  if (word.startsWith("-") || !namesSecret(before)) return false;
  // No flag takes a secret as its value, so the value of a flag that exists is not secret.
  return optionNamed(before, command) === undefined || before.endsWith("-stdin");
}

/** Undefined for a problem that only the user can fix. */
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
  const option = argv.includes(at) ? undefined : optionNamed(at, command);
  return option === undefined ? undefined : missingFlag(option);
}
