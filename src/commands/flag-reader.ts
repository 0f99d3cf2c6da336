/** Reads flags into typed values and collects every problem, so that one error names them all. */
import { PaylinkError, type Hint, type Problem } from "../domain/errors.ts";
import type { Parsed } from "../domain/parse-result.ts";
import { withoutPassword } from "../domain/addresses.ts";

/** A value that was read. It may be used once `finish` has returned. */
export interface ReadValue<T> {
  readonly value: T;
}

export interface FlagReader {
  /** Reads one flag: `at` is the flag as typed (`--port`). A flag that was not given is undefined. */
  read<T>(at: string, text: string, parse: (text: string) => Parsed<T>): ReadValue<T>;
  read<T>(at: string, text: string | undefined, parse: (text: string) => Parsed<T>): ReadValue<T | undefined>;
  /** Reads a flag or argument that must be given. */
  require<T>(at: string, text: string | undefined, parse: (text: string) => Parsed<T>): ReadValue<T>;
  /** Reads every value of a repeatable flag. */
  readAll<T>(
    at: string,
    texts: readonly string[] | undefined,
    parse: (text: string) => Parsed<T>,
  ): ReadValue<readonly T[]>;
  /** Reports a problem that no single parser can see: flags that exclude each other, a missing file, … */
  problem(at: string, message: string): void;
  /** Reports `at` if it and one of the other flags are given, since one of them would have no effect. */
  exclude(at: string, given: unknown, others: Readonly<Record<string, unknown>>): void;
  /** Reports problems that another reader has found. */
  problems(found: readonly Problem[]): void;
  /** Throws one `usage` error with every problem. `consequence` says what did not happen: "Nothing was sent." */
  finish(consequence: string, hints?: readonly Hint[]): void;
}

export function createFlagReader(): FlagReader {
  const found: Problem[] = [];
  function read<T>(at: string, text: string, parse: (text: string) => Parsed<T>): ReadValue<T>;
  function read<T>(
    at: string,
    text: string | undefined,
    parse: (text: string) => Parsed<T>,
  ): ReadValue<T | undefined>;
  function read<T>(
    at: string,
    text: string | undefined,
    parse: (text: string) => Parsed<T>,
  ): ReadValue<T | undefined> {
    if (text === undefined) return { value: undefined };
    const parsed = parse(text);
    if (parsed.ok) return parsed;
    const { message, instead } = parsed;
    const meant = instead === undefined ? {} : { instead };
    const shown = withoutPassword(text);
    found.push({ at, message: `${message} (got "${shown}")`, value: shown, ...meant });
    return unreadable(at);
  }
  return {
    read,
    require: (at, text, parse) => {
      if (text !== undefined) return read(at, text, parse);
      found.push({ at, message: "is required" });
      return unreadable(at);
    },
    readAll: (at, texts = [], parse) => {
      const values = texts.map((text) => read(at, text, parse));
      return {
        get value() {
          return values.map(({ value }) => value);
        },
      };
    },
    problem: (at, message) => void found.push({ at, message }),
    exclude: (at, given, others) => {
      for (const [other, value] of Object.entries(others))
        if (isGiven(given) && isGiven(value)) found.push({ at, message: `cannot be used with ${other}` });
    },
    problems: (others) => void found.push(...others),
    finish: (consequence, hints) => {
      if (found.length > 0) throw new PaylinkError("usage", consequence, { problems: found, hints });
    },
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== false;

/** Stands for a value that could not be read: `finish` must throw before it is used. */
function unreadable(at: string): ReadValue<never> {
  return {
    get value(): never {
      throw new Error(`${at} was used before its problems were reported`);
    },
  };
}
