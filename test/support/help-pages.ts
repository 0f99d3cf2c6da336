/** Every help page of the real binary, found as a reader finds them: from the list of commands of the page before. */
import { runPaylink } from "./paylink.ts";

export interface HelpPage {
  /** The words that name the command: none for `paylink` itself. */
  readonly command: readonly string[];
  readonly text: string;
  readonly examples: readonly string[];
}

export async function helpPages(command: readonly string[] = []): Promise<HelpPage[]> {
  const { code, stdout, stderr } = await runPaylink([...command, "--help"], { home: "" });
  if (code !== 0) throw new Error(`paylink ${command.join(" ")} --help: ${stderr}`);
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
