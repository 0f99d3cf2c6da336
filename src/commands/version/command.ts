/** `paylink version`: prints what `--version` prints, or JSON. */
import { examples, type Declare } from "../declare.ts";

export const declareVersion: Declare = (command, execute) => {
  command.action(() =>
    execute(command, async ({ out }) => {
      const version = command.parent?.version() ?? "";
      out.data(out.json ? JSON.stringify({ version }) : version);
      return 0;
    }),
  );
  examples(command, ["paylink version", "paylink version --json"]);
};
