/** The flags of `paylink bulk`. */
import type { FlagsOf, NewCommand } from "../declare.ts";
import { requestFlags } from "../request-flags.ts";

export const bulkFlags = (command: NewCommand) =>
  requestFlags(command)
    .optionsGroup("The run:")
    .option(
      "-o, --output <file>",
      "write the results to this .csv or .jsonl file; - for stdout (default: beside the input)",
    )
    .option("--force", "overwrite a results file that paylink did not write")
    .option("--concurrency <n>", "requests at the same time", "8")
    .option("--rate <n/s>", "at most this many requests a second")
    .option("--timeout <duration>", "how long to wait for each answer", "30s")
    .option("--dry-run", "check every row and send nothing")
    .option("--skip-invalid", "send the valid rows even if others are invalid")
    .option("--new-rows", "send only the rows that were not sent before from another list")
    .option("--again", "send every row once more, which creates second links")
    .option("--retry-unknown", "send rows of unknown outcome again, which may create a second link");

export type BulkFlags = FlagsOf<typeof bulkFlags>;
