/** `paylink help`, where the help of a command is that command's own. */
import { argument, command, text } from "../command.ts";
import type { CommandNode } from "../command-tree.ts";
import { unknownCommand } from "../usage-errors.ts";
import { showReference } from "./program-reference.ts";
import { FILE_NAMES, showTopic, TOPIC_NAMES } from "./topics.ts";

export default command({
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
    const described = await commandNamed(words, self.program);
    if (context.out.json) return showReference(context, described);
    described.outputHelp();
    return 0;
  },
});

/** Throws `usage` if there is no such command. */
async function commandNamed([word, ...rest]: readonly string[], group: CommandNode): Promise<CommandNode> {
  if (word === undefined) return group;
  const found = group.commands.find((known) => known.name() === word);
  if (found === undefined) throw unknownCommand(word, group, group.parent === null ? TOPIC_NAMES : []);
  return commandNamed(rest, await found.declared());
}
