/** Shows the payments through one link: how many of each outcome, the sum of what was approved, and the newest. */
import { Sums } from "../domain/money.ts";
import { outcomeName, OUTCOMES } from "../domain/outcome.ts";
import { amountIn, outcomeOf, textOf, type TransactionRecord } from "../domain/transaction.ts";
import { renderSums } from "./bulk.ts";
import { localTime } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { renderOutcomeLine } from "./transaction-record.ts";

/** Payments in full; the counts have the others too. */
const PAYMENTS_SHOWN = 10;

/** `records` are the newest first. */
export function renderPayments(
  records: readonly TransactionRecord[],
  { paint, width }: { readonly paint: Paint; readonly width: number },
): string {
  if (records.length === 0) return "  No payments yet.";
  const sums = new Sums();
  const counts = OUTCOMES.flatMap((outcome) => {
    const found = records.filter((record) => outcomeOf(record) === outcome);
    if (outcome === "APPROVED")
      for (const record of found)
        sums.add(amountIn(record, "amountTrans") ?? "0", textOf(record, "transCurrencyCode") ?? "");
    return found.length === 0 ? [] : [`${found.length} ${outcomeName(outcome)}`];
  });
  const total = sums.list();
  const lines = records.slice(0, PAYMENTS_SHOWN).map((record) => {
    const time = safeText(localTime(textOf(record, "transDateTime") ?? ""));
    return `    ${time}  ${renderOutcomeLine(record, { paint, width: width - time.length - 6 })}`;
  });
  const more = records.length - lines.length;
  return [
    `  ${paint.dim("payments")}  ${counts.join(", ")}${total.length === 0 ? "" : `: ${renderSums(total)}`}`,
    ...lines,
    ...(more > 0 ? [`    and ${more} more`] : []),
  ].join("\n");
}
