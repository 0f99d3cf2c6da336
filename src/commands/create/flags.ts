/** The flags of `paylink create`. */
import { flag, group, toggle, toggleForPeople } from "../command.ts";
import { parseTimeout } from "../flag-values.ts";
import { requestFlags } from "../request-flags.ts";
import { quietFlag } from "../shared-flags.ts";

export const createFlags = {
  ...requestFlags,
  ...group("The request:", {
    dryRun: toggle("--dry-run", "print the request as JSON and send nothing"),
    curl: toggle("--curl", "print the request as a curl command that reads $PAYLINK_TOKEN, and send nothing"),
    timeout: flag(
      "--timeout <duration>",
      "how long the command may take (default: 30s for the service, 15m with --wait)",
      parseTimeout,
      { example: "60s" },
    ),
  }),
  ...group("The result:", {
    quiet: quietFlag("the URL"),
    qr: toggleForPeople("--qr", "show a QR code of the link"),
    open: toggle("--open", "open the link in the browser"),
    wait: toggle(
      "--wait",
      "ask the service until the link is paid (exit 0: paid, 9: cancelled or expired, 8: timed out)",
    ),
  }),
};
