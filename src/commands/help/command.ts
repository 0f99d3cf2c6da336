/** `paylink help`: its argument and help; the help of a command is that command's own. */
import { Argument, type Command } from "@commander-js/extra-typings";
import { collect, examples, type Register } from "../declare.ts";
import { unknownCommand } from "../misuse.ts";

/** Beside the commands: what ends a run, why a webhook is refused, and what is read of the environment. */
const TOPICS = ["errors", "reasons", "environment"] as const;
export type Topic = (typeof TOPICS)[number];

export const registerHelp: Register = (program, start) => {
  const command = program
    .command("help")
    .description("show the help of a command, or explain errors, reasons or environment variables")
    .addArgument(
      // A command may stand there too, with its subcommand.
      new Argument("[topic...]", "a command, or a topic").choices(TOPICS).argParser(collect),
    )
    .action(async (words: readonly string[] = []) => {
      const [word] = words;
      const topic = TOPICS.find((name) => name === word);
      if (topic !== undefined) {
        const { showTopic } = await import("./topics.ts");
        return showTopic(await start(command), topic);
      }
      commandNamed(words, program).outputHelp();
    });
  examples(command, ["paylink help create", "paylink help errors", "paylink help reasons"]);
};

/** Throws `usage` where there is none. */
function commandNamed([word, ...rest]: readonly string[], group: Command): Command {
  if (word === undefined) return group;
  const found = group.commands.find((command) => command.name() === word);
  if (found === undefined) throw unknownCommand(word, group);
  return commandNamed(rest, found);
}
