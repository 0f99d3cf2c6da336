/** `paylink pay`: its argument and help, and what runs it. */
import { examples, type Declare } from "../declare.ts";
import { payFlags } from "./flags.ts";

export const declarePay: Declare = (command, execute) => {
  payFlags(command)
    .argument("<link>", "the link's URL or id")
    .action((link, flags) =>
      execute(command, async (context) => {
        const { payOptions } = await import("./options.ts");
        const { pay } = await import("./pay.ts");
        return pay(context, payOptions(link, flags));
      }),
    );
  examples(command, [
    "paylink pay $(paylink create --amount 10 --currency EUR --quiet)",
    "paylink pay $(paylink create --reusable --quiet) --amount 25 --outcome declined",
  ]);
};
