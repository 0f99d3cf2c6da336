/** The flags of `paylink create`. */
import { group, toggle, toggleForPeople } from "../command.ts";
import { requestFlags } from "../request-flags.ts";
import { quietFlag, timeoutFlag } from "../shared-flags.ts";

export const createFlags = {
  ...requestFlags,
  ...group("The request:", {
    dryRun: toggle("--dry-run", "print the request as JSON and send nothing"),
    curl: toggle("--curl", "print the request as a curl command that reads $PAYLINK_TOKEN, and send nothing"),
    timeout: timeoutFlag("30s for the service, 15m with --wait", "No link was created."),
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
