/** The flags of `paylink create`. */
import { flag, group, pair, toggle } from "../command.ts";
import { parseTimeout } from "../flag-values.ts";
import { requestFlags } from "../request-flags.ts";
import { quietFlag, requireCreatedFlag } from "../shared-flags.ts";

export const createFlags = {
  ...requestFlags,
  ...group("The request:", {
    dryRun: toggle("--dry-run", "print the request as JSON and send nothing"),
    curl: toggle("--curl", "print the request as a curl command that reads $PAYLINK_TOKEN, and send nothing"),
    timeout: flag(
      "--timeout <duration>",
      "how long to wait for the service (default: 30s), and with --wait for the payment",
      parseTimeout,
      { example: "60s" },
    ),
  }),
  ...group("The result:", {
    quiet: quietFlag("the URL"),
    qr: pair(["--qr", "show a QR code of the link"], ["--no-qr", "show no QR code"], { isForPeople: true }),
    open: toggle("--open", "open the link in the browser"),
    copy: toggle("--copy", "copy the link to the clipboard"),
    wait: toggle(
      "--wait",
      "receive webhooks and wait for the link's payment (exit 0: approved, 9: declined or cancelled, 8: timed out)",
    ),
    requireCreated: requireCreatedFlag("with --wait, "),
  }),
};
