/** `paylink create`: its flags and help. */
import { requestFlags, type RequestFlags } from "../../requests/flags.ts";
import { examples, type Register } from "../declare.ts";

export interface CreateFlags extends RequestFlags {
  readonly dryRun?: boolean;
  readonly quiet?: boolean;
  readonly timeout: string;
}

export const registerCreate: Register = (program, start) => {
  const command = requestFlags(program.command("create").description("create a payment link"))
    .option("--dry-run", "print the request as JSON and send nothing")
    .option("--timeout <duration>", "how long to wait for the service", "30s")
    .optionsGroup("The answer:")
    .option("-q, --quiet", "print the URL alone")
    .action(async (flags: CreateFlags) => {
      const { create } = await import("./create.ts");
      await create(await start(command), flags);
    });
  examples(command, [
    "paylink create --amount 10 --currency EUR",
    "paylink create --reusable --min-amount 5 --max-amount 500 --invoice-id DONATION",
    "paylink create --subscription --invoice-id SUB-1",
    "paylink create --amount 10 --currency EUR --dry-run",
  ]);
};
