/** `paylink listen`: its help, and what runs it. */
import { LISTENER_PORT, SANDBOX_URL } from "../../domain/addresses.ts";
import { type Declare, examples } from "../declare.ts";
import { listenFlags } from "./flags.ts";

export const declareListen: Declare = (command, execute) => {
  listenFlags(command).action((flags) =>
    execute(command, async (context) => {
      const { listenOptions } = await import("./options.ts");
      const { listen } = await import("./listen.ts");
      return listen(context, listenOptions(flags, await context.settings()));
    }),
  );
  examples(command, [
    `paylink listen --port ${LISTENER_PORT}`,
    "paylink listen --forward-to localhost:3000/webhooks",
    "paylink listen --expect approved:2 --expect declined:1 --timeout 30s --json",
    `paylink listen --key ${SANDBOX_URL}/.well-known/jwks.json --public-url https://shop.example/hook`,
  ]);
};
