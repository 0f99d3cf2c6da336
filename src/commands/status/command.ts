/** `paylink status`: its flag and help, and what runs it. */
import { examples, type Register } from "../declare.ts";

export const registerStatus: Register = (program, execute) => {
  const command = program
    .command("status")
    .description("which account is in force, whether its token looks valid and whether the service answers")
    .option("--timeout <duration>", "how long to wait for the service", "30s")
    .action((flags) =>
      execute(command, async (context) => {
        const { status, statusOptions } = await import("./status.ts");
        return status(context, statusOptions(flags));
      }),
    );
  examples(command, ["paylink status", "paylink status --profile sandbox --json"]);
};
