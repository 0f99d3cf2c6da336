/** The flags of `paylink inspect`. */
import { flag, toggle } from "../command.ts";
import { parseForwardTarget, parsePort } from "../flag-values.ts";
import { eventStoreFlag, forwardingKeyFlag, ownKeyFlag, plainHostFlag } from "../shared-flags.ts";

export const inspectFlags = {
  db: eventStoreFlag,
  port: flag("--port <number>", "the port to serve on; 0 picks a free one", parsePort, { default: "4020" }),
  forwardTo: flag(
    "-f, --forward-to <target>",
    "the target that the page sends events to, unless you name another one there: 3000, 3000/hook or a URL",
    parseForwardTarget,
    { example: "3000" },
  ),
  signWith: forwardingKeyFlag,
  key: ownKeyFlag,
  plainHost: plainHostFlag,
  open: toggle("--no-open", "do not open the browser"),
};
