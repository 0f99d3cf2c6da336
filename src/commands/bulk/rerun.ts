/** Advice to run the same command once more with another flag, as a command that can be pasted. */
import type { Context } from "../../context.ts";
import { paylink, type CommandLine } from "../../domain/hint.ts";

/** The run that follows is no dry run, and has the flag once. */
export function rerun(
  { commandLine }: Pick<Context, "commandLine">,
  flag: string,
  ...values: string[]
): CommandLine {
  const words = commandLine.filter(
    (word, at) =>
      word !== "--dry-run" &&
      word !== flag &&
      !word.startsWith(`${flag}=`) &&
      (values.length === 0 || commandLine[at - 1] !== flag),
  );
  return paylink(...words, flag, ...values);
}
