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
  if (!/\p{Cc}/u.test(inside)) return accepted(text);
  // What has several lines is often a key, in the place of its file.
  const refuse = shownPath(text) === text ? refused : refusedUnseen;
  return refuse("must not have a line end or another control character inside");
}
