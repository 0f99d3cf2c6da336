/** `paylink create`: its flags and help. */
import { requestFlags, type RequestFlags } from "../../requests/flags.ts";
import { examples, type Register } from "../declare.ts";

export interface CreateFlags extends RequestFlags {
  readonly dryRun?: boolean;
  readonly curl?: boolean;
  readonly timeout?: string;
  readonly wait?: boolean;
  readonly qr?: boolean;
  readonly open?: boolean;
  readonly copy?: boolean;
  readonly quiet?: boolean;
}

export const registerCreate: Register = (program, start) => {
  const command = requestFlags(program.command("create").description("create a payment link"))
    .option("--dry-run", "print the request as JSON and send nothing")
    .option("--curl", "print the request as a curl command that reads $PAYLINK_TOKEN, and send nothing")
    .option(
      "--timeout <duration>",
      "how long to wait for the service (default: 30s), and with --wait for the payment",
    )
    .optionsGroup("The answer:")
    .option("-q, --quiet", "print the URL alone")
    .option("--qr", "show a QR code of the link")
    .option("--no-qr", "show none")
    .option("--open", "open the link in the browser")
    .option("--copy", "copy the link")
    .option("--wait", "receive webhooks and wait for the link's payment (exit 0 accepted, 9 not, 8 too late)")
    .action(async (flags: CreateFlags) => {
      const { create } = await import("./create.ts");
      await create(await start(command), flags);
    });
  examples(command, [
    "paylink create --amount 10 --currency EUR",
    "paylink create --reusable --min-amount 5 --max-amount 500 --invoice-id DONATION",
    "paylink create --subscription --invoice-id SUB-1",
    "paylink create --amount 10 --currency EUR --wait --timeout 60s",
    "paylink create --amount 10 --currency EUR --dry-run",
  ]);
};
