/** How a command is declared: each argument and flag once, with the parser of its value, which gives the value its type. */
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { PaylinkError, type Hint, type Problem } from "../domain/errors.ts";
import { accepted, parseChoice, type Parsed } from "../domain/parse-result.ts";
import { withoutPassword } from "../domain/addresses.ts";
import { parseTypedText } from "../domain/typed-text.ts";
import { parseProfileName } from "../settings/profile-names.ts";

/** A parser of one value. One that needs much code imports it when it is called: help runs no parsers. */
export interface Parser<T> {
  (typed: string, context: Context): Parsed<T> | Promise<Parsed<T>>;
  /** The values that help and completion list. */
  readonly choices?: readonly string[];
  /** What the text may have besides one line: line ends inside, or anything at all, around it too. One line by default. */
  readonly takes?: "lines" | "anything";
}

/** One line of any text. */
export const text: Parser<string> = (typed) => accepted(typed);

/** Text that may have line ends inside. */
export const lines: Parser<string> = Object.assign((typed: string) => accepted(typed), {
  takes: "lines",
} as const);

/** Words for another program, exactly as they were typed. */
export const verbatim: Parser<string> = Object.assign((typed: string) => accepted(typed), {
  takes: "anything",
} as const);

/** One of a few words, spelled exactly so. */
export const oneOf = <const T extends string>(choices: readonly T[]): Parser<T> =>
  Object.assign((typed: string) => parseChoice(choices, typed), { choices });

interface Declared<T> {
  /** As help shows it: `-f, --forward-to <target>`, or `<link>`. */
  readonly spelled: string;
  readonly description: string;
  /** Undefined for a flag without a value. */
  readonly parse?: Parser<unknown>;
  readonly choices?: readonly string[] | undefined;
  /** A value that works, as it is typed in a shell, for the message about a missing one. */
  readonly example?: string | undefined;
  /** The value if nothing is given. */
  readonly absent: unknown;
  /** Whether an empty text is a value; otherwise it is reported as a missing one. */
  readonly mayBeEmpty?: boolean;
  /** Carries the type of the value; never set. */
  readonly gives?: () => T;
}

export type Argument<T> = Declared<T>;

export interface Flag<T> extends Declared<T> {
  /** As it would be typed; help shows it. */
  readonly default?: string | undefined;
  readonly isRequired?: boolean;
  readonly isRepeatable?: boolean;
  /** It changes what people see: with `--json` it would have no effect. */
  readonly isForPeople?: boolean;
  /** Its milliseconds bound the whole run, in this way. */
  readonly limits?: (timeLimit: Context["timeLimit"], milliseconds: number) => void;
  readonly heading?: string;
}

interface Details {
  readonly example?: string | undefined;
  readonly mayBeEmpty?: boolean;
  /** Values that help and completion list, if the parser lists none. */
  readonly choices?: readonly string[];
}

interface FlagDetails extends Details {
  readonly default?: string;
  readonly isRequired?: boolean;
}

/** A flag with a value, which is undefined if the flag is not given and has no default. */
export const flag = <T, Given extends FlagDetails>(
  spelled: string,
  description: string,
  parse: Parser<T>,
  details?: Given,
): Flag<Given extends { default: string } | { isRequired: true } ? T : T | undefined> => ({
  ...valued(spelled, description, parse, details),
  absent: undefined,
});

/** A flag that may be given several times: its value is a list. */
export const repeatable = <T>(
  spelled: string,
  description: string,
  parse: Parser<T>,
  details?: Details,
): Flag<readonly T[]> => ({
  ...valued(spelled, description, parse, details),
  isRepeatable: true,
  absent: [],
});

/** A flag without a value: whether it is given. With `--no-` it is true unless it is given. */
export const toggle = (spelled: string, description: string): Flag<boolean> => ({
  spelled,
  description,
  absent: false,
});

/** A toggle that changes what people see, so that it cannot be used with `--json`. */
export const toggleForPeople = (spelled: string, description: string): Flag<boolean> => ({
  ...toggle(spelled, description),
  isForPeople: true,
});

/** Flags under a heading of the help. */
export const group = <Flags extends FlagTable>(heading: string, flags: Flags): Flags => {
  const entries = Object.entries(flags).map(([name, declared]) => [name, { ...declared, heading }]);
  return Object.fromEntries(entries) as Flags;
};

type ArgumentValue<Spelled extends string, T> = Spelled extends `${string}...${string}`
  ? readonly T[]
  : Spelled extends `[${string}`
    ? T | undefined
    : T;

/** `<link>`, `[file]`, `<link...>` or `[uti...]`. */
export const argument = <const Spelled extends string, T>(
  spelled: Spelled,
  description: string,
  parse: Parser<T>,
  details?: Details,
): Argument<ArgumentValue<Spelled, T>> => ({
  ...valued(spelled, description, parse, details),
  absent: spelled.includes("...") ? [] : undefined,
});

