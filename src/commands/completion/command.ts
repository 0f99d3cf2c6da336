/** `paylink completion`: its argument and help, and the hidden command that the shells call for suggestions. */
import { Argument } from "@commander-js/extra-typings";
import { examples, programOf, type Declare } from "../declare.ts";
import { oneWord } from "../usage-errors.ts";

const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export const declareCompletion: Declare = (command, execute) => {
  command
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS).argParser(oneWord("<shell>", SHELLS)))
    .action((shell) =>
      execute(command, async (context) => {
        const { printScript } = await import("./completion.ts");
        return printScript(shell, context);
      }),
    );
  examples(command, [
    "paylink completion bash >> ~/.bashrc",
    "mkdir -p ~/.config/fish/completions && paylink completion fish > ~/.config/fish/completions/paylink.fish",
  ]);
};

export const declareComplete: Declare = (command, execute) => {
  command
    .argument("[words...]", "what has been typed so far")
    .allowUnknownOption()
    .action((words) =>
      execute(command, async (context) => {
        const { suggest } = await import("./completion.ts");
        return suggest(programOf(command), words, context);
      }),
    );
};
