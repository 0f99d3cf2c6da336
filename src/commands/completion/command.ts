/** `paylink completion`: its argument and help, and what runs it. */
import { argument, command, oneOf } from "../command.ts";

export default command({
  examples: [
    "mkdir -p ~/.local/share/bash-completion/completions && paylink completion bash > ~/.local/share/bash-completion/completions/paylink",
    "mkdir -p ~/.config/fish/completions && paylink completion fish > ~/.config/fish/completions/paylink.fish",
  ],
  notes: `bash and fish read the files of the examples below by themselves; bash needs the package bash-completion for that.
For zsh, put fpath+=(~/.zfunc) before compinit in ~/.zshrc, and then:
  mkdir -p ~/.zfunc && paylink completion zsh > ~/.zfunc/_paylink
For PowerShell, add to the file that $PROFILE names:
  paylink completion powershell | Out-String | Invoke-Expression`,
  arguments: { shell: argument("<shell>", "the shell", oneOf(["bash", "zsh", "fish", "powershell"])) },
  run: async (context, { shell }) => (await import("./completion.ts")).printScript(shell, context),
});
