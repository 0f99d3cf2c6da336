/** `paylink version`: prints what `--version` prints, or JSON. */
import { command } from "./command.ts";

export default command({
  examples: ["paylink version", "paylink version --json"],
  run: async ({ out }, _, self) => {
    const number = self.program.version() ?? "";
    out.result({ version: number }, number);
    return 0;
  },
});
