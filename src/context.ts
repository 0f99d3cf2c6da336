/** What a command may touch, as types: everything outside its own arguments reaches it through this one object. */
import type { Paint } from "./render/paint.ts";
import type { Send, Serve } from "./http/exchange.ts";
import type { EventStore } from "./receiver/event-store.ts";
import type { Environment } from "./store/settings/in-force.ts";
import type { Processes } from "./store/journal/run-lock.ts";
import type { Settings } from "./store/settings/settings.ts";

/** stdout is data, stderr is talk: nothing else prints. */
export interface Output {
  /** stdout carries JSON only; what people are to read goes to stderr. */
  readonly json: boolean;
  /** Columns of the terminal that `data` goes to; 80 where it is none. */
  readonly width: number;
  /** Colours for `data` and for `note`: each knows what its own stream can show. */
  readonly paint: Paint;
  readonly notePaint: Paint;
  /** One line (or several) of the result, on stdout. */
  data(text: string): void;
  /** Many lines of the result, written together; none once `unread` has fired. */
  lines(texts: readonly string[]): void;
  /** The result's very bytes, on stdout, with nothing added. */
  bytes(bytes: Uint8Array): void;
  /**
   * Fires when whoever read stdout has gone (`paylink … | head`), or is too far behind with `lines`: nobody sees what is
   * printed from then on.
   */
  unread(): AbortSignal;
  /** Resolves when stdout takes more: much that is printed faster than it is read would fill the memory. */
  drained(): Promise<void>;
  /** One line (or several) of talk, on stderr. */
  note(text: string): void;
  /** Whether somebody watches stderr on a terminal, where a line can be drawn over. */
  readonly live: boolean;
  /** Draws the one line that changes in place, below all other talk; undefined takes it away. */
  progress(line: string | undefined): void;
}

interface Question {
  readonly message: string;
  /** What is wrong with an answer; undefined where nothing is. */
  readonly check?: (text: string) => string | undefined;
}

export interface Choice<T> {
  readonly name: string;
  readonly value: T;
  readonly description?: string;
}

/** Questions to a person at a terminal. Each throws `interrupted` at Ctrl-C. */
export interface Ask {
  /** `initial` is the answer of who only presses Enter. */
  text(question: Question & { readonly initial?: string | undefined }): Promise<string>;
  /** The same, with nothing of the answer to be seen. */
  secret(question: Question): Promise<string>;
  choose<T>(message: string, choices: readonly Choice<T>[]): Promise<T>;
  several<T>(message: string, choices: readonly Choice<T>[]): Promise<T[]>;
  confirm(message: string): Promise<boolean>;
}

/** Files and standard input, as bytes; `-` is standard input. Throws `file_unreadable`. */
export type ReadFile = (path: string) => Promise<Uint8Array>;

export interface Context {
  readonly out: Output;
  readonly readFile: ReadFile;
  /** Standard input, to be read once. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Absent where there is nobody to ask: no terminal, CI, `--no-input`, `--json`. */
  readonly ask: Ask | undefined;
  /** Opens a web page in the user's browser; rejects where it cannot. */
  readonly openBrowser: (url: string) => Promise<void>;
  /** Puts text on the clipboard; rejects where it cannot. */
  readonly copyText: (text: string) => Promise<void>;
  readonly now: () => Date;
  readonly newId: () => string;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Resolves after so many milliseconds; rejects with the interruption where one comes first. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Fires at Ctrl-C or SIGTERM. A command finishes what it has in hand and returns; the exit code is not its care. */
  readonly signal: AbortSignal;
  readonly send: Send;
  readonly serve: Serve;
  readonly env: Environment;
  readonly processes: Processes;
  /** The profile that `--profile` names. */
  readonly profile: string | undefined;
  /** The user's own, or those of another home. */
  readonly settings: (home?: string) => Promise<Settings>;
  /** The folder for what paylink keeps besides its settings. */
  readonly dataFolder: string;
  /** The store of received events: the user's own, or the one that `--db` names. */
  readonly openEvents: (path: string | undefined) => Promise<EventStore>;
  /** The exit code of a run that did not fail: another program's, passed on. */
  readonly endWith: (exit: number) => void;
}

/** The options that every command takes, as commander gives them. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly json?: boolean;
  readonly input: boolean;
  readonly color: "auto" | "always" | "never";
  readonly debug?: boolean;
}
