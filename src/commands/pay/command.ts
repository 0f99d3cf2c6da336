/** `paylink pay`: its arguments and help. */
import { examples, oneOf, type Register } from "../declare.ts";

export interface PayFlags {
  readonly outcome: string;
  readonly amount?: string;
  readonly reference?: string;
  readonly quiet?: boolean;
}

export const registerPay: Register = (program, start) => {
  const command = program
    .command("pay")
    .description("play the customer: pay a link of the sandbox without a browser")
    .argument("<link>", "the link's URL or id")
    .addOption(
      oneOf("--outcome <outcome>", "what becomes of it", ["approved", "declined", "cancelled"]).default(
        "approved",
      ),
    )
    .option("--amount <decimal>", "what the customer enters, where the link leaves it open")
    .option("--reference <text>", "the reference that the customer enters, where the link lets them")
    .option("-q, --quiet", "print the transaction's uti alone")
    .action(async (link: string, flags: PayFlags) => {
      const { pay } = await import("./pay.ts");
      await pay(await start(command), link, flags);
    });
  examples(command, [
    "paylink pay $(paylink create --amount 10 --currency EUR --quiet)",
    "paylink pay $(paylink create --reusable --quiet) --amount 25 --outcome declined",
  ]);
};
