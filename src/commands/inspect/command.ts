/** `paylink inspect`: its help, and what runs it. */
import { command } from "../command.ts";
import { inspectFlags } from "./flags.ts";

export const inspect = command({
  summary: "show received webhooks in a browser: why each was accepted or refused, and what became of it",
  examples: [
    "paylink inspect",
    "paylink inspect --db events.db --no-open",
    "paylink inspect --port 0 --json",
    "paylink inspect --forward-to 3000 --sign-with forward.pem",
  ],
  flags: inspectFlags,
  consequence: "Nothing was shown.",
  check: ({ signWith, forwardTo }, { problems }) => {
    if (signWith !== undefined && forwardTo === undefined)
      problems.push({ at: "--sign-with", message: "needs --forward-to: it signs what is sent from here" });
  },
  run: async (context, values) => (await import("./inspect.ts")).inspect(context, values),
});
