/** `paylink create`: its help, the rules between its flags, and what runs it. */
import { group, toggle, toggleForPeople, command, excludes } from "../command.ts";
import { requestFlags, reusableNeeded } from "../request-flags.ts";
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

const OUTPUT_FLAGS = ["wait", "open", "quiet", "qr"] as const;

export default command({
  examples: [
    "paylink create --amount 10 --currency EUR",
    "paylink create --reusable --min-amount 5 --max-amount 500 --invoice-id DONATION",
    "paylink create --subscription --invoice-id SUB-1",
    "paylink create --amount 10 --currency EUR --wait --timeout 60s",
    "paylink create --amount 10 --currency EUR --dry-run",
  ],
  flags: createFlags,
  rules: [reusableNeeded, excludes(["dryRun"], ["curl", ...OUTPUT_FLAGS]), excludes(["curl"], OUTPUT_FLAGS)],
  consequence: "Nothing was sent.",
  prepare: async (read, usage, context) => (await import("./create.ts")).createOptions(read, usage, context),
  run: async (context, options) => (await import("./create.ts")).create(context, options),
});
