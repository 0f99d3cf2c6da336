/** `paylink help`, where the help of a command is that command's own, and `paylink version`. */
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { argument, command, text } from "../command.ts";
import { declared, programOf } from "../declare.ts";
import { unknownCommand } from "../usage-errors.ts";
import type { Topic, TopicFile } from "./topics.ts";

/** What `help` explains besides the commands. */
const TOPICS = [
  "errors",
  "reasons",
  "settings",
  "environment",
  "webhooks",
  "production",
  "ci",
  "files",
] as const satisfies readonly Topic[];

/** What `help` prints of a topic by itself. */
const FILES = [
  "systemd",
  "container",
  "kubernetes",
  "alerts",
  "dashboard",
  "orders",
  "node",
  "express",
  "fastify",
  "hono",
  "koa",
  "nest",
  "next",
  "react-router",
  "workers",
  "lambda",
  "php",
  "python",
  "go",
  "ruby",
  "java",
  "man",
  "skill",
  "openapi",
  "changelog",
  "notices",
  "sbom",
] as const satisfies readonly TopicFile[];

export const help = command({
  examples: [
    "paylink help create",
    "paylink help errors",
    "paylink help webhooks python > receiver.py",
    "paylink help production alerts",
    "paylink help --json",
  ],
  arguments: {
    topic: argument("[topic]", "a command, or a topic", text, { choices: TOPICS }),
    part: argument("[part]", "a subcommand, or a file of the topic", text, { choices: FILES }),
  },
  run: async (context, { topic: word, part }, self) => {
    const topic = TOPICS.find((name) => name === word);
    if (topic !== undefined) return (await import("./topics.ts")).showTopic(context, topic, part);
    const words = [word, part].filter((one) => one !== undefined);
    const described = await commandNamed(words, programOf(self));
    if (context.out.json) return (await import("./program-reference.ts")).showReference(context, described);
    described.outputHelp();
    return 0;
  },
});

/** Throws `usage` if there is no such command. */
async function commandNamed(
  [word, ...rest]: readonly string[],
  group: CommandUnknownOpts,
): Promise<CommandUnknownOpts> {
  if (word === undefined) return group;
  const found = group.commands.find((known) => known.name() === word);
  if (found === undefined) throw unknownCommand(word, group, group.parent === null ? TOPICS : []);
  return commandNamed(rest, await declared(found));
}

/** Prints what `--version` prints, or JSON. */
export const version = command({
  examples: ["paylink version", "paylink version --json"],
  run: async ({ out }, _, self) => {
    const number = programOf(self).version() ?? "";
    out.data(out.json ? JSON.stringify({ version: number }) : number);
    return 0;
  },
});
