/** Advice to run the same command once more with another flag, as a command that can be pasted. */
import type { Context } from "../../context.ts";
import type { CommandLine, CommandWord } from "../../domain/hint.ts";

/** The run that follows is no dry run, and has the flag once. */
export function rerun(
  { commandLine }: Pick<Context, "commandLine">,
  flag: string,
  ...values: string[]
): CommandLine {
  const end = commandLine.indexOf("--");
  const operands = end < 0 ? [] : commandLine.slice(end + 1);
  const before = end < 0 ? commandLine : commandLine.slice(0, end);
  const kept = before.filter(
    (word, at) =>
      word !== "--dry-run" &&
      word !== flag &&
      !word.startsWith(`${flag}=`) &&
      (values.length === 0 || before[at - 1] !== flag),
  );
  return {
    words: [
      ...[...kept, flag, ...values].map((text): CommandWord => ({ text, from: "typed" })),
      ...operands.map((text): CommandWord => ({ text, from: "value" })),
    ],
  };
}
