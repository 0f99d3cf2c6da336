/** `paylink help`: its argument and help; the help of a command is that command's own. */
import { Argument, type Command } from "commander";
import { collect, examples, type Register } from "../declare.ts";
import { unknownCommand } from "../misuse.ts";

export const registerHelp: Register = (program, start) => {
  const command = program
    .command("help")
    .description("show the help of a command, or explain errors or environment variables")
    .addArgument(
      // A command may stand there too, with its subcommand.
      new Argument("[topic...]", "a command, or a topic")
        .choices(["errors", "environment"])
        .argParser(collect),
    )
    .action(async (words: readonly string[] = []) => {
      const [word] = words;
      if (word === "errors" || word === "environment") {
        const { showTopic } = await import("./topics.ts");
        return showTopic(await start(command), word);
      }
      commandNamed(words, program).outputHelp();
    });
  examples(command, ["paylink help create", "paylink help errors", "paylink help environment"]);
};

/** Throws `usage` where there is none. */
function commandNamed([word, ...rest]: readonly string[], group: Command): Command {
  if (word === undefined) return group;
  const found = group.commands.find((command) => command.name() === word);
  if (found === undefined) throw unknownCommand(word, group);
  return commandNamed(rest, found);
}
