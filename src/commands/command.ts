/** How a command is declared: each argument and flag once, with the parser of its value, which gives the value its type. */
import type { Context } from "../context.ts";
import type { CommandNode } from "./command-tree.ts";
import { PaylinkError, type Problem } from "../domain/errors.ts";
import type { Hint } from "../domain/hint.ts";
import { accepted, parseChoice, refused, type Parsed } from "../values/parse-result.ts";
import { withoutPassword } from "../values/url-passwords.ts";
import { parseTypedText } from "../values/typed-text.ts";
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

/** A flag or an argument. One without a parser is a toggle. */
export interface Declared {
  /** As help shows it: `-f, --forward-to <target>`, or `<link>`. */
  readonly spelled: string;
  readonly description: string;
  readonly parse?: Parser<unknown>;
  readonly choices?: readonly string[] | undefined;
  /** A value that works, as it is typed in a shell, for the message about a missing one. */
  readonly example?: string | undefined;
  readonly isRepeatable?: boolean;
  /** Whether an empty text is a value; otherwise it is reported as a missing one. */
  readonly mayBeEmpty?: boolean;
  /** As it would be typed; help shows it. */
  readonly default?: string | undefined;
  readonly isRequired?: boolean;
  /** It says which event store is meant, also to the commands that a failure advises. */
  readonly isEventStore?: boolean;
  /** It changes what people see: with `--json` it would have no effect. */
  readonly isForPeople?: boolean;
  /** Its milliseconds bound the whole run, in this way: the runner uses them, and the command gets no value. */
  readonly limits?: (timeLimit: Context["timeLimit"], milliseconds: number) => void;
  readonly heading?: string;
}

/** A flag with a value. */
export interface Flag<T> extends Declared {
  readonly parse: Parser<T>;
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

/** A flag with a value, which is undefined if the flag is not given, has no default and is not required. */
export const flag = <T, Given extends FlagDetails>(
  spelled: string,
  description: string,
  parse: Parser<T>,
  details?: Given,
) => Object.assign(valued(spelled, description, parse, details), details);

/** A flag that may be given several times: its value is a list. */
export const repeatable = <T>(spelled: string, description: string, parse: Parser<T>, details?: Details) => ({
  ...valued(spelled, description, parse, details),
  ...details,
  isRepeatable: true as const,
});

/** A flag without a value: whether it is given. With `--no-` it is true unless it is given. */
export const toggle = (spelled: string, description: string) => ({ spelled, description });

/** A toggle that changes what people see, so that it cannot be used with `--json`. */
export const toggleForPeople = (spelled: string, description: string) => ({
  ...toggle(spelled, description),
  isForPeople: true,
});

/** Flags under a heading of the help. */
export const group = <Flags extends Table>(heading: string, flags: Flags): Flags => {
  const entries = Object.entries(flags).map(([name, declared]) => [name, { ...declared, heading }]);
  return Object.fromEntries(entries) as Flags;
};

/** `<link>`, `[file]`, `<link...>` or `[uti...]`. */
export const argument = <const Spelled extends string, T>(
  spelled: Spelled,
  description: string,
  parse: Parser<T>,
  details?: Details,
) => ({
  ...valued(spelled, description, parse, details),
  ...details,
  isRepeatable: spelled.includes("..."),
});

const valued = <Spelled extends string, T>(
  spelled: Spelled,
  description: string,
  parse: Parser<T>,
  details: FlagDetails = {},
) => ({
  spelled,
  description,
  parse,
  choices: parse.choices,
  example: details.default ?? parse.choices?.[0],
});

type Table = Readonly<Record<string, Declared>>;
type Nothing = {};

/** What the declaration of a flag or an argument says of its value. */
type ValueOf<One> = One extends { readonly parse: Parser<infer T> }
  ? One extends { readonly isRepeatable: true } | { readonly spelled: `${string}...${string}` }
    ? readonly T[]
    : One extends
          | { readonly default: string }
          | { readonly isRequired: true }
          | { readonly spelled: `<${string}` }
      ? T
      : T | undefined
  : boolean;

/** The values of flags or arguments, by their names in the declaration. */
export type ValuesOf<All> = {
  readonly [Name in keyof All as All[Name] extends { readonly limits: unknown } ? never : Name]: ValueOf<
    All[Name]
  >;
};

/** A rule between flags or arguments, by their names in the declaration. */
interface FlagRule<Name extends string> {
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
): FlagRule<Name> => ({ names, kind: "excludes", others, why });

/** Each of the names has no effect without all of the others. */
export const needs = <const Name extends string>(
  names: readonly Name[],
  others: readonly Name[],
): FlagRule<Name> => ({ names, kind: "needs", others });

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
  readonly rules?: readonly FlagRule<NoInfer<(keyof Arguments | keyof Flags) & string>>[];
  /** What did not happen after a usage error: "Nothing was sent." */
  readonly consequence?: string;
  readonly commands?: Readonly<Record<string, Command>>;
  /** Whether its group runs it if no other command is named. */
  readonly isDefault?: boolean;
  /** Whether unknown flags are arguments. */
  readonly takesAnyFlag?: boolean;
}

