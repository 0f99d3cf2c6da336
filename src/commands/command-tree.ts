/** The tree of commands: commander's own, whose nodes get what is declared for them once it is needed. Help, completion and errors read it. */
import { Argument, Command as CommanderCommand, Option } from "commander";
import type { Context } from "../context.ts";
import type { Command as Declaration, Declared, GivenFor } from "./command.ts";
import { givenTwice, needsCommand, needsValue, unknownCommandOf, usageErrorOf } from "./usage-errors.ts";

/** Takes the command that the command line names, with its work, which resolves with the exit code or throws. */
export type Execute = (command: CommandNode, work: (context: Context) => Promise<number>) => Promise<void>;

/** Imports the file of a command. */
export type Load = () => Promise<{ readonly default: Declaration }>;

/** Collects the values of a repeatable option in the order given. */
const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

/** With a value that works, as it is typed in a shell. */
export class FlagOption extends Option {
  readonly example: string | undefined;
  readonly isRepeatable: boolean;
  readonly isEventStore: boolean;

  constructor({ spelled, description, choices, example, heading, ...declared }: Declared) {
    super(spelled, description);
    this.example = example;
    this.isRepeatable = declared.isRepeatable === true;
    this.isEventStore = declared.isEventStore === true;
    // commander would stop at a wrong word; the parser names it together with every other problem.
    if (choices !== undefined) this.choices(choices);
    if (this.isRepeatable) this.argParser(collect);
    else if (this.required) this.argParser(this.#once());
    if (declared.default !== undefined) this.default(declared.default);
    if (declared.isRequired === true) this.makeOptionMandatory();
    if (heading !== undefined) this.helpGroup(heading);
  }

  isSpelled(word: string): boolean {
    return word === this.long || word === this.short;
  }

  /** commander would take the last of `--amount 10 --amount 20`. */
  #once(): (value: string) => string {
    let isGiven = false;
    return (value) => {
      if (isGiven) throw givenTwice(this);
      isGiven = true;
      return value;
    };
  }
}

/** An argument, with a value that works. */
class Operand extends Argument {
  readonly example: string | undefined;

  constructor({ spelled, description, choices, example }: Declared) {
    super(spelled, description);
    this.example = example;
    if (choices !== undefined) this.choices(choices);
    if (this.variadic) this.argParser(collect);
    else this.argParser((value: string) => value);
  }
}

/** As commander has it where no terminal says how wide it is. */
const HELP_WIDTH = 80;

export class CommandNode extends CommanderCommand {
  declare readonly commands: readonly CommandNode[];
  declare readonly options: readonly FlagOption[];
  declare readonly registeredArguments: readonly Operand[];
  declare parent: CommandNode | null;
  examples: readonly string[] = [];
  readonly #execute: Execute;
  #load: Load | undefined;

  constructor(name: string | undefined, execute: Execute) {
    super(name);
    this.#execute = execute;
    this.helpCommand(false).showSuggestionAfterError(false);
    this.#failAsUsage();
    this.hook("preSubcommand", async (_, command) => {
      if (command instanceof CommandNode) await command.declared();
    });
  }

  override createCommand(name?: string): CommandNode {
    return new CommandNode(name, this.#execute);
  }

  override createOption(spelled: string, description = ""): FlagOption {
    return new FlagOption({ spelled, description });
  }

  override copyInheritedSettings(source: CommandNode): this {
    super.copyInheritedSettings(source);
    return this.#failAsUsage();
  }

  #failAsUsage(): this {
    return this.exitOverride((error) => {
      throw error.exitCode === 0 ? error : usageErrorOf(this, error);
    });
  }

  /** The command above all others: `paylink`. */
  get program(): CommandNode {
    return this.parent?.program ?? this;
  }

  /** The words of the command after `paylink`. */
  get words(): readonly string[] {
    return this.parent === null ? [] : [...this.parent.words, this.name()];
  }

  /** As it is typed: `paylink events list`. */
  get path(): string {
    return [this.program.name(), ...this.words].join(" ");
  }

  get visibleCommands(): readonly CommandNode[] {
    const visible = new Set<unknown>(this.createHelp().visibleCommands(this));
    return this.commands.filter((command) => visible.has(command));
  }

  /** The options that every command takes. */
  get globalOptions(): readonly FlagOption[] {
    return this.program.options.filter((option) => !option.hidden && option.attributeName() !== "version");
  }

  /** An option of the command, or of the commands above it. */
  optionNamed(word: string): FlagOption | undefined {
    return this.options.find((option) => option.isSpelled(word)) ?? this.parent?.optionNamed(word);
  }

