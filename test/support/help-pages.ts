/** Every help page, found as a reader finds them: from the list of commands of the page before. */
import { runCommand } from "./context.ts";

export interface HelpPage {
  /** The words that name the command: none for `paylink` itself. */
  readonly command: readonly string[];
  readonly text: string;
  readonly examples: readonly string[];
}

export async function helpPages(command: readonly string[] = []): Promise<HelpPage[]> {
  const { exit, stdout, stderr } = await runCommand([...command, "--help"], { home: "" });
  if (exit !== 0) throw new Error(`paylink ${command.join(" ")} --help: ${stderr}`);
  const [, above = "", examples = ""] = /^([\s\S]*?)\nExamples:\n([\s\S]*)$/.exec(stdout) ?? [];
  // Other lists, as of the test cards of `pay`, have names too.
  const isGroup = /^Usage: .* \[command\]$/m.test(above);
  const lists = isGroup ? above.split("\n\n").filter((part) => !/^(?:Usage|Arguments)/.test(part)) : [];
  const names = lists.flatMap((part) => [...part.matchAll(/^ {2}([a-z][a-z-]*)(?: |$)/gm)]);
  const inner = await Promise.all(names.map(([, name = ""]) => helpPages([...command, name])));
  const page = {
    command,
    text: stdout,
    examples: examples
      .trim()
      .split(/\n? {2}(?=\S)/)
      .filter(Boolean),
  };
  return [page, ...inner.flat()];
}
