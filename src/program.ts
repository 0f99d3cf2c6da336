/** The program: the options that every command takes, and the ordered list of commands. */
import {
  Command as CommanderCommand,
  CommanderError,
  Option,
  type CommandUnknownOpts,
} from "@commander-js/extra-typings";
import type { Command } from "./commands/command.ts";
import { declare, declared, declareLater, addHelp, type Execute } from "./commands/declare.ts";
import { helpLayout } from "./commands/help-layout.ts";
import { failAsUsage, refuseFlagsAsValues, refuseHelp } from "./commands/usage-errors.ts";

/** A command of the program as `paylink --help` lists it. Most runs need one of them: the rest is loaded with it. */
interface Listed {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** The commands under their headings, in the order of the help. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, Listed>>>> = {
  "Links:": {
    create: {
      summary: "create a payment link",
      load: () => import("./commands/create/command.ts").then(({ create }) => create),
    },
    links: {
      summary: "list, show, update and cancel the links at the service",
      load: () => import("./commands/links/command.ts").then(({ links }) => links),
    },
    bulk: {
      summary: "create one payment link per row of a CSV file, each exactly once",
      load: () => import("./commands/bulk/command.ts").then(({ bulk }) => bulk),
    },
    transaction: {
      summary: "read a transaction back from the service, with its custom data",
      load: () => import("./commands/transaction.ts").then(({ transaction }) => transaction),
    },
  },
  "Webhooks:": {
    listen: {
      summary: "receive, verify and show webhooks, and forward them to your application",
      load: () => import("./commands/listen/command.ts").then(({ listen }) => listen),
    },
    events: {
      summary: "list, show, count, follow, replay, retry, skip, accept and prune received events",
      load: () => import("./commands/events/command.ts").then(({ events }) => events),
    },
    reconcile: {
      summary: "find payments that were missed, refused, not delivered, paid twice or not booked",
      load: () => import("./commands/reconcile/command.ts").then(({ reconcile }) => reconcile),
    },
    inspect: {
      summary:
        "show received webhooks in a browser: why each was accepted or rejected, and what became of it",
      load: () => import("./commands/inspect/command.ts").then(({ inspect }) => inspect),
    },
    verify: {
      summary: "explain step by step why a captured webhook verifies, or why not",
      load: () => import("./commands/verify/command.ts").then(({ verify }) => verify),
    },
    trigger: {
      summary: "post a well-formed, signed sample webhook to an endpoint on this machine",
      load: () => import("./commands/trigger/command.ts").then(({ trigger }) => trigger),
    },
    check: {
      summary: "test your own webhook endpoint: what it must accept, and what it must refuse",
      load: () => import("./commands/check/command.ts").then(({ check }) => check),
    },
  },
  "Sandbox:": {
    sandbox: {
      summary: "run the whole payment-link service on this machine",
      load: () => import("./commands/sandbox/command.ts").then(({ sandbox }) => sandbox),
    },
    pay: {
      summary: "simulate the customer: pay a link of the sandbox without a browser",
      load: () => import("./commands/pay.ts").then(({ pay }) => pay),
    },
    test: {
      summary: "run a command against a sandbox and a receiver of its own, then delete both",
      load: () => import("./commands/local/command.ts").then(({ test }) => test),
    },
    demo: {
      summary: "create, pay, receive and verify in a few seconds, without an account",
      load: () => import("./commands/local/command.ts").then(({ demo }) => demo),
    },
  },
  "Account:": {
    login: {
      summary: "check an account at a service, and store it in a profile",
      load: () => import("./commands/login/login.ts").then(({ login }) => login),
    },
    logout: {
      summary: "delete a profile's token and client secret; its defaults stay",
      load: () => import("./commands/logout.ts").then(({ logout }) => logout),
    },
    status: {
      summary: "check the account: token, service, webhook key, addresses and storage",
      load: () => import("./commands/status.ts").then(({ status }) => status),
    },
    profiles: {
      summary: "list, choose and remove profiles",
      load: () => import("./commands/profiles.ts").then(({ profiles }) => profiles),
    },
    config: {
      summary: "show and change the settings of a profile",
      load: () => import("./commands/config/config.ts").then(({ config }) => config),
    },
  },
  "Command line:": {
    help: {
      summary: "show the help of a command, or explain a topic, such as errors, settings or ci",
      load: () => import("./commands/help/help.ts").then(({ help }) => help),
    },
    version: {
      summary: "print the version",
      load: () => import("./commands/help/help.ts").then(({ version }) => version),
    },
    completion: {
      summary: "print the completion script of a shell",
      load: () => import("./commands/completion/command.ts").then(({ completion }) => completion),
    },
  },
};

export interface ProgramParts {
  readonly version: string;
  readonly execute: Execute;
  /** Prints help. */
  readonly print: (text: string) => void;
}

/** A fresh tree of commands. */
export function createProgram({ version: number, execute, print }: ProgramParts) {
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
    .option("-y, --yes", "answer yes where a command asks for a confirmation")
    .option("--debug", "show each HTTP exchange on stderr, without secrets");
  addHelp(program, {
    examples: [
      "paylink demo",
      "paylink sandbox",
      "paylink listen --forward-to localhost:3000/webhooks",
      "paylink create --amount 10 --currency EUR",
    ],
  });
  failAsUsage(program);
  const add = (command: CommandUnknownOpts, load: () => Promise<Command>): void =>
    declareLater(command, async () => {
      declare(command, await load(), execute);
      failAsUsage(command);
    });
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const [name, { summary, load }] of Object.entries(commands))
      add(program.command(name).description(summary), load);
  }
  add(program.command("complete", { hidden: true }), () =>
    import("./commands/completion/command.ts").then(({ complete }) => complete),
  );
  program.hook("preSubcommand", async (_program, command) => void (await declared(command)));
  program.hook("preAction", (_program, command) => refuseFlagsAsValues(command));
  program.on("beforeAllHelp", refuseHelp);
  return program;
}
