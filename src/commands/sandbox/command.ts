/** `paylink sandbox` and its subcommands: their help, and what runs them. */
import { examples, type Declare } from "../declare.ts";
import { sandboxFlags } from "./flags.ts";

const DESCRIPTION = `
The sandbox describes its API in OpenAPI 3.1 at /openapi.json. The package
contains the description of the documented service as dist/openapi.json.`;

export const declareSandbox: Declare = (command, execute) => {
  sandboxFlags(command).action((flags) =>
    execute(command, async (context) => {
      const { sandboxOptions } = await import("./options.ts");
      const { sandbox } = await import("./sandbox.ts");
      return sandbox(context, sandboxOptions(flags, context.now()));
    }),
  );
  command.addHelpText("after", DESCRIPTION);
  examples(command, [
    "paylink sandbox",
    "paylink sandbox --port 0 --json",
    "paylink sandbox --clock 2026-01-31T12:00:00Z --seed 7",
    "paylink sandbox --deliver duplicate --retry 1s,1s",
    'paylink sandbox --cover "content-digest @method @target-uri" --no-created',
  ]);

  const advance = command
    .command("advance")
    .description("move the running sandbox's clock forward, with the retries and expiries that come due")
    .argument("<duration>", "how far, such as 30s, 2h or 7d")
    .action((duration) =>
      execute(advance, async (context) => {
        const { advanceClock, advanceOptions } = await import("./running-sandbox.ts");
        return advanceClock(context, advanceOptions(duration));
      }),
    );
  examples(advance, ["paylink sandbox advance 30s", "paylink sandbox advance 7d --json"]);

  const rotate = command
    .command("rotate-key")
    .description("sign with a new key from now on; the old one is served for another day")
    .action(() =>
      execute(rotate, async (context) => {
        const { rotateKey } = await import("./running-sandbox.ts");
        return rotateKey(context);
      }),
    );
  examples(rotate, ["paylink sandbox rotate-key", "paylink sandbox rotate-key --json"]);
};
