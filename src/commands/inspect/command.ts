/** `paylink inspect`: its help, and what runs it. */
import { flag, toggle, command } from "../command.ts";
import { parseForwardTarget, parsePort } from "../flag-values.ts";
import { eventStoreFlag, forwardingKeyFlag, ownKeyFlag, plainHostFlag } from "../shared-flags.ts";

export const inspectFlags = {
  db: eventStoreFlag,
  port: flag("--port <number>", "the port to serve on; 0 picks a free one", parsePort, { default: "4020" }),
  forwardTo: flag(
    "-f, --forward-to <target>",
    "the target that the page sends events to, unless you name another one there: 3000, 3000/hook, a URL or a broker",
    parseForwardTarget,
    { example: "3000" },
  ),
  signWith: forwardingKeyFlag,
  key: ownKeyFlag,
  plainHost: plainHostFlag,
  open: toggle("--no-open", "do not open the browser"),
};

export default command({
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
