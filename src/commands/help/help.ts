/** `paylink help`, where the help of a command is that command's own, and `paylink version`. */
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { argument, command, text } from "../command.ts";
import { declared, programOf } from "../declare.ts";
import { unknownCommand } from "../usage-errors.ts";
import { showReference } from "./program-reference.ts";
import { FILE_NAMES, showTopic, TOPIC_NAMES } from "./topics.ts";

export const help = command({
  examples: [
    "paylink help create",
    "paylink help errors",
    "paylink help webhooks python > receiver.py",
    "paylink help production alerts",
    "paylink help --json",
  ],
  arguments: {
    topic: argument("[topic]", "a command, or a topic", text, { choices: TOPIC_NAMES }),
    part: argument("[part]", "a subcommand, or a file of the topic", text, { choices: FILE_NAMES }),
  },
  run: async (context, { topic: word, part }, self) => {
    const topic = TOPIC_NAMES.find((name) => name === word);
    if (topic !== undefined) return showTopic(context, topic, part);
    const words = [word, part].filter((one) => one !== undefined);
    const described = await commandNamed(words, programOf(self));
    if (context.out.json) return showReference(context, described);
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
  if (found === undefined) throw unknownCommand(word, group, group.parent === null ? TOPIC_NAMES : []);
  return commandNamed(rest, await declared(found));
}

/** Prints what `--version` prints, or JSON. */
export const version = command({
  examples: ["paylink version", "paylink version --json"],
  run: async ({ out }, _, self) => {
    const number = programOf(self).version() ?? "";
    out.result({ version: number }, number);
    return 0;
  },
});
