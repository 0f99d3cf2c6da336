/** `paylink bulk`: its flags and help. */
import { requestFlags, type RequestFlags } from "../../requests/flags.ts";
import { examples, type Register } from "../declare.ts";

export interface BulkFlags extends RequestFlags {
  readonly output?: string;
  readonly concurrency: string;
  readonly rate?: string;
  readonly timeout: string;
  readonly dryRun?: boolean;
  readonly skipInvalid?: boolean;
  readonly retryUnknown?: boolean;
}

export const registerBulk: Register = (program, start) => {
  const bulk = program
    .command("bulk")
    .description("create one payment link a row of a spreadsheet, each exactly once")
    .argument("<file>", "CSV with the request's fields as headers, or JSON lines; - for stdin");
  const command = requestFlags(bulk)
    .optionsGroup("The run:")
    .option(
      "-o, --output <file>",
      "where the results go, by ending .csv or .jsonl (default: beside the input)",
    )
    .option("--concurrency <n>", "requests at the same time", "8")
    .option("--rate <n/s>", "at most so many requests a second")
    .option("--timeout <duration>", "how long to wait for each answer", "30s")
    .option("--dry-run", "check every row and send nothing")
    .option("--skip-invalid", "send the good rows though others are bad")
    .option("--retry-unknown", "send rows of unknown outcome again: a link may come to exist twice")
    .action(async (file: string, flags: BulkFlags) => {
      const { bulk: run } = await import("./bulk.ts");
      await run(await start(command), file, flags);
    });
  command.addHelpText("after", HEADERS);
  examples(command, [
    `printf 'amount,customerName\\n10,Ada\\n20,Bob\\n' | paylink bulk - --currency EUR`,
    `printf 'amount\\n10\\n20\\n' > orders.csv && paylink bulk orders.csv --rate 20`,
    `echo '{"amount": 10, "customerName": "Ada"}' | paylink bulk - --dry-run`,
  ]);
};

const HEADERS = `
Headers are field names, in any case: amount, currency, customerName, invoiceId, expirationDate, …;
nested ones with dots: linkOptions.mode, paymentSettings.callbackUrl, customerDetails.email.
Every flag above is the default of rows that leave its field empty. Columns of your own are kept, not sent.`;
