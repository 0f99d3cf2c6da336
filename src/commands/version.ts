/** `paylink version`: prints what `--version` prints, or JSON. */
import { command } from "./command.ts";
import { programOf } from "./declare.ts";

export const version = command({
  summary: "print the version",
  examples: ["paylink version", "paylink version --json"],
  run: async ({ out }, _, self) => {
    const number = programOf(self).version() ?? "";
    out.data(out.json ? JSON.stringify({ version: number }) : number);
    return 0;
  },
});
