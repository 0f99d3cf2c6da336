/** `paylink completion`: its argument and help, and the hidden command that the shells call for suggestions. */
import { Argument } from "@commander-js/extra-typings";
import { examples, type Register } from "../declare.ts";

export const registerCompletion: Register = (program, execute) => {
  const command = program
    .command("completion")
    .description("print the script that completes commands, flags and values in a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish", "powershell"]))
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

  const complete = program
    .command("complete", { hidden: true })
    .argument("[words...]", "what has been typed so far")
    .allowUnknownOption()
    .action((words) =>
      execute(complete, async (context) => {
        const { suggest } = await import("./completion.ts");
        return suggest(program, words, context);
      }),
    );
};
