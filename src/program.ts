/** The program: the options that every command takes, and the ordered list of commands. */
import {
  Command as CommanderCommand,
  CommanderError,
  Option,
  type CommandUnknownOpts,
} from "@commander-js/extra-typings";
import type { Command } from "./commands/command.ts";
import { bulk } from "./commands/bulk/command.ts";
import { check } from "./commands/check.ts";
import { complete, completion } from "./commands/completion/command.ts";
import { config } from "./commands/config/config.ts";
import { create } from "./commands/create/command.ts";
import { declare, declared, declareLater, examples, type Execute } from "./commands/declare.ts";
import { events } from "./commands/events/command.ts";
import { helpLayout } from "./commands/help-layout.ts";
import { help, version } from "./commands/help/help.ts";
import { links } from "./commands/links/command.ts";
import { listen } from "./commands/listen/command.ts";
import { login } from "./commands/login/login.ts";
import { logout } from "./commands/logout.ts";
import { failAsUsage, refuseFlagsAsValues, refuseHelp } from "./commands/usage-errors.ts";
import { profiles } from "./commands/profiles.ts";
import { pay } from "./commands/pay.ts";
import { inspect } from "./commands/inspect/command.ts";
import { sandbox } from "./commands/sandbox/command.ts";
import { status } from "./commands/status.ts";
import { demo, test } from "./commands/local/command.ts";
import { transaction } from "./commands/transaction.ts";
import { trigger } from "./commands/trigger/command.ts";
import { verify } from "./commands/verify/command.ts";

/** The commands under their headings, in the order of the help. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  "Links:": {
    create,
    links,
    bulk,
    transaction,
  },
  "Webhooks:": {
    listen,
    events,
    inspect,
    verify,
    trigger,
    check,
  },
  "Sandbox:": {
    sandbox,
    pay,
    test,
    demo,
  },
  "Account:": {
    login,
    logout,
    status,
    profiles,
    config,
  },
  "Command line:": {
    help,
    version,
    completion,
  },
};

export interface ProgramParts {
  /** The command line, after `paylink`. */
  readonly argv: readonly string[];
  readonly version: string;
  readonly execute: Execute;
  /** Prints help. */
  readonly print: (text: string) => void;
}

/** A fresh tree of commands. */
export function createProgram({ argv, version: number, execute, print }: ProgramParts) {
  const program = new CommanderCommand("paylink")
    .description("Create payment links, and receive, verify and show the signed webhooks that follow.")
    .version(number, "-V, --version", "print the version")
    .addOption(new Option("-v", "print the version").hideHelp())
    .on("option:v", () => {
      print(`${number}\n`);
      throw new CommanderError(0, "commander.version", number);
    })
    .helpOption("-h, --help", "show help")
    .configureHelp(helpLayout)
    .configureOutput({ writeOut: print })
    .option("-p, --profile <name>", "the profile to use (default: PAYLINK_PROFILE, else the current one)")
    .option("--json", "print JSON on stdout, and errors as JSON on stderr")
    .option("--no-input", "never prompt")
    .option("--no-color", "no colours")
    .option("-y, --yes", "answer the confirmation that a command asks for")
    .option("--debug", "show each HTTP exchange on stderr, without secrets");
  examples(program, [
    "paylink demo",
    "paylink sandbox",
    "paylink listen --forward-to localhost:3000/webhooks",
    "paylink create --amount 10 --currency EUR",
  ]);
  failAsUsage(program, argv);
  const add = (command: CommandUnknownOpts, declaration: Command): void =>
    declareLater(command, {
      declaration,
      declare: () => {
        declare(command, declaration, execute);
        failAsUsage(command, argv);
      },
    });
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const [name, declaration] of Object.entries(commands)) add(program.command(name), declaration);
  }
  add(program.command("complete", { hidden: true }), complete);
  program.hook("preSubcommand", (_program, command) => void declared(command));
  program.hook("preAction", (_program, command) => refuseFlagsAsValues(command));
  program.on("beforeAllHelp", refuseHelp);
  return program;
}
