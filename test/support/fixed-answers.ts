/** A user who answers prompts from a list, and a record of what was asked. */
import type { Ask } from "../../src/context.ts";
import { interrupted } from "./context.ts";

export interface Answers {
  /** By a part of the question, the one answer or one after the other; a question without an answer gets its initial value. */
  readonly texts?: Readonly<Record<string, string | readonly string[]>>;
  /** The name of the choice; the first one by default. */
  readonly choice?: string;
  /** By a part of the question: the beginnings of the names that are chosen one after the other. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Yes by default. */
  readonly confirm?: boolean;
  /** The question that the user leaves by Ctrl-C. */
  readonly interruptAt?: string;
}

/** Throws if an answer is refused: a real prompt would ask again. */
export function fixedAnswers({
  texts = {},
  choice,
  choices = {},
  confirm = true,
  interruptAt,
}: Answers = {}): {
  readonly ask: Ask;
  readonly asked: string[];
  /** The names of all choices, of all questions. */
  readonly offered: string[];
} {
  const asked: string[] = [];
  const offered: string[] = [];
  const queues = new Map(Object.entries(choices).map(([part, names]) => [part, [...names]]));
  const answers = new Map(
    Object.entries(texts).map(([part, text]) => [part, typeof text === "string" ? text : [...text]]),
  );
  const note = (message: string): void => {
    asked.push(message);
    if (interruptAt !== undefined && message.includes(interruptAt)) throw interrupted();
  };
  const answer = async ({ message, initial = "", check }: Parameters<Ask["text"]>[0]): Promise<string> => {
    note(message);
    const [, found] = [...answers].find(([part]) => message.includes(part)) ?? [];
    const text = (typeof found === "string" ? found : found?.shift()) ?? initial;
    const problem = check?.(text);
    if (problem !== undefined) throw new Error(`${message}: ${problem}`);
    return text;
  };
  const ask: Ask = {
    text: answer,
    secret: answer,
    choose: async (message, options) => {
      note(message);
      offered.push(...options.map(({ name }) => name));
      const [, queue] = [...queues].find(([part]) => message.includes(part)) ?? [];
      const name = queue?.shift();
      const chosen =
        name === undefined
          ? (options.find((one) => one.name === choice) ?? options[0])
          : options.find((one) => one.name.startsWith(name));
      if (chosen === undefined) throw new Error(`${message}: ${name ?? "nothing"} cannot be chosen`);
      return chosen.value;
    },
    confirm: async (message) => {
      note(message);
      return confirm;
    },
  };
  return { ask, asked, offered };
}
