/** The rules for text that a customer enters: short, on one line, and without characters that hide or reorder others. */

/** Control and format characters (bidirectional marks among them), line separators, unassigned code points. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** What is wrong with a text, as the end of a sentence about it; undefined if nothing is. */
export function textProblem(text: string, longest: number): string | undefined {
  if ([...text].length > longest) return `must have at most ${longest} characters`;
  return UNPRINTABLE.test(text) ? "must not contain control or invisible characters" : undefined;
}
