/** `paylink status`: its flags and help. */
import { examples, type Register } from "../declare.ts";

export interface StatusFlags {
  readonly timeout?: string;
}

export const registerStatus: Register = (program, start) => {
  const command = program
    .command("status")
    .description("which account is in force, whether its token looks valid and whether the service answers")
    .option("--timeout <duration>", "how long to wait for the service (default: 30s)")
    .action(async (flags: StatusFlags) => {
      const { status } = await import("./status.ts");
      await status(await start(command), flags);
    });
  examples(command, ["paylink status", "paylink status --profile sandbox --json"]);
};
