/** Text as people, shells, files and secret stores give it: one rule for settings, variables, flags and secrets. */
import { accepted, refused, refusedUnseen, type Parsed } from "./parse-result.ts";
import { shownPath } from "./secrets.ts";

/**
 * White space and line ends around a text are no part of it: a file, a variable or a pipe often ends in one. A control character inside is a
 * mistake: two lines, another encoding. With `lines`, tabs and line ends may stand inside.
 */
export function parseTypedText(typed: string, { lines = false } = {}): Parsed<string> {
  const text = typed.trim();
  const inside = lines ? text.replace(/[\t\r\n]/g, "") : text;
  const problem = /\p{Cc}/u.test(inside)
    ? "must not have a line end or another control character inside"
    : lostLettersProblem(text);
  if (problem === undefined) return accepted(text);
  // What has several lines is often a key, in the place of its file.
  const refuse = shownPath(text) === text ? refused : refusedUnseen;
  return refuse(problem);
}

/**
 * What is wrong with a text that has lost letters: Node.js reads the bytes of another encoding in an argument or a variable as U+FFFD,
 * and half of a surrogate pair is left of an emoji that a program has cut. A customer must not read either.
 */
export const lostLettersProblem = (text: string): string | undefined =>
  /[\uFFFD\p{Cs}]/u.test(text)
    ? "must be UTF-8 text: letters of it were lost in another encoding"
    : undefined;

/** The variables of the environment that a command runs in. */
export type Environment = Readonly<Record<string, string | undefined>>;
