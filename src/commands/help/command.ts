/** `paylink help`: its argument and help; the help of a command is that command's own. */
import { Argument, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { collect, declared, examples, programOf, type Declare } from "../declare.ts";
import { unknownCommand } from "../usage-errors.ts";
import type { Topic } from "./topics.ts";

/** What `help` explains besides the commands. */
const TOPICS = [
  "errors",
  "reasons",
  "settings",
  "environment",
  "production",
] as const satisfies readonly Topic[];

export const declareHelp: Declare = (command, execute) => {
  command
    .addArgument(
      // A command may be named too, with its subcommand.
      new Argument("[topic...]", "a command, or a topic").choices(TOPICS).argParser(collect),
    )
    .action(async (words: readonly string[] = []) => {
      const topic = TOPICS.find((name) => name === words[0]);
      if (topic === undefined) return commandNamed(words, programOf(command)).outputHelp();
      await execute(command, async (context) => {
        const { showTopic } = await import("./topics.ts");
        return showTopic(context, topic);
      });
    });
  examples(command, ["paylink help create", "paylink help errors", "paylink help reasons"]);
};

/** Throws `usage` if there is no such command. */
function commandNamed([word, ...rest]: readonly string[], group: CommandUnknownOpts): CommandUnknownOpts {
  if (word === undefined) return group;
  const found = group.commands.find((command) => command.name() === word);
  if (found === undefined) throw unknownCommand(word, group);
  return commandNamed(rest, declared(found));
}