type Values<Arguments extends Table, Flags extends Table> = ValuesOf<Arguments> & ValuesOf<Flags>;

/** The values of a command line, of which some may not have been readable: their problems are known already. */
export interface ReadValues<All> {
  /** Undefined unless every value could be read. */
  readonly all: All | undefined;
  /** Hands some of them on, unless one of these could not be read. */
  readonly ifRead: <const Name extends keyof All, Result>(
    names: readonly Name[],
    use: (values: Pick<All, Name>) => Result,
  ) => Result | undefined;
}

export interface Command extends Declaration<Table, Table> {
  /** Undefined for a group, which has only subcommands. */
  readonly run: ((context: Context, given: GivenFor, self: CommandNode) => Promise<number>) | undefined;
}

export interface Reads<Options> {
  /** What the command line means. Throws one `usage` error with every problem. */
  readonly read: (given: GivenFor, context: Context) => Promise<Options>;
}

/** A command, or a group of commands, which may have no `run`. */
export function command<
  Arguments extends Table = Nothing,
  Flags extends Table = Nothing,
  Options = Values<Arguments, Flags>,
>(
  declaration: Declaration<Arguments, Flags> & {
    /** Adds the problems of values together. */
    readonly check?: (
      read: ReadValues<Values<Arguments, Flags>>,
      usage: Usage,
      context: Context,
    ) => void | Promise<void>;
    /** Does the same, and makes what `run` gets: undefined where there are problems. */
    readonly prepare?: (
      read: ReadValues<Values<Arguments, Flags>>,
      usage: Usage,
      context: Context,
    ) => Options | undefined | Promise<Options | undefined>;
    /** Without `prepare` it gets the values. */
    readonly run?: (context: Context, options: Options, self: CommandNode) => Promise<number>;
  },
): Command & Reads<Options> {
  type All = Values<Arguments, Flags>;
  const { consequence = "Nothing was done.", check, prepare, run } = declaration;
  const needed = declaredIn(declaration).flatMap(([name, { limits }]) => (limits ? [] : [name]));
  const read = async (given: GivenFor, context: Context): Promise<Options> => {
    const usage: Usage = { problems: [], hints: [] };
    // No setting can be read for the other values.
    if (context.profile === "")
      throw new PaylinkError("usage", consequence, {
        problems: [{ at: "--profile", message: EMPTY_VALUE, value: "" }],
      });
    checkGlobalFlags(declaration, given, usage, context);
    const found = await readValues(declaration, given, usage, context);
    startTimeLimit(declaration, found, context);
    checkRules(declaration, given, usage);
    const areRead = (names: readonly PropertyKey[]): boolean =>
      names.every((name) => Object.hasOwn(found, name));
    const values: ReadValues<All> = {
      all: areRead(needed) ? (found as All) : undefined,
      ifRead: (names, use) => (areRead(names) ? use(found as All) : undefined),
    };
    await check?.(values, usage, context);
    const options = prepare ? await prepare(values, usage, context) : values.all;
    const { problems, hints } = usage;
    if (problems.length > 0) throw new PaylinkError("usage", consequence, { problems, hints });
    // Without `prepare` the options are the values, as the default of their type says.
    return options as Options;
  };
  return {
    ...declaration,
    read,
    run: run && (async (context, given, self) => run(context, await read(given, context), self)),
  };
}

