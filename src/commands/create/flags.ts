/** The flags of `paylink create`. */
import type { FlagsOf, NewCommand } from "../declare.ts";
import { requestFlags } from "../request-flags.ts";

export const createFlags = (command: NewCommand) =>
  requestFlags(command)
    .option("--dry-run", "print the request as JSON and send nothing")
    .option("--curl", "print the request as a curl command that reads $PAYLINK_TOKEN, and send nothing")
    .option(
      "--timeout <duration>",
      "how long to wait for the service (default: 30s), and with --wait for the payment",
    )
    .optionsGroup("The result:")
    .option("-q, --quiet", "print the URL alone")
    .option("--qr", "show a QR code of the link")
    .option("--no-qr", "show no QR code")
    .option("--open", "open the link in the browser")
    .option("--copy", "copy the link to the clipboard")
    .option(
      "--wait",
      "receive webhooks and wait for the link's payment (exit 0: approved, 9: declined or cancelled, 8: timed out)",
    )
    .option("--require-created", "with --wait, refuse signatures without a creation time")
    .option(
      "--no-require-created",
      "with --wait, accept signatures without a creation time, even if the profile requires one",
    );

export type CreateFlags = FlagsOf<typeof createFlags>;
