/** Asks the user questions: never without a terminal, in CI, for a coding agent or with `--no-input`. */
import { AGENT_VARIABLES } from "../settings/coding-agents.ts";
import { PaylinkError } from "../domain/errors.ts";
import { fitLines } from "../render/layout.ts";
import { terminalColumns } from "./channel.ts";

interface PromptQuestion {
  readonly message: string;
  /** What is wrong with an answer; undefined if it is valid. */
  readonly check?: (text: string) => string | undefined;
}

interface TextQuestion extends PromptQuestion {
  readonly initial?: string | undefined;
  /** The initial answer is text that the user edits. */
  readonly editable?: boolean;
}

export interface PromptChoice<T> {
  readonly name: string;
  readonly value: T;
  readonly description?: string;
}

/** Questions to a person at a terminal. Each throws `interrupted` at Ctrl-C. */
export interface Ask {
  /** `initial` is the answer if the user only presses Enter. */
  text(question: TextQuestion): Promise<string>;
  /** The same, without showing the answer. */
  secret(question: PromptQuestion): Promise<string>;
  choose<T>(message: string, choices: readonly PromptChoice<T>[]): Promise<T>;
  /** `initial` is the answer if the user only presses Enter; yes by default. */
  confirm(message: string, options?: { readonly initial: boolean }): Promise<boolean>;
}

type Streams = Pick<NodeJS.Process, "stdin" | "stdout" | "stderr">;

interface Ends {
  readonly stdin: { readonly isTTY: boolean };
  readonly stdout: { readonly isTTY: boolean };
  readonly env: NodeJS.ProcessEnv;
}

interface AskOptions {
  /** False for `--no-input`. */
  readonly input: boolean;
  readonly json?: boolean;
}

/** Looks at `stdin` last: Node opens it when it is first used. */
export function mayAsk(process: Ends, { input, json }: AskOptions): boolean {
  const unattended = ["CI", ...Object.keys(AGENT_VARIABLES)].some((name) => isOn(process.env[name]));
  return input && json !== true && !unattended && process.stdout.isTTY && process.stdin.isTTY;
}

const isOn = (value = ""): boolean => value !== "" && value !== "false";

/** Choices on the screen at the same time. */
const CHOICES_SHOWN = 12;

/** Columns of `? ` before a question, and of ` (y/N) ` after it. */
const CONFIRM_WIDTH = 9;

/** Uses stderr, so that stdout has only the result, unless stderr is not a terminal. */
export function createAsk({ stdin, stdout, stderr }: Streams, signal: AbortSignal): Ask {
  const context = {
    input: stdin,
    output: stderr.isTTY ? stderr : stdout,
    signal,
  };
  const ask = async <T>(question: (prompts: typeof import("./questions.ts")) => Promise<T>): Promise<T> => {
    let onPause = (): void => undefined;
    // Ctrl-D closes a prompt that then never settles, and the program would end as if it had succeeded.
    const closed = new Promise<never>((_, reject) => {
      onPause = () => void setImmediate(reject, new PaylinkError("interrupted", "Interrupted."));
    });
    stdin.once("pause", onPause);
    try {
      return await Promise.race([question(await import("./questions.ts")), closed]);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Error && error.name === "ExitPromptError")
        throw new PaylinkError("interrupted", "Interrupted.", { cause: error });
      throw error;
    } finally {
      stdin.off("pause", onPause);
    }
  };
  const validate = (check: ((text: string) => string | undefined) | undefined) => (text: string) =>
    check?.(text) ?? true;
  return {
    text: ({ message, initial, editable = false, check }) =>
      ask(({ input }) =>
        input(
          {
            message,
            validate: validate(check),
            prefill: editable ? "editable" : "tab",
            ...(initial === undefined ? {} : { default: initial }),
          },
          context,
        ),
      ),
    secret: ({ message, check }) =>
      ask(({ password }) =>
        password({ message, mask: "*", toggleMask: false, validate: validate(check) }, context),
      ),
    choose: (message, choices) =>
      ask(({ select }) =>
        select(
          { message, choices: choices.map((choice) => ({ ...choice })), pageSize: CHOICES_SHOWN },
          context,
        ),
      ),
    confirm: (message, { initial } = { initial: true }) =>
      ask(({ confirm }) => {
        const fitted = fitLines(message, terminalColumns(context.output) - CONFIRM_WIDTH);
        return confirm({ message: fitted, default: initial }, context);
      }),
  };
}