type DeclaredTables = Pick<Declaration<Table, Table>, "arguments" | "flags" | "rules">;

const declaredIn = ({ arguments: operands, flags }: DeclaredTables): readonly [string, Declared][] =>
  Object.entries({ ...operands, ...flags });

/** The name in messages: `--forward-to`, or `<uti...>` for an argument that may be missing too. */
function flagWord({ spelled = "" }: Partial<Declared> = {}): string {
  const [long] = /--[\w-]+/.exec(spelled) ?? [];
  return long ?? spelled.replace("[", "<").replace("]", ">");
}

/** The values that could be read, by their names, and a problem for each other one. */
async function readValues(
  tables: DeclaredTables,
  given: GivenFor,
  { problems }: Usage,
  context: Context,
): Promise<Readonly<Record<string, unknown>>> {
  const values: Record<string, unknown> = {};
  for (const [name, declared] of declaredIn(tables)) {
    const found = await readGiven(declared, given(name).value, context);
    if (found.ok) values[name] = found.value;
    else problems.push(...found.problems);
  }
  return values;
}

type GivenReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: Problem[] };

/** `given` is as commander has it: a text, a list of texts, or whether a toggle is given. */
async function readGiven(declared: Declared, given: unknown, context: Context): Promise<GivenReading> {
  const { parse, isRepeatable } = declared;
  if (parse === undefined) return { ok: true, value: given ?? false };
  if (isRepeatable !== true && given === undefined) return { ok: true, value: undefined };
  const values: unknown[] = [];
  const problems: Problem[] = [];
  for (const typed of [given ?? []].flat().map(String)) {
    const read = await readText(parse, typed, declared, context);
    if (read.ok) values.push(read.value);
    else problems.push({ at: flagWord(declared), ...quotedProblem(read, typed) });
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: isRepeatable === true ? values : values[0] };
}

async function readText(
  parse: Parser<unknown>,
  typed: string,
  { mayBeEmpty }: Declared,
  context: Context,
): Promise<Parsed<unknown>> {
  // A variable or a command of the shell gave nothing.
  if (typed.trim() === "" && mayBeEmpty !== true) return EMPTY;
  if (parse.takes === "anything") return parse(typed, context);
  const read = parseTypedText(typed, { lines: parse.takes === "lines" });
  return read.ok ? parse(read.value, context) : read;
}

const EMPTY_VALUE = "has an empty value";
const EMPTY = refused(EMPTY_VALUE);

/** Quotes the value, unless that is empty or may be a secret. */
function quotedProblem(refusal: Extract<Parsed<unknown>, { ok: false }>, typed: string): Omit<Problem, "at"> {
  const { message, instead, part = typed, mayBeSecret } = refusal;
  if (refusal === EMPTY) return { message, value: typed };
  if (mayBeSecret === true) return { message };
  const value = withoutPassword(part);
  const near = instead === undefined ? "" : `; did you mean ${instead}?`;
  return { message: `${message} (got "${value}")${near}`, value, ...(instead && { instead }) };
}

/** The time of `--timeout` runs from here on: what follows may wait for a person or for standard input. */
function startTimeLimit(
  { flags = {} }: DeclaredTables,
  values: Readonly<Record<string, unknown>>,
  { timeLimit }: Pick<Context, "timeLimit">,
): void {
  for (const [name, { limits }] of Object.entries(flags)) {
    const milliseconds = values[name];
    if (typeof milliseconds === "number") limits?.(timeLimit, milliseconds);
  }
}

function checkRules(tables: DeclaredTables, given: GivenFor, { problems }: Usage): void {
  const table = new Map(declaredIn(tables));
  const nameOf = (name: string): string => flagWord(table.get(name));
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
  { flags = {} }: DeclaredTables,
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
      problems.push({ at: flagWord(declared), message: "cannot be used with --json" });
}
