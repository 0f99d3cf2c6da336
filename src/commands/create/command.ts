/** `paylink create`: its help, and what runs it. */
import { examples, type Declare } from "../declare.ts";
import { createFlags } from "./flags.ts";

export const declareCreate: Declare = (command, execute) => {
  createFlags(command).action((flags) =>
    execute(command, async (context) => {
      const { createOptions } = await import("./options.ts");
      const { create } = await import("./create.ts");
      return create(context, await createOptions(flags, context));
    }),
  );
  examples(command, [
    "paylink create --amount 10 --currency EUR",
    "paylink create --reusable --min-amount 5 --max-amount 500 --invoice-id DONATION",
    "paylink create --subscription --invoice-id SUB-1",
    "paylink create --amount 10 --currency EUR --wait --timeout 60s",
    "paylink create --amount 10 --currency EUR --dry-run",
  ]);
};
