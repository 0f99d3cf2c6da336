/** What a command makes of a command line, without running it. */
import type { Context } from "../../src/context.ts";
import type { Command, Reads } from "../../src/commands/command.ts";
import { CommandNode } from "../../src/commands/command-tree.ts";

/** Throws the usage error of the command line. `context` is what the command needs of it. */
export async function optionsOf<Options>(
  declaration: Command & Reads<Options>,
  words: readonly string[],
  context: Partial<Omit<Context, "out">> & { readonly out?: Pick<Context["out"], "json"> } = {},
): Promise<Options> {
  const given = { out: { json: false }, env: {}, profile: undefined, now: () => new Date(), ...context };
  const read: Options[] = [];
  const command = new CommandNode("paylink", async (_, work) => void (await work(given as Context)));
  command.declare({
    ...declaration,
    run: async (all, values) => {
      read.push(await declaration.read(values, all));
      return 0;
    },
  });
  await command.parseAsync(words, { from: "user" });
  const [options] = read;
  if (options === undefined) throw new Error("the command did not run");
  return options;
}

/** Flags by their names in the declaration; `false` is the flag with `--no-`. */
export type Flags = Readonly<Record<string, string | boolean | readonly string[]>>;

/** The words of a command line with these flags. */
export const wordsOf = (flags: Flags): string[] =>
  Object.entries(flags).flatMap(([name, value]) => {
    const spelled = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (typeof value === "boolean") return value ? `--${spelled}` : `--no-${spelled}`;
    return [value].flat().map((text) => `--${spelled}=${text}`);
  });