const valued = (spelled: string, description: string, parse: Parser<unknown>, details: FlagDetails = {}) => ({
  spelled,
  description,
  parse,
  choices: parse.choices,
  example: details.default ?? parse.choices?.[0],
  ...details,
});

type ArgumentTable = Readonly<Record<string, Argument<unknown>>>;
type FlagTable = Readonly<Record<string, Flag<unknown>>>;
type Nothing = {};

/** The values of flags or arguments, by their names in the declaration. */
export type ValuesOf<Table extends Readonly<Record<string, Declared<unknown>>>> = {
  readonly [Name in keyof Table]: Table[Name] extends Declared<infer T> ? T : never;
};

/** A rule between flags or arguments, by their names in the declaration. */
interface Rule<Name extends string> {
  readonly names: readonly Name[];
  readonly kind: "excludes" | "needs";
  readonly others: readonly Name[];
  /** Completes "cannot be used with --rejected, which …". */
  readonly why?: string | undefined;
}

/** None of the names can be used with any of the others. */
export const excludes = <const Name extends string>(
  names: readonly Name[],
  others: readonly Name[],
  why?: string,
): Rule<Name> => ({ names, kind: "excludes", others, why });

/** Each of the names has no effect without all of the others. */
export const needs = <const Name extends string>(
  names: readonly Name[],
  others: readonly Name[],
): Rule<Name> => ({ names, kind: "needs", others });

/** What is wrong with a command line; all of it is reported at once. */
export interface Usage {
  readonly problems: Problem[];
  readonly hints: Hint[];
}

/** What the command line gives for a flag or an argument, before it is parsed. */
export interface Given {
  readonly value: unknown;
  /** Whether the user gave it; otherwise the value is the default. */
  readonly isTyped: boolean;
}
export type GivenFor = (name: string) => Given;

interface Declaration<Arguments, Flags> {
  /** In the list of the group's commands; the program has those of its own. */
  readonly summary?: string;
  /** Lines that work against the sandbox as written, the simplest first. */
  readonly examples: readonly [string, string, ...string[]];
  /** What the help says below the flags. */
  readonly notes?: string;
  readonly arguments?: Arguments;
  readonly flags?: Flags;
  readonly rules?: readonly Rule<NoInfer<(keyof Arguments | keyof Flags) & string>>[];
  /** What did not happen after a usage error: "Nothing was sent." */
  readonly consequence?: string;
  readonly commands?: Readonly<Record<string, Command>>;
  /** Whether its group runs it if no other command is named. */
  readonly isDefault?: boolean;
  /** Whether unknown flags are arguments. */
  readonly takesAnyFlag?: boolean;
}

type Values<Arguments extends ArgumentTable, Flags extends FlagTable> = ValuesOf<Arguments> & ValuesOf<Flags>;
type Run<Options> = (context: Context, options: Options, self: CommandUnknownOpts) => Promise<number>;
/** Adds the problems that no parser sees alone. It ends where it uses a value that could not be read. */
type Check<Options, Result> = (values: Options, usage: Usage, context: Context) => Result | Promise<Result>;

export interface Command<Options = unknown> extends Declaration<ArgumentTable, FlagTable> {
  /** What the command line means. Throws one `usage` error with every problem. */
  readonly read: (given: GivenFor, context: Context) => Promise<Options>;
  /** Undefined for a group, which has only subcommands. */
  readonly run:
    ((context: Context, given: GivenFor, self: CommandUnknownOpts) => Promise<number>) | undefined;
}

/** A command whose `prepare` checks the values of its arguments and flags, and makes what `run` gets from them. */
export function command<
  Options,
  Arguments extends ArgumentTable = Nothing,
  Flags extends FlagTable = Nothing,
>(
  declaration: Declaration<Arguments, Flags> & {
    readonly prepare: Check<Values<Arguments, Flags>, Options>;
    readonly run: Run<Options>;
  },
): Command<Options>;
/** A command whose `run` gets these values themselves, or a group of commands, which may have none. */
export function command<Arguments extends ArgumentTable = Nothing, Flags extends FlagTable = Nothing>(
  declaration: Declaration<Arguments, Flags> & {
    readonly check?: Check<Values<Arguments, Flags>, void>;
    readonly prepare?: undefined;
    readonly run?: Run<Values<Arguments, Flags>>;
  },
): Command<Values<Arguments, Flags>>;
export function command<Options, Arguments extends ArgumentTable, Flags extends FlagTable>(
  declaration: Declaration<Arguments, Flags> & {
    readonly check?: Check<Values<Arguments, Flags>, void>;
    readonly prepare?: Check<Values<Arguments, Flags>, Options> | undefined;
    readonly run?: Run<Options>;
  },
): Command<Options> {
  const { consequence = "Nothing was done.", check, prepare, run } = declaration;
  const read = async (given: GivenFor, context: Context): Promise<Options> => {
    const usage: Usage = { problems: [], hints: [] };
    checkGlobalFlags(declaration, given, usage, context);
    const values = (await readValues(declaration, given, usage, context)) as Values<Arguments, Flags>;
    checkRules(declaration, given, usage);
    let options: unknown;
    try {
      await check?.(values, usage, context);
      options = prepare === undefined ? { ...values } : await prepare(values, usage, context);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
    }
    const { problems, hints } = usage;
    // Without `prepare`, the overloads say that the options are the values.
    if (problems.length === 0) return options as Options;
    throw new PaylinkError("usage", consequence, { problems, hints });
  };
  return {
    ...declaration,
    read,
    run: run && (async (context, given, self) => run(context, await read(given, context), self)),
  };
}

