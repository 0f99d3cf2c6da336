/** The program: the options that every command takes, and the ordered list of commands. */
import { Command, Option, type CommanderError } from "commander";
import { registerBulk } from "./commands/bulk/command.ts";
import { registerCompletion } from "./commands/completion/command.ts";
import { registerCreate } from "./commands/create/command.ts";
import { exampleOf, examples, type Register, type Start } from "./commands/declare.ts";
import { registerConfig } from "./commands/config/command.ts";
import { registerLogin } from "./commands/login/command.ts";
import { registerLogout } from "./commands/logout/command.ts";
import { registerStatus } from "./commands/status/command.ts";
import { registerTransaction } from "./commands/transaction/command.ts";
import { registerDemo } from "./commands/demo/command.ts";
import { registerEvents } from "./commands/events/command.ts";
import { registerListen } from "./commands/listen/command.ts";
import { registerPay } from "./commands/pay/command.ts";
import { registerSandbox } from "./commands/sandbox/command.ts";
import { registerTrigger } from "./commands/trigger/command.ts";
import { registerCheck } from "./commands/check/command.ts";
import { registerVerify } from "./commands/verify/command.ts";
import { registerTest } from "./commands/test/command.ts";
import { PaylinkError } from "./domain/errors.ts";

/** In the order in which the help lists them. */
const COMMANDS: Readonly<Record<string, Register>> = {
  create: registerCreate,
  bulk: registerBulk,
  listen: registerListen,
  events: registerEvents,
  verify: registerVerify,
  trigger: registerTrigger,
  check: registerCheck,
  sandbox: registerSandbox,
  pay: registerPay,
  test: registerTest,
  demo: registerDemo,
  completion: registerCompletion,
  transaction: registerTransaction,
  login: registerLogin,
  logout: registerLogout,
  status: registerStatus,
  config: registerConfig,
};

export interface ProgramParts {
  readonly version: string;
  /** The command line: where it begins with a command's name, that one alone is needed, and the rest takes time. */
  readonly argv: readonly string[];
  /** Makes the context of the command that runs. */
  readonly start: Start;
  /** Prints help. */
  readonly print: (text: string) => void;
}

/** A fresh tree of commands. */
export function createProgram({ version, argv: [first = ""], start, print }: ProgramParts): Command {
  const program = new Command("paylink")
    .description("Create payment links, and receive, verify and show the signed webhooks that follow.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand(false)
    .configureOutput({ writeOut: print, outputError: () => undefined })
    .option("-p, --profile <name>", "the profile to use (PAYLINK_PROFILE)")
    .option("--json", "JSON on stdout, everything for people on stderr")
    .option("--no-input", "never prompt")
    .addOption(
      new Option("--color <when>", "when to use colour").choices(["auto", "always", "never"]).default("auto"),
    )
    .option("--debug", "show each HTTP exchange on stderr, without secrets");
  examples(program, ["paylink demo", "paylink create --amount 10 --currency EUR"]);
  const named = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  for (const register of named === undefined ? Object.values(COMMANDS) : [named]) register(program, start);
  for (const command of withSubcommands(program)) failAsUsage(command);
  return program;
}

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

/** commander's own refusals become failures of ours, so that one place turns every failure into words. */
function failAsUsage(command: Command): void {
  command.exitOverride((error: CommanderError) => {
    if (error.exitCode === 0 || error.code.startsWith("commander.help")) throw error;
    const [message = "", ...suggestion] = error.message.replace(/^error: /, "").split("\n");
    const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, "")}.`;
    const example = exampleOf(command);
    throw new PaylinkError("usage", [sentence, ...suggestion].join(" "), {
      hint: example === undefined ? undefined : `Try: ${example}`,
    });
  });
}
