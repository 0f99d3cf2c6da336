/** `paylink status`: its flag and help, and what runs it. */
import { examples, type Declare } from "../declare.ts";

export const declareStatus: Declare = (command, execute) => {
  command.option("--timeout <duration>", "how long the checks may take", "30s").action((flags) =>
    execute(command, async (context) => {
      const { status, statusOptions } = await import("./status.ts");
      return status(context, statusOptions(flags));
    }),
  );
  examples(command, ["paylink status", "paylink status --profile sandbox --json"]);
};
