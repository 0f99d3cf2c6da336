/** `paylink transaction`: its argument and help. */
import { examples, type Register } from "../declare.ts";

export interface TransactionFlags {
  readonly timeout?: string;
}

export const registerTransaction: Register = (program, start) => {
  const command = program
    .command("transaction")
    .description("read a transaction back from the service, with its custom data")
    .argument("<uti>", "the transaction's uti, as its webhook names it")
    .option("--timeout <duration>", "how long to wait for the service (default: 30s)")
    .action(async (uti: string, flags: TransactionFlags) => {
      const { transaction } = await import("./transaction.ts");
      await transaction(await start(command), uti, flags);
    });
  examples(command, [
    "paylink transaction $(paylink pay $(paylink create --amount 10 --currency EUR -q) -q)",
    "paylink transaction $(paylink pay $(paylink create --subscription -q) -q) --json",
  ]);
};