/** A value that could not be read was used: its problem is known, and more cannot be found. */
class Unreadable extends Error {}

type Tables = Pick<Declaration<ArgumentTable, FlagTable>, "arguments" | "flags" | "rules">;

const declaredIn = ({ arguments: operands, flags }: Tables): readonly [string, Flag<unknown>][] =>
  Object.entries({ ...operands, ...flags });

/** The name in messages: `--forward-to`, or `<uti...>` for an argument that may be missing too. */
function shown({ spelled = "" }: Partial<Flag<unknown>> = {}): string {
  const [long] = /--[\w-]+/.exec(spelled) ?? [];
  return long ?? spelled.replace("[", "<").replace("]", ">");
}

async function readValues(
  tables: Tables,
  given: GivenFor,
  { problems }: Usage,
  context: Context,
): Promise<object> {
  const values = {};
  for (const [name, declared] of declaredIn(tables)) {
    const before = problems.length;
    const { parse, absent, limits, mayBeEmpty } = declared;
    const readText = async (typed: string): Promise<unknown> => {
      // A variable or a command of the shell gave nothing.
      if (typed.trim() === "" && mayBeEmpty !== true) {
        problems.push({ at: shown(declared), message: "has an empty value", value: typed });
        return undefined;
      }
      const parsed = await readTyped(parse ?? text, typed, context);
      if (parsed.ok) return parsed.value;
      const { message, instead, mayBeSecret } = parsed;
      if (mayBeSecret === true) {
        problems.push({ at: shown(declared), message });
        return undefined;
      }
      const value = withoutPassword(typed);
      const near = instead === undefined ? "" : `; did you mean ${instead}?`;
      const meant = instead === undefined ? {} : { instead };
      problems.push({ at: shown(declared), message: `${message} (got "${value}")${near}`, value, ...meant });
      return undefined;
    };
    const value = await readEach(given(name).value ?? absent, readText);
    if (limits !== undefined && typeof value === "number") limits(context.timeLimit, value);
    const get = (): unknown => {
      throw new Unreadable();
    };
    const isReadable = problems.length === before;
    Object.defineProperty(values, name, { enumerable: true, ...(isReadable ? { value } : { get }) });
  }
  return values;
}

async function readTyped(parse: Parser<unknown>, typed: string, context: Context): Promise<Parsed<unknown>> {
  if (parse.takes === "anything") return parse(typed, context);
  const read = parseTypedText(typed, { lines: parse.takes === "lines" });
  return read.ok ? parse(read.value, context) : read;
}

async function readEach(given: unknown, readText: (typed: string) => Promise<unknown>): Promise<unknown> {
  if (typeof given === "string") return readText(given);
  if (!Array.isArray(given)) return given;
  const values: unknown[] = [];
  for (const typed of given) values.push(await readText(String(typed)));
  return values;
}

function checkRules(tables: Tables, given: GivenFor, { problems }: Usage): void {
  const table = new Map(declaredIn(tables));
  const nameOf = (name: string): string => shown(table.get(name));
  const isTyped = (name: string): boolean => given(name).isTyped;
  for (const { names, kind, others, why } of tables.rules ?? [])
    for (const name of names)
      for (const other of others)
        if (kind === "excludes" && isTyped(name) && isTyped(other)) {
          const reason = why === undefined ? "" : `, which ${why}`;
          problems.push({ at: nameOf(name), message: `cannot be used with ${nameOf(other)}${reason}` });
        } else if (kind === "needs" && isTyped(name) && !isTyped(other))
          problems.push({ at: nameOf(name), message: `has no effect without ${nameOf(other)}` });
}

/** The flags that every command takes. */
function checkGlobalFlags(
  { flags = {} }: Tables,
  given: GivenFor,
  { problems }: Usage,
  { out, profile, env }: Pick<Context, "out" | "profile" | "env">,
): void {
  const names = { "--profile": profile, PAYLINK_PROFILE: env["PAYLINK_PROFILE"]?.trim() || undefined };
  for (const [at, value] of Object.entries(names)) {
    if (value === undefined) continue;
    const parsed = parseProfileName(value);
    if (!parsed.ok) problems.push({ at, message: `${parsed.message} (got "${value}")`, value });
  }
  if (!out.json) return;
  for (const [name, declared] of Object.entries(flags))
    if (declared.isForPeople === true && given(name).value === true)
      problems.push({ at: shown(declared), message: "cannot be used with --json" });
}
