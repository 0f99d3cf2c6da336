/** `paylink transaction`: its argument, flags and help. */
import { examples, type Declare } from "../declare.ts";

export const declareTransaction: Declare = (command, execute) => {
  command
    .argument("<uti>", "the transaction's uti, as in its webhook")
    .option("--timeout <duration>", "how long to wait for the service", "30s")
    .action((uti, flags) =>
      execute(command, async (context) => {
        const { transaction, transactionOptions } = await import("./read-transaction.ts");
        return transaction(context, transactionOptions(uti, flags));
      }),
    );
  examples(command, [
    "paylink transaction $(paylink pay $(paylink create --amount 10 --currency EUR -q) -q)",
    "paylink transaction $(paylink pay $(paylink create --subscription -q) -q) --json",
  ]);
};