  /** Adds a command, of which most runs need no more than this: `declared` loads the rest (startup bench). */
  addLater(name: string, summary: string | undefined, load: Load): void {
    const added = this.command(name, { hidden: summary === undefined });
    added.description(summary ?? "").#load = load;
  }

  async declared(): Promise<this> {
    const load = this.#load;
    this.#load = undefined;
    if (load !== undefined) this.declare((await load()).default);
    return this;
  }

  addExamples(examples: readonly string[]): this {
    this.examples = examples;
    return this.addHelpText("after", `\nExamples:\n${examples.map((line) => `  ${line}`).join("\n")}`);
  }

  declare(declaration: Declaration): void {
    const { arguments: operands = {}, flags = {}, commands = {}, notes, run } = declaration;
    for (const operand of Object.values(operands)) this.addArgument(new Operand(operand));
    const attributes = new Map<string, string>();
    for (const [name, flag] of Object.entries(flags)) {
      const option = new FlagOption(flag);
      attributes.set(name, option.attributeName());
      this.addOption(option);
    }
    if (declaration.takesAnyFlag === true) this.allowUnknownOption();
    this.addHelpText("after", () => this.#globalLine());
    if (notes !== undefined) this.addHelpText("after", () => `\n${this.#fitted(notes)}`);
    this.addExamples(declaration.examples);
    const order = Object.keys(operands);
    const given: GivenFor = (name) => {
      if (order.includes(name)) {
        const value: unknown = this.processedArgs[order.indexOf(name)];
        return { value, isTyped: Array.isArray(value) ? value.length > 0 : value !== undefined };
      }
      const attribute = attributes.get(name) ?? name;
      const isTyped = this.getOptionValueSource(attribute) === "cli";
      return { value: this.getOptionValue(attribute), isTyped };
    };
    if (run !== undefined) this.action(() => this.#execute(this, (context) => run(context, given, this)));
    for (const [name, inner] of Object.entries(commands)) {
      const added = this.command(name, { isDefault: inner.isDefault === true });
      added.description(inner.summary ?? "").declare(inner);
    }
  }

  /** commander would read `--currency` as the amount in `--amount --currency EUR`; joined (`--amount=--x`) it is meant. */
  override parseOptions(words: string[]): { operands: string[]; unknown: string[] } {
    const end = words.indexOf("--");
    for (const [index, word] of words.slice(0, end === -1 ? undefined : end).entries()) {
      const option = this.#optionBefore(word);
      const value = words[index + 1];
      const isFlag = /^-[^\d.]/.test(value ?? "") && this.optionNamed(value ?? "") !== undefined;
      if (option !== undefined && (value === undefined || isFlag)) throw needsValue(option);
    }
    return super.parseOptions(words);
  }

  /** The option whose value is the next word: `--port`, `-f`, or the last of `-qf`. */
  #optionBefore(word: string): FlagOption | undefined {
    const letters = /^-\w{2,}$/.test(word) ? Array.from(word.slice(1), (letter) => `-${letter}`) : [word];
    const options = letters.map((one) => this.options.find((option) => option.isSpelled(one)));
    const first = options.findIndex((option) => option?.required !== false);
    return first === letters.length - 1 ? options[first] : undefined;
  }

  /** commander would show the help of paylink for `paylink bogus --help`, and for `paylink --json`. */
  override outputHelp(context?: { readonly error: boolean } | ((text: string) => string)): void {
    const unknown = unknownCommandOf(this);
    if (unknown !== undefined) throw unknown;
    if (typeof context === "object" && context.error) throw needsCommand(this);
    super.outputHelp();
  }

  /** They are explained in the help of paylink alone. */
  #globalLine(): string {
    const flags = this.globalOptions.map(({ short, long }) => short ?? long);
    return `\nGlobal flags: ${flags.join(", ")} (paylink --help)`;
  }

  /** Breaks lines that are too long between words; the rest continues in the last column of the line. */
  #fitted(lines: string): string {
    const width = this.configureOutput().getOutHelpWidth?.() ?? HELP_WIDTH;
    const broken = (line: string): string => {
      const column = /^(?:.* {2,})?/.exec(line)?.[0].length ?? 0;
      const end = line.length <= width ? -1 : line.lastIndexOf(" ", width);
      return end <= column
        ? line
        : `${line.slice(0, end)}\n${broken(" ".repeat(column) + line.slice(end + 1))}`;
    };
    return lines.split("\n").map(broken).join("\n");
  }
}
