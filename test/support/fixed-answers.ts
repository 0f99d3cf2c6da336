/** A user who answers prompts from a list, and a record of what was asked. */
import type { Ask } from "../../src/context.ts";
import { interrupted } from "./context.ts";

export interface Answers {
  /** By a part of the question; a question without an answer gets its initial value. */
  readonly texts?: Readonly<Record<string, string>>;
  /** The name of the choice; the first one by default. */
  readonly choice?: string;
  /** The names of the choices that are selected. */
  readonly several?: readonly string[];
  /** Yes by default. */
  readonly confirm?: boolean;
  /** The question that the user leaves by Ctrl-C. */
  readonly interruptAt?: string;
}

/** Throws if an answer is refused: a real prompt would ask again. */
export function fixedAnswers({
  texts = {},
  choice,
  several = [],
  confirm = true,
  interruptAt,
}: Answers = {}): {
  readonly ask: Ask;
  readonly asked: string[];
} {
  const asked: string[] = [];
  const note = (message: string): void => {
    asked.push(message);
    if (interruptAt !== undefined && message.includes(interruptAt)) throw interrupted();
  };
  const answer = async ({ message, initial = "", check }: Parameters<Ask["text"]>[0]): Promise<string> => {
    note(message);
    const [, text = initial] = Object.entries(texts).find(([part]) => message.includes(part)) ?? [];
    const problem = check?.(text);
    if (problem !== undefined) throw new Error(`${message}: ${problem}`);
    return text;
  };
  const ask: Ask = {
    text: answer,
    secret: answer,
    choose: async (message, choices) => {
      note(message);
      const chosen = choices.find(({ name }) => name === choice) ?? choices[0];
      if (chosen === undefined) throw new Error(`${message}: there is nothing to choose`);
      return chosen.value;
    },
    several: async (message, choices) => {
      note(message);
      return choices.filter(({ name }) => several.includes(name)).map(({ value }) => value);
    },
    confirm: async (message) => {
      note(message);
      return confirm;
    },
  };
  return { ask, asked };
}
