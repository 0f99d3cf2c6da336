/** `paylink sandbox` and its subcommands: their flags and help. */
import { SANDBOX_PORT } from "../../domain/local-addresses.ts";
import { examples, oneOf, type Register } from "../declare.ts";

export interface SandboxFlags {
  readonly port: string;
  readonly host: string;
  readonly db?: string;
  readonly reset?: boolean;
  readonly seed?: string;
  readonly retry?: string;
  readonly clock?: string;
  readonly deliver?: string;
  readonly allowRemote?: boolean;
}

export const registerSandbox: Register = (program, start) => {
  const command = program
    .command("sandbox")
    .description("run the whole payment-link service on this machine")
    .optionsGroup("Where:")
    .option("--port <number>", "the port to serve on; 0 takes a free one", String(SANDBOX_PORT))
    .option("--host <address>", "the address to bind", "127.0.0.1")
    .option("--allow-remote", "bind, answer to and post to other machines too")
    .optionsGroup("What is kept:")
    .option(
      "--db <path>",
      "where links, payments and deliveries are kept (default: in paylink's data folder)",
    )
    .option("--reset", "forget what was kept, and start empty")
    .optionsGroup("The rare cases:")
    .option("--seed <number>", "the same ids and suffixes every time, for snapshots")
    .option("--clock <time>", "a clock that stands still at this time, until `sandbox advance` moves it")
    .option("--retry <schedule>", "waits between attempts, or none (default: 5s,30s,2m,10m,1h)")
    .addOption(
      oneOf("--deliver <fault>", "what goes wrong with deliveries", [
        "duplicate",
        "late",
        "out-of-order",
        "drop-first",
      ]),
    )
    .action(async (flags: SandboxFlags) => {
      const { sandbox } = await import("./sandbox.ts");
      await sandbox(await start(command), flags);
    });
  examples(command, [
    "paylink sandbox",
    "paylink sandbox --port 0 --json",
    "paylink sandbox --clock 2026-01-31T12:00:00Z --seed 7",
    "paylink sandbox --deliver duplicate --retry 1s,1s",
  ]);
  const advance = command
    .command("advance")
    .description("move the running sandbox's clock: retries and expiries come due on the way")
    .argument("<duration>", "how far, such as 30s, 2h or 7d")
    .action(async (duration: string) => {
      const { advanceClock } = await import("./control.ts");
      await advanceClock(await start(advance), duration);
    });
  examples(advance, ["paylink sandbox advance 30s", "paylink sandbox advance 7d --json"]);
  const rotate = command
    .command("rotate-key")
    .description("sign with a new key from now on; the one before is still served for a day")
    .action(async () => {
      const { rotateKey } = await import("./control.ts");
      await rotateKey(await start(rotate));
    });
  examples(rotate, ["paylink sandbox rotate-key", "paylink sandbox rotate-key --json"]);
};
