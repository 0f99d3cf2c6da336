/** The program: the options that every command takes, and the ordered list of commands. */
import { CommanderError } from "commander";
import { CommandNode, type Execute, FlagOption, type Load } from "./commands/command-tree.ts";
import type { Declared } from "./commands/command.ts";
import { helpLayout } from "./commands/help-layout.ts";

/** A command of the program as `paylink --help` lists it. Most runs need one of them: the rest is loaded with it. */
type Listed = readonly [summary: string, load: Load];

/** The commands under their headings, in the order of the help. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, Listed>>>> = {
  "Links:": {
    create: ["create a payment link", () => import("./commands/create/command.ts")],
    links: [
      "list, show, update and cancel the links at the service",
      () => import("./commands/links/command.ts"),
    ],
    bulk: [
      "create a payment link for each row of a CSV or JSON-lines file, exactly once",
      () => import("./commands/bulk/command.ts"),
    ],
    transaction: [
      "read a transaction back from the service, with its custom data",
      () => import("./commands/transaction.ts"),
    ],
  },
  "Webhooks:": {
    listen: [
      "receive, verify and show webhooks, and forward them to your application",
      () => import("./commands/listen/command.ts"),
    ],
    events: [
      "list, show, count, follow, replay, retry, skip, accept and prune received events",
      () => import("./commands/events/command.ts"),
    ],
    reconcile: [
      "find payments that were missed, refused, not delivered, paid twice or not booked",
      () => import("./commands/reconcile/command.ts"),
    ],
    inspect: [
      "show received webhooks in a browser: why each was accepted or rejected, and what became of it",
      () => import("./commands/inspect/command.ts"),
    ],
    verify: [
      "explain step by step why a captured webhook verifies, or why not",
      () => import("./commands/verify/command.ts"),
    ],
    trigger: [
      "post a well-formed, signed sample webhook to an endpoint on this machine",
      () => import("./commands/trigger/command.ts"),
    ],
    check: [
      "test your own webhook endpoint: what it must accept, and what it must refuse",
      () => import("./commands/check/command.ts"),
    ],
  },
  "Sandbox:": {
    sandbox: [
      "run the whole payment-link service on this machine",
      () => import("./commands/sandbox/command.ts"),
    ],
    pay: [
      "simulate the customer: pay a link of the sandbox without a browser",
      () => import("./commands/pay.ts"),
    ],
    test: [
      "run a command against a sandbox and a receiver of its own, then delete both",
      () => import("./commands/local/test-command.ts"),
    ],
    demo: [
      "create, pay, receive and verify in a few seconds, without an account",
      () => import("./commands/local/demo-command.ts"),
    ],
  },
  "Account:": {
    login: [
      "check an account at a service, and store it in a profile",
      () => import("./commands/login/command.ts"),
    ],
    logout: [
      "delete a profile's token and client secret; its defaults stay",
      () => import("./commands/logout.ts"),
    ],
    status: [
      "check the account: token, service, webhook key, addresses and storage",
      () => import("./commands/status.ts"),
    ],
    profiles: ["list, choose and remove profiles", () => import("./commands/profiles.ts")],
    config: ["show and change the settings of a profile", () => import("./commands/config/command.ts")],
  },
  "Command line:": {
    help: [
      "show the help of a command, or explain a topic, such as errors, settings or ci",
      () => import("./commands/help/help.ts"),
    ],
    version: ["print the version", () => import("./commands/version.ts")],
    completion: ["print the completion script of a shell", () => import("./commands/completion/command.ts")],
  },
};

export interface ProgramParts {
  readonly version: string;
  readonly execute: Execute;
  /** Prints help. */
  readonly print: (text: string) => void;
}

/** The flags that every command takes. */
const GLOBAL_FLAGS: readonly Declared[] = [
  {
    spelled: "-p, --profile <name>",
    description: "the profile to use (default: PAYLINK_PROFILE, else the current one)",
  },
  { spelled: "--json", description: "print JSON on stdout, and errors as JSON on stderr" },
  { spelled: "--no-input", description: "never prompt" },
  { spelled: "--no-color", description: "no colours" },
  { spelled: "-y, --yes", description: "answer yes where a command asks for a confirmation" },
  { spelled: "--debug", description: "show each HTTP exchange on stderr, without secrets" },
];

/** A fresh tree of commands. */
export function createProgram({ version: number, execute, print }: ProgramParts): CommandNode {
  const program = new CommandNode("paylink", execute);
  program
    .description("Create payment links, and receive, verify and show the signed webhooks that follow.")
    .version(number, "-V, --version", "print the version")
    .addOption(new FlagOption({ spelled: "-v", description: "print the version" }).hideHelp())
    .on("option:v", () => {
      print(`${number}\n`);
      throw new CommanderError(0, "commander.version", number);
    })
    .helpOption("-h, --help", "show help")
    .configureHelp(helpLayout)
    // paylink reports errors itself.
    .configureOutput({ writeOut: print, outputError: () => undefined });
  for (const flag of GLOBAL_FLAGS) program.addOption(new FlagOption(flag));
  program.addExamples([
    "paylink demo",
    "paylink sandbox",
    "paylink listen --forward-to localhost:3000/webhooks",
    "paylink create --amount 10 --currency EUR",
  ]);
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const [name, [summary, load]] of Object.entries(commands)) program.addLater(name, summary, load);
  }
  program.addLater("complete", undefined, () => import("./commands/completion/complete-command.ts"));
  return program;
}
