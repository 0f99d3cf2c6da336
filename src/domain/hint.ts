/** Advice with commands of paylink in it, as values: `render/hint.ts` makes text of them. */

/** A command of paylink as advice: its words after `paylink`. Whoever renders it quotes them, and adds what the user named. */
export interface CommandLine {
  readonly words: readonly string[];
}

/** One line of advice: text with commands in it. */
export type Hint = readonly (string | CommandLine)[];

/** `paylink("links", "show", id)`. A word such as `<file>` stands for what the user types there. */
export const paylink = (...words: readonly string[]): CommandLine => ({ words });

/** As a POSIX shell reads it back. */
export const shellWord = (word: string): string =>
  word === "" || /[^\w@%+=:,./-]/.test(word.replace(/\{\w+\}/g, ""))
    ? `'${word.replaceAll("'", "'\\''")}'`
    : word;

/** `` hint`To see the link: ${paylink("links", "show", id)}` `` */
export const hint = (texts: TemplateStringsArray, ...parts: readonly (string | CommandLine | Hint)[]): Hint =>
  texts.flatMap((text, index) => {
    const part = parts[index] ?? "";
    return [text, ...(isHint(part) ? part : [part])].filter((piece) => piece !== "");
  });

const isHint = (part: string | CommandLine | Hint): part is Hint => Array.isArray(part);
