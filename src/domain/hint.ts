/** Advice with commands of paylink in it, as values: `render/hint.ts` makes text of them. */

export interface CommandWord {
  readonly text: string;
  /**
   * `ours` stands in the source of paylink and is printed as it is, a placeholder such as `<file>` too. `typed` is from the user's own
   * command line. `value` may be from anywhere, the network included: it never becomes a flag.
   */
  readonly from: "ours" | "typed" | "value";
  /** The flag that it is the value of. */
  readonly flag?: string;
}

/** A command of paylink as advice: its words after `paylink`. Whoever renders it quotes them, and adds what the user named. */
export interface CommandLine {
  readonly words: readonly CommandWord[];
  /** The setting of the profile that it is about: where a variable or a flag decides instead, that is named and no command. */
  readonly setting?: string | undefined;
}

/** One line of advice: text with commands in it. */
export type Hint = readonly (string | CommandLine)[];

/** Flags with their values; one that is undefined or false is left out, and one that is true has no value. */
type GivenFlags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

type CommandValue = string | readonly string[] | CommandLine | GivenFlags;

/** `` paylink`events replay ${id} --to <target>` ``. What is written in the template is ours; each value in it is quoted. */
export function paylink(texts: TemplateStringsArray, ...values: readonly CommandValue[]): CommandLine {
  const words: CommandWord[] = [];
  for (const [index, text] of texts.entries()) {
    words.push(...ourWords(text));
    const value = values[index] ?? [];
    const flag = words.at(-1);
    // A text right behind a flag is its value.
    if (typeof value === "string" && flag?.from === "ours" && flag.text.startsWith("-"))
      words.splice(-1, 1, { text: value, from: "value", flag: flag.text });
    else words.push(...valueWords(value));
  }
  const [command, action, setting] = words;
  return command?.text === "config" && action?.text === "set" ? { words, setting: setting?.text } : { words };
}

const ourWords = (text: string): CommandWord[] =>
  Array.from(text.matchAll(/(?:<[^<>]*>|[^\s<])+/g), ([word]) => ({ text: word, from: "ours" }));

function valueWords(values: CommandValue): readonly CommandWord[] {
  if (typeof values === "string") return [{ text: values, from: "value" }];
  if (isList(values)) return values.map((text) => ({ text, from: "value" }));
  if (isCommand(values)) return values.words;
  return Object.entries(values).flatMap(([flag, value = false]): CommandWord[] => {
    if (typeof value === "boolean") return value ? [{ text: flag, from: "ours" }] : [];
    return [value].flat().map((text) => ({ text, from: "value", flag }));
  });
}

const isList = (values: CommandValue): values is readonly string[] => Array.isArray(values);
const isCommand = (values: CommandLine | GivenFlags): values is CommandLine => "words" in values;

/**
 * A word as bash, zsh and fish alike read it back; undefined for one that they read in different ways: fish takes a backslash before a
 * quote or a backslash for an escape inside quotes, the others do not.
 */
export function shellWord(word: string): string | undefined {
  if (/['\\\p{Cc}]/u.test(word)) return undefined;
  // zsh looks up a command for a word that begins with =, and old versions of fish a process for one with %.
  return /^[\w@+:,./-][\w@%+=:,./-]*$/.test(word.replace(/\{\w+\}/g, "")) ? word : `'${word}'`;
}

/** A flag with a value, which is joined to it where it would be a flag itself. */
export function typedFlag(flag: string, value: string): string | undefined {
  const word = shellWord(value);
  return word && `${flag}${value.startsWith("-") ? "=" : " "}${word}`;
}

/** `` hint`To see the link: ${paylink`links show ${id}`}` `` */
export const hint = (texts: TemplateStringsArray, ...parts: readonly (string | CommandLine | Hint)[]): Hint =>
  texts.flatMap((text, index) => {
    const part = parts[index] ?? "";
    return [text, ...(isHint(part) ? part : [part])].filter((piece) => piece !== "");
  });

const isHint = (part: string | CommandLine | Hint): part is Hint => Array.isArray(part);
