/** `paylink inspect`: its help, and what runs it. */
import { command } from "../command.ts";
import { inspectFlags } from "./flags.ts";

export const inspect = command({
  examples: [
    "paylink inspect",
    "paylink inspect --port 8000 --no-open",
    "paylink inspect --port 0 --json",
    "paylink inspect --forward-to 3000 --sign-with forward.pem",
  ],
  flags: inspectFlags,
  consequence: "Nothing was shown.",
  check: ({ ifRead }, { problems }) => {
    ifRead(["signWith", "forwardTo"], ({ signWith, forwardTo }) => {
      if (signWith !== undefined && forwardTo === undefined)
        problems.push({ at: "--sign-with", message: "needs --forward-to: it signs what is sent from here" });
    });
  },
  run: async (context, values) => (await import("./inspect.ts")).inspect(context, values),
});
