/** `paylink status`: its flag and help, and what runs it. */
import { examples, type Register } from "../declare.ts";

export const registerStatus: Register = (program, execute) => {
  const command = program
    .command("status")
    .description("check the account: settings, token, service, webhook key, addresses and event store")
    .option("--timeout <duration>", "how long the checks may take", "30s")
    .action((flags) =>
      execute(command, async (context) => {
        const { status, statusOptions } = await import("./status.ts");
        return status(context, statusOptions(flags));
      }),
    );
  examples(command, ["paylink status", "paylink status --profile sandbox --json"]);
};
