/** The program: the options that every command takes, and the ordered list of commands. */
import { Command, CommanderError, Option } from "@commander-js/extra-typings";
import { registerBulk } from "./commands/bulk/command.ts";
import { registerCheck } from "./commands/check/command.ts";
import { registerCompletion } from "./commands/completion/command.ts";
import { registerConfig } from "./commands/config/command.ts";
import { registerCreate } from "./commands/create/command.ts";
import { examples, type Execute, type Register } from "./commands/declare.ts";
import { registerDemo } from "./commands/demo/command.ts";
import { registerEvents } from "./commands/events/command.ts";
import { helpLayout } from "./commands/help-layout.ts";
import { registerHelp } from "./commands/help/command.ts";
import { registerLinks } from "./commands/links/command.ts";
import { registerListen } from "./commands/listen/command.ts";
import { registerLogin } from "./commands/login/command.ts";
import { registerLogout } from "./commands/logout/command.ts";
import { failAsUsage } from "./commands/usage-errors.ts";
import { registerProfiles } from "./commands/profiles/command.ts";
import { registerPay } from "./commands/pay/command.ts";
import { registerSandbox } from "./commands/sandbox/command.ts";
import { registerStatus } from "./commands/status/command.ts";
import { registerTest } from "./commands/test/command.ts";
import { registerTransaction } from "./commands/transaction/command.ts";
import { registerTrigger } from "./commands/trigger/command.ts";
import { registerVerify } from "./commands/verify/command.ts";
import { registerVersion } from "./commands/version/command.ts";

/** The commands under their headings, in the order of the help. */
const COMMANDS: Readonly<Record<string, readonly Register[]>> = {
  "Links:": [registerCreate, registerLinks, registerBulk, registerTransaction],
  "Webhooks:": [registerListen, registerEvents, registerVerify, registerTrigger, registerCheck],
  "Sandbox:": [registerSandbox, registerPay, registerTest, registerDemo],
  "Account:": [registerLogin, registerLogout, registerStatus, registerProfiles, registerConfig],
  "Command line:": [registerHelp, registerVersion, registerCompletion],
};

export interface ProgramParts {
  readonly version: string;
  readonly execute: Execute;
  /** Prints help. */
  readonly print: (text: string) => void;
}

/** A fresh tree of commands. */
export function createProgram({ version, execute, print }: ProgramParts) {
  const program = new Command("paylink")
    .description("Create payment links, and receive, verify and show the signed webhooks that follow.")
    .version(version, "-V, --version", "print the version")
    .addOption(new Option("-v", "print the version").hideHelp())
    .on("option:v", () => {
      print(`${version}\n`);
      throw new CommanderError(0, "commander.version", version);
    })
    .helpOption("-h, --help", "show help")
    .configureHelp(helpLayout)
    .configureOutput({ writeOut: print })
    .option("-p, --profile <name>", "the profile to use (default: PAYLINK_PROFILE, else the current one)")
    .option("--json", "print JSON on stdout, and errors as JSON on stderr")
    .option("--no-input", "never prompt")
    .addOption(
      new Option("--color <when>", "when to use colour").choices(["auto", "always", "never"]).default("auto"),
    )
    .addOption(new Option("--no-color", "no colours").preset("never"))
    .option("-y, --yes", "answer the confirmation that a command asks for")
    .option("--debug", "show each HTTP exchange on stderr, without secrets");
  examples(program, [
    "paylink demo",
    "paylink sandbox",
    "paylink listen --forward-to localhost:3000/webhooks",
    "paylink create --amount 10 --currency EUR",
  ]);
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const register of commands) register(program, execute);
  }
  failAsUsage(program);
  return program;
}
