/** `paylink transaction`: reads one record back from the service and shows it as `listen` does. */
import { PaylinkError } from "../domain/errors.ts";
import { accepted, refused } from "../values/parse-result.ts";
import { safeText } from "../render/safe-text.ts";
import { argument, command } from "./command.ts";
import { quietFlag, timeoutFlag } from "./shared-flags.ts";

export default command({
  examples: [
    "paylink transaction $(paylink events list --limit 1 --quiet)",
    "paylink transaction $(paylink events list --limit 1 --quiet) --json",
  ],
  arguments: {
    uti: argument(
      "<uti>",
      "the transaction's uti, as in its webhook",
      (typed) => (typed.trim() === "" ? refused("must not be empty") : accepted(typed)),
      { example: "$(paylink events list --limit 1 --quiet)" },
    ),
  },
  flags: {
    timeout: timeoutFlag("30s for each request", "Nothing was read."),
    quiet: quietFlag("the transaction's uti"),
  },
  consequence: "Nothing was read.",
  run: async (context, { uti, quiet }) => {
    const [{ checkAddress }, { readRecord, textOf }, { renderRecord }, { recordLine }] = await Promise.all([
      import("../service/advice.ts"),
      import("../domain/transaction.ts"),
      import("../render/transaction-record.ts"),
      import("../events/event-json.ts"),
    ]);
    const { out } = context;
    const api = await context.api();
    const bytes = await api.readTransaction(uti);
    const { record, violations } = readRecord(bytes);
    if (record === null)
      throw new PaylinkError("not_reached", "The service's answer is not a transaction record.", {
        hints: [checkAddress("transaction")],
        problems: violations.map(({ path, message }) => ({ at: path || "body", message })),
      });
    const answered = textOf(record, "uti");
    // UUIDs may be spelled in either case (RFC 9562 4).
    if (answered !== undefined && answered.toLowerCase() !== uti.trim().toLowerCase())
      throw new PaylinkError(
        "not_reached",
        `The service returned the transaction ${answered} instead of ${uti}.`,
        {
          hints: [checkAddress("transaction")],
          details: { uti, answered },
        },
      );
    out.result(
      () => recordLine({ record, violations }),
      () => (quiet ? safeText(textOf(record, "uti") ?? "") : renderRecord(record, violations, out)),
    );
    return 0;
  },
});
