/** The hidden command that the completion scripts of the shells call for suggestions. */
import { argument, command, verbatim } from "../command.ts";

export default command({
  examples: ["paylink complete -- li", "paylink complete -- links ''"],
  takesAnyFlag: true,
  arguments: { words: argument("[words...]", "what has been typed so far", verbatim, { mayBeEmpty: true }) },
  run: async (context, { words }, self) =>
    (await import("./completion.ts")).suggest(self.program, words, context),
});
