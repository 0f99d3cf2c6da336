/** The questions that a command may ask a person at a terminal. */
interface Question {
  readonly message: string;
  /** What is wrong with an answer; undefined if it is valid. */
  readonly check?: (text: string) => string | undefined;
}

interface TextQuestion extends Question {
  readonly initial?: string | undefined;
  /** The initial answer is text that the user edits. */
  readonly editable?: boolean;
}

export interface Choice<T> {
  readonly name: string;
  readonly value: T;
  readonly description?: string;
}

/** Questions to a person at a terminal. Each throws `interrupted` at Ctrl-C. */
export interface Ask {
  /** `initial` is the answer if the user only presses Enter. */
  text(question: TextQuestion): Promise<string>;
  /** The same, without showing the answer. */
  secret(question: Question): Promise<string>;
  /** `initial` is the value of the choice that is selected first. */
  choose<T>(
    message: string,
    choices: readonly Choice<T>[],
    options?: { readonly initial: T | undefined },
  ): Promise<T>;
  /** `initial` is the answer if the user only presses Enter; yes by default. */
  confirm(message: string, options?: { readonly initial: boolean }): Promise<boolean>;
}
