/** `paylink transaction`: reads one record back from the service and shows it as `listen` does. */
import { PaylinkError } from "../domain/errors.ts";
import { accepted, refused } from "../domain/parse-result.ts";
import { argument, command, flag } from "./command.ts";
import { parseTimeout } from "./flag-values.ts";

export const transaction = command({
  summary: "read a transaction back from the service, with its custom data",
  examples: [
    "paylink transaction $(paylink pay $(paylink create --amount 10 --currency EUR -q) -q)",
    "paylink transaction $(paylink pay $(paylink create --subscription -q) -q) --json",
  ],
  arguments: {
    uti: argument(
      "<uti>",
      "the transaction's uti, as in its webhook",
      (typed) => (typed.trim() === "" ? refused("must not be empty") : accepted(typed)),
      { example: "$(paylink pay $(paylink create --amount 10 --currency EUR -q) -q)" },
    ),
  },
  flags: {
    timeout: flag("--timeout <duration>", "how long to wait for the service", parseTimeout, {
      default: "30s",
    }),
  },
  consequence: "Nothing was read.",
  run: async (context, { uti, timeout }) => {
    const [{ checkAddress }, { memberOf }, { readRecord }, { renderRecord }, { recordLine }] =
      await Promise.all([
        import("../service/failures.ts"),
        import("../domain/json.ts"),
        import("../domain/transaction.ts"),
        import("../render/transaction-record.ts"),
        import("../receiver/events.ts"),
      ]);
    const { out } = context;
    const api = await context.api({ timeout });
    const bytes = await api.readTransaction(uti);
    const { record, violations } = readRecord(bytes);
    if (record === null)
      throw new PaylinkError("not_reached", "The service's answer is not a transaction record.", {
        hints: [checkAddress("transactionUrl", "recordAt")],
        problems: violations.map(({ path, message }) => ({ at: path || "body", message })),
      });
    const isOther = memberOf(record, "uti") !== uti;
    const other = { code: "body_schema", path: "uti", message: "is not the uti that was asked for" } as const;
    const read = { record, violations: isOther ? [...violations, other] : violations };
    out.data(out.json ? recordLine(read) : renderRecord(record, read.violations, out));
    return 0;
  },
});
